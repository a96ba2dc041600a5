"""Writing a run: a folder under a temporary name, renamed when the run is whole."""

import json
import math
import shlex
import shutil
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from io import FileIO
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .config import from_json, to_json
from .files import (
    check_name,
    open_aside,
    parse_json,
    read_arrays,
    read_text,
    write_json,
)
from .manifest import now, start_manifest
from .unfinished import (
    CONFIG,
    LOCK,
    MANIFEST,
    METRICS,
    PARTIAL,
    final_path,
    find_unfinished,
    hold,
    identity,
)

WORK = "work"
_PLAIN_KINDS = "biufcSU"  # what an .npy file holds without pickle and gives back equal


@dataclass(frozen=True)
class RunFolder:
    """A run being written.

    Attributes:
        path: Where it is written until the run ends, `.NAME.partial`.
        final: Its name once the run has ended without error.
    """

    path: Path
    final: Path
    _saved: set[str] = field(default_factory=set, repr=False, compare=False)

    @property
    def work(self) -> Path:
        """Where a run keeps what it needs to go on after an interruption.

        Checkpoints and matrices; removed when the run ends without error.
        """
        return self.path / WORK

    def has_arrays(self, name: str) -> bool:
        """Whether arrays of this name are there, perhaps from before an interruption.

        Args:
            name: The name.

        Returns:
            True if they are.
        """
        return (self.path / f"{name}.npz").is_file()

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """Read arrays back.

        Args:
            name: The name they were saved under.

        Returns:
            The arrays by name.
        """
        return read_arrays(self.path / f"{name}.npz")

    def save_arrays(self, name: str, /, **arrays: Any) -> None:
        """Write arrays to `NAME.npz`, without pickle, once.

        Those from before an interruption are replaced.

        Args:
            name: Name of the file: letters, digits, `_` and `-`.
            **arrays: The arrays by name, of numpy or JAX.

        Raises:
            ValueError: For an unusable name, or arrays that need pickle or would not
                load back as they were (object, bfloat16).
            FileExistsError: If the name was saved before.
        """
        check_name("arrays", name)
        if name in self._saved:
            raise FileExistsError(
                f"Arrays {name!r} were already saved in this run; use another name."
            )
        plain = {key: np.asarray(value) for key, value in arrays.items()}
        for key, array in plain.items():
            _check_plain(f"{name}.{key}", array)
        path = self.path / f"{name}.npz"
        with open_aside(path) as file, zipfile.ZipFile(file, "w") as archive:
            for key, array in plain.items():
                with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
        self._saved.add(name)

    def log(self, **values: Any) -> None:
        """Append one line to `metrics.jsonl`.

        Args:
            **values: Numbers, strings, booleans, None, or arrays and lists of them,
                of Python, numpy or JAX. JSON has no NaN or infinity: they are written
                as null and read back as None.
        """
        line = json.dumps(_metric(values), allow_nan=False, ensure_ascii=False)
        with (self.path / METRICS).open("a", encoding="utf-8") as file:
            file.write(line + "\n")


@contextmanager
def create(
    root: Path,
    experiment: str,
    config: Any,
    *,
    command: str | None = None,
    resume: bool = False,
) -> Iterator[RunFolder]:
    """Make a run folder, to be used in a `with` block.

    When the block ends, the folder gets its final name, made of the time (UTC), the
    experiment and a hash of the config. When the block raises, or is interrupted, the
    partial folder stays, and the exception carries a note that says where; if nothing
    was written to it, it is removed instead.

    Args:
        root: Folder that holds the runs; made if it is not there.
        experiment: Name of the experiment.
        config: Its config, a dataclass instance.
        command: The command line to record; the running program's by default.
        resume: Go on in the folder of the last unfinished run of this experiment with
            an equal config, if there is one that no other process is writing.

    Yields:
        The folder to write to.

    Raises:
        ValueError: If the name is unusable or the config would not load back equal.
    """
    check_name("experiment", experiment)
    if from_json(type(config), to_json(config), where="config") != config:
        raise ValueError(
            f"{config!r} cannot be saved: it would not load back equal. Give its "
            "fields types that differ as JSON."
        )
    command = command or shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    start = time.monotonic()
    label, content = identity(experiment, config)
    found = find_unfinished(root, experiment, config) if resume else None
    folder, lock = _open(root, label) if found is None else _reopen(*found)
    try:
        manifest = _manifest(folder.path, command)
        write_json(folder.path / CONFIG, content)
        write_json(folder.path / MANIFEST, manifest)
        yield folder
        _finish(folder, manifest, time.monotonic() - start)
    except BaseException as error:
        if {path.name for path in folder.path.glob("*")} <= {CONFIG, MANIFEST, LOCK}:
            shutil.rmtree(folder.path, ignore_errors=True)
        else:
            error.add_note(
                f"The unfinished run is kept in {folder.path}; the same command with "
                "--resume goes on from there."
            )
        raise
    finally:
        lock.close()


def _reopen(path: Path, lock: FileIO) -> tuple[RunFolder, FileIO]:
    return RunFolder(path, final_path(path)), lock


def _open(root: Path, label: str) -> tuple[RunFolder, FileIO]:
    folder = _reserve(root, label)
    lock = hold(folder.path)
    assert lock is not None, "nobody else knows this folder yet"
    return folder, lock


def _manifest(path: Path, command: str) -> dict[str, Any]:
    """That of a new run; a run that goes on keeps its own and notes the times."""
    manifest = start_manifest(command)
    if not (path / MANIFEST).is_file():
        return manifest
    before = parse_json(read_text(path / MANIFEST), where=str(path / MANIFEST))
    kept = {name: before[name] for name in ("command", "started") if name in before}
    resumed = [*before.get("resumed", []), manifest["started"]]
    earlier = before.get("earlier_seconds", 0) + _last_attempt(path, before)
    return {**manifest, **kept, "resumed": resumed, "earlier_seconds": earlier}


def _last_attempt(path: Path, manifest: dict[str, Any]) -> float:
    """Seconds from its start to the last file it wrote; nobody saw it end."""
    starts = [manifest.get("started"), *manifest.get("resumed", [])]
    if starts[-1] is None:
        return 0.0
    last = start = datetime.fromisoformat(starts[-1]).timestamp()
    for file in path.rglob("*"):
        with suppress(FileNotFoundError):  # workers may still be writing
            if file.is_file() and file.name != LOCK:
                last = max(last, file.stat().st_mtime)
    return round(last - start, 3)


def _finish(folder: RunFolder, manifest: dict[str, Any], seconds: float) -> None:
    manifest["ended"] = now().isoformat(timespec="seconds")
    manifest["wall_seconds"] = round(manifest.get("earlier_seconds", 0) + seconds, 3)
    write_json(folder.path / MANIFEST, manifest)
    shutil.rmtree(folder.work, ignore_errors=True)
    (folder.path / LOCK).unlink()
    folder.path.rename(folder.final)


def _reserve(root: Path, label: str) -> RunFolder:
    # Make a partial folder whose final name is free and stays free.
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(
            f"Cannot keep runs in {root}: {error.strerror}. Choose a folder that can "
            "be written to."
        ) from error
    stem = f"{now():%Y%m%d-%H%M%S}-{label}"
    suffix = 1
    while True:
        name = stem if suffix == 1 else f"{stem}-{suffix}"
        path = root / f".{name}{PARTIAL}"
        folder = RunFolder(path, final_path(path))
        suffix += 1
        try:
            folder.path.mkdir()
        except FileExistsError:
            continue
        if not folder.final.exists():
            return folder
        folder.path.rmdir()


def _check_plain(name: str, array: np.ndarray) -> None:
    if array.dtype.kind not in _PLAIN_KINDS or array.dtype.names is not None:
        raise ValueError(
            f"Array `{name}` has dtype {array.dtype}, which an .npz file cannot hold "
            "without pickle: convert it to numbers, booleans or strings first."
        )


def _metric(value: Any) -> Any:
    # What strict JSON can hold of a metric; non-finite numbers become None.
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        value = np.asarray(value).tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _metric(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_metric(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(
        f"A metric must be a number, string or array of them, got {value!r} of type "
        f"{type(value).__name__}."
    )
