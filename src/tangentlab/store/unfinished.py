"""Unfinished runs: found again, and written by one process at a time.

A process holds a lock on a file of the run folder for as long as it lives, so that the
folder of a killed one can be told from that of a living one.
"""

import json
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

from .._aside import remove_leftovers
from .config import config_hash, to_json
from .files import parse_json, read_text

CONFIG, MANIFEST, METRICS = "config.json", "manifest.json", "metrics.jsonl"
PARTIAL, LOCK = ".partial", ".lock"


def hold(path: Path) -> FileIO | None:
    """Take a run folder for this process.

    Args:
        path: The folder.

    Returns:
        A file that holds it until it is closed; None if another process has it.
    """
    file = FileIO(path / LOCK, "w")
    try:
        import fcntl  # not on Windows, where runs are not kept apart
    except ImportError:
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def identity(experiment: str, config: Any) -> tuple[str, dict[str, Any]]:
    """What tells runs of one experiment and config from all others.

    Args:
        experiment: Name of the experiment.
        config: Its config.

    Returns:
        Their part of a folder's name, and what their `config.json` says.
    """
    label = f"{experiment}-{config_hash(experiment, config)}"
    return label, {"experiment": experiment, "config": to_json(config)}


def find_unfinished(
    root: Path, experiment: str, config: Any
) -> tuple[Path, FileIO] | None:
    """The last unfinished run of an experiment with this config, made ready to go on.

    Args:
        root: Folder that holds the runs.
        experiment: Name of the experiment.
        config: Its config.

    Returns:
        The folder and the file that holds it; None if there is none that no other
        process is writing.
    """
    for path, lock in _free(root, experiment, config):
        remove_leftovers(path)
        (path / METRICS).unlink(missing_ok=True)  # logged again from the start
        return path, lock
    return None


def unfinished_path(root: Path, experiment: str, config: Any) -> Path | None:
    """Where the run is that `find_unfinished` would make ready; it is left alone.

    Args:
        root: Folder that holds the runs.
        experiment: Name of the experiment.
        config: Its config.

    Returns:
        Its folder; None if there is none.
    """
    for path, lock in _free(root, experiment, config):
        lock.close()
        return path
    return None


def _free(root: Path, experiment: str, config: Any) -> Iterator[tuple[Path, FileIO]]:
    """Unfinished runs, the last first, each held; those of others are passed over."""
    label, content = identity(experiment, config)
    found = root.glob(f".*-{label}*{PARTIAL}")
    for path in sorted(found, key=final_path, reverse=True):
        lock = hold(path) if _is_of(path, content) else None
        if lock is not None:
            yield path, lock


def final_path(path: Path) -> Path:
    """The name of a run once it is whole.

    Args:
        path: Its folder while it is written.

    Returns:
        The folder's name without the dot and the ending.
    """
    return path.with_name(path.name.removeprefix(".").removesuffix(PARTIAL))


def _is_of(path: Path, content: dict[str, Any]) -> bool:
    try:
        saved = parse_json(read_text(path / CONFIG), where=str(path / CONFIG))
    except (OSError, ValueError):  # killed before it was written
        return False
    return saved == json.loads(json.dumps(content))
