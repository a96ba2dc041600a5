"""Reading a finished run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._checks import check_known
from .config import from_json
from .files import parse_json, read_arrays, read_text
from .unfinished import CONFIG, MANIFEST, METRICS, PARTIAL


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        path: Its folder.
        experiment: Name of the experiment.
        config: The config it ran with, equal to the one that was saved.
        manifest: Versions, devices, git revision, times and the command.
    """

    path: Path
    experiment: str
    config: Any
    manifest: dict[str, Any]

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """Read `NAME.npz`.

        Args:
            name: The name they were saved under.

        Returns:
            The arrays by name.

        Raises:
            FileNotFoundError: If there is no such file; lists those there are.
        """
        path = self.path / f"{name}.npz"
        if not path.is_file():
            there = ", ".join(sorted(p.stem for p in self.path.glob("*.npz"))) or "none"
            raise FileNotFoundError(
                f"Run {self.path} has no arrays {name!r} ({path.name}). There are: "
                f"{there}."
            )
        return read_arrays(path)

    def metrics(self) -> list[dict[str, Any]]:
        """Read `metrics.jsonl`.

        Returns:
            One dict per line, at least one, in the order they were logged; None stands
            for NaN and infinity.

        Raises:
            FileNotFoundError: If there is no such file: the run logged nothing, or the
                file was lost.
            ValueError: If the file is empty or damaged; names the line.
        """
        path = self.path / METRICS
        if not path.is_file():
            raise FileNotFoundError(_lacks(self.path, METRICS))
        text = read_text(path)
        if not text.strip():
            raise ValueError(
                f"{path} is empty. The file was damaged: restore it, or run the "
                "experiment again."
            )
        lines = text.removesuffix("\n").split("\n")
        return [
            parse_json(line, where=str(path), first_line=number)
            for number, line in enumerate(lines, start=1)
        ]


def open_run(path: Path, configs: Mapping[str, type]) -> Run:
    """Open a finished run.

    Args:
        path: The run folder.
        configs: The config dataclass of each experiment, by name.

    Returns:
        The run, its config and manifest read; arrays and metrics on demand.

    Raises:
        FileNotFoundError: If there is no such folder.
        ValueError: If it is not a run folder, not finished, damaged, or of an unknown
            experiment.
    """
    if not path.is_dir():
        raise FileNotFoundError(
            f"There is no run folder {path}. `tangentlab run` prints the folder it "
            "writes."
        )
    if not (path / CONFIG).is_file():
        raise ValueError(
            f"{path} is not a run folder: it has no {CONFIG}. Pass the folder of one "
            "run, not the folder that holds the runs."
        )
    manifest = _read_object(path, MANIFEST)
    if path.name.endswith(PARTIAL) or manifest.get("ended") is None:
        command = str(manifest.get("command", "unknown")).removesuffix(" --resume")
        raise ValueError(
            f"{path} is an unfinished run: it failed, was interrupted, or is still "
            f"being written. To go on with it: {command} --resume"
        )
    if not isinstance(manifest.get("command"), str):
        raise ValueError(
            f"{path / MANIFEST} does not say by which `command` the run was made. The "
            "file was damaged or edited: restore it, or run the experiment again."
        )
    saved = _read_object(path, CONFIG)
    where = f"{path / CONFIG}"
    if set(saved) != {"experiment", "config"}:
        raise ValueError(
            f"{where} must have the keys 'experiment' and 'config', got {list(saved)}."
        )
    check_known("experiment", saved["experiment"], configs)
    hint = configs[saved["experiment"]]
    config = from_json(hint, saved["config"], where=f"{where}: config")
    return Run(path, saved["experiment"], config, manifest)


def _read_object(path: Path, name: str) -> dict[str, Any]:
    file = path / name
    if not file.is_file():
        raise FileNotFoundError(_lacks(path, name))
    return parse_json(read_text(file), where=str(file))


def _lacks(path: Path, name: str) -> str:
    return (
        f"Run {path} has no {name}: the folder is incomplete. Restore the file, or run "
        "the experiment again."
    )
