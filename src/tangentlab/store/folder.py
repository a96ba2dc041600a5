"""Writing a run: a folder under a temporary name, renamed when the run is whole."""

import json
import math
import shlex
import shutil
import sys
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .config import config_hash, from_json, to_json
from .files import check_name, open_aside, write_json
from .manifest import now, start_manifest

CONFIG, MANIFEST, METRICS = "config.json", "manifest.json", "metrics.jsonl"
PARTIAL = ".partial"

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

    def save_arrays(self, name: str, /, **arrays: Any) -> None:
        """Write arrays to `NAME.npz`, without pickle.

        Args:
            name: Name of the file: letters, digits, `_` and `-`.
            **arrays: The arrays by name, of numpy or JAX.

        Raises:
            ValueError: For an unusable name, or arrays that need pickle or would not
                load back as they were (object, bfloat16).
            FileExistsError: If the name was saved before.
        """
        check_name("arrays", name)
        path = self.path / f"{name}.npz"
        if path.exists():
            raise FileExistsError(
                f"Arrays {name!r} were already saved in this run; use another name."
            )
        plain = {key: np.asarray(value) for key, value in arrays.items()}
        for key, array in plain.items():
            _check_plain(f"{name}.{key}", array)
        with open_aside(path) as file, zipfile.ZipFile(file, "w") as archive:
            for key, array in plain.items():
                with archive.open(f"{key}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)

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
    root: Path, experiment: str, config: Any, *, command: str | None = None
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

    Yields:
        The folder to write to.

    Raises:
        ValueError: If the name is unusable or the config would not load back equal.
    """
    check_name("experiment", experiment)
    fields = to_json(config)
    if from_json(type(config), fields, where="config") != config:
        raise ValueError(
            f"{config!r} cannot be saved: it would not load back equal. Give its "
            "fields types that differ as JSON."
        )
    command = command or shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    manifest, start = start_manifest(command), time.monotonic()
    folder = _reserve(root, f"{experiment}-{config_hash(experiment, config)}")
    try:
        write_json(folder.path / CONFIG, {"experiment": experiment, "config": fields})
        write_json(folder.path / MANIFEST, manifest)
        yield folder
        manifest["ended"] = now().isoformat(timespec="seconds")
        manifest["wall_seconds"] = round(time.monotonic() - start, 3)
        write_json(folder.path / MANIFEST, manifest)
        folder.path.rename(folder.final)
    except BaseException as error:
        if {path.name for path in folder.path.glob("*")} <= {CONFIG, MANIFEST}:
            shutil.rmtree(folder.path, ignore_errors=True)
        else:
            error.add_note(f"The unfinished run is kept in {folder.path}")
        raise


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
        folder = RunFolder(path=root / f".{name}{PARTIAL}", final=root / name)
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
