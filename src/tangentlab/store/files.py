"""Files that are either whole or not there."""

import json
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

_NAME = re.compile(r"[A-Za-z0-9_-]+")


def check_name(what: str, name: str) -> None:
    """Raise unless the name can be part of a file name on every system.

    Args:
        what: What is named, for the message.
        name: The name received.

    Raises:
        ValueError: If it holds anything but letters, digits, `_` and `-`.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"The name of {what} becomes a file name: use letters, digits, '_' and "
            f"'-', got {name!r}."
        )


@contextmanager
def open_aside(path: Path) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path`, renamed to it when the block ends.

    No reader ever sees half a file; when the block raises, `path` is as before.

    Args:
        path: The file to create or replace.

    Yields:
        The binary file to write to.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with aside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write indented, strict JSON, aside and renamed.

    Args:
        path: The file to create or replace.
        value: What to write; NaN and infinity are refused by `json`.
    """
    text = json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False)
    with open_aside(path) as file:
        file.write((text + "\n").encode())


def parse_json(text: str, *, where: str, first_line: int = 1) -> dict[str, Any]:
    """Parse one JSON object, or say which line of which file is wrong.

    Args:
        text: The JSON.
        where: The file it came from.
        first_line: Line of that file on which the text begins.

    Returns:
        The object.

    Raises:
        ValueError: If it is not JSON, or not an object; names the file and the line.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise ValueError(
            f"{where}, line {line}: not valid JSON ({error.msg}). The file was damaged "
            "or edited: restore it, or run the experiment again."
        ) from error
    if not isinstance(value, dict):
        raise ValueError(
            f"{where}, line {first_line}: expected a JSON object, got {value!r}."
        )
    return value


def read_text(path: Path) -> str:
    """Read a text file of a run folder.

    Args:
        path: The file.

    Returns:
        Its text.

    Raises:
        ValueError: If it is not UTF-8; names the file.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: not a UTF-8 text file ({error.reason} at byte {error.start}). "
            "The file was damaged: restore it, or run the experiment again."
        ) from error


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Read an `.npz` file of a run folder.

    Args:
        path: The file.

    Returns:
        The arrays by name.

    Raises:
        ValueError: If the file is damaged or holds pickled objects.
    """
    try:
        with path.open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("a single array, not an .npz archive")
            return {key: archive[key] for key in archive.files}
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path} cannot be read ({error}). The file was damaged or not written "
            "by tangentlab: restore it, or run the experiment again."
        ) from error
