"""Features of panels, which the workers of a folder share through files in it.

Tiles of the same rows or columns need the same features, whoever computes them, and
reading features is faster than running the network. Whoever computes those of a panel
leaves them in the room `features` of the folder, if the client has opened it; others
take them from there. The client removes the room when it is done.

A file is a description in JSON, the arrays, and a checksum. Of a file that is damaged,
or of another panel or computation, nothing is taken. Nothing is lost without these
files: they are not flushed to the disk, nor missed where it is full; and their checksum
is one that finds damage fast.
"""

import contextlib
import json
import math
import secrets
import shutil
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ..host import Arrays

ROOM = "features"
_MOST = 2 * 10**9  # bytes of the features of all examples
_SHARE = 4  # that part of the disk that tiles leave free, at most
_ALIGNMENT = 64  # bytes, at which each array begins
_LENGTH = 8  # bytes that say how long the description is
_CHECKSUM = 4  # bytes of a CRC
_DTYPES = ("float32", "float64")


def is_worth_sharing(num_bytes: int, folder: Path, tile_bytes: int) -> bool:
    """Whether there is room for features.

    Args:
        num_bytes: Of the features of all examples; 0 if they cannot be shared.
        folder: The folder of tiles.
        tile_bytes: Bytes of tiles that are still to be written there.

    Returns:
        True if they take little of the disk.
    """
    free = shutil.disk_usage(folder).free - tile_bytes
    return 0 < num_bytes <= min(_MOST, free // _SHARE)


def open_room(folder: Path) -> None:
    """Let workers share features from now on.

    Args:
        folder: The folder of tiles.
    """
    with contextlib.suppress(OSError):  # which does not end the work
        (folder / ROOM).mkdir(exist_ok=True)


def remove_room(folder: Path) -> None:
    """Remove all features, and let nobody share them any more.

    Args:
        folder: The folder of tiles.
    """
    shutil.rmtree(folder / ROOM, ignore_errors=True)  # follows no link


class SharedFeatures:
    """Features of the panels of one Gram matrix, in files."""

    def __init__(self, folder: Path, seal: str):
        """Know where they are.

        Args:
            folder: The folder of tiles.
            seal: Hash that binds files to the manifest of the folder.
        """
        self._room = folder / ROOM
        self._seal = seal

    def get(
        self, side: int, panel: slice, make: Callable[[], list[Arrays]]
    ) -> list[Arrays]:
        """Features that somebody has left, or else new ones, which are left to others.

        Args:
            side: 0 for examples along the rows, 1 along the columns.
            panel: The examples.
            make: Computes their features.

        Returns:
            Arrays of each feature.
        """
        path = self._room / f"panel-{side}-{panel.start:09d}"
        found = self._read(path)
        if found is None:
            found = make()
            self._leave(path, found)
        return found

    @property
    def _is_open(self) -> bool:
        return self._room.is_dir() and not self._room.is_symlink()

    def _read(self, path: Path) -> list[Arrays] | None:
        if not self._is_open or path.is_symlink():
            return None
        try:
            if path.stat().st_size > _MOST:
                return None
            content = np.fromfile(path, np.uint8)  # a map may outlive the room
            data, checksum = content[:-_CHECKSUM], content[-_CHECKSUM:].tobytes()
            same = checksum == _checksum([data.data])
            return _unpacked(data, self._owner(path)) if same else None
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def _leave(self, path: Path, features: list[Arrays]) -> None:
        parts = _packed(features, self._owner(path))
        if not self._is_open or not parts:
            return
        aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
        try:
            with aside.open("xb") as file:
                for part in (*parts, _checksum(parts)):
                    file.write(part)
            aside.replace(path)
        except OSError:  # a full disk, or the room was removed meanwhile
            with contextlib.suppress(OSError):
                aside.unlink(missing_ok=True)

    def _owner(self, path: Path) -> str:
        return f"{self._seal} {path.name}"


def _checksum(parts: Sequence[bytes | memoryview]) -> bytes:
    found = 0
    for part in parts:
        found = zlib.crc32(part, found)
    return found.to_bytes(_CHECKSUM, "little")


def _packed(features: Sequence[Arrays], owner: str) -> list[bytes | memoryview]:
    """What a file holds before its checksum; nothing for rows that lie in pieces."""
    whole = [[a for a in arrays if isinstance(a, np.ndarray)] for arrays in features]
    if list(map(len, whole)) != list(map(len, features)):
        return []
    arrays = [[(a.dtype.name, a.shape) for a in each] for each in whole]
    text = json.dumps({"owner": owner, "arrays": arrays}).encode()
    head = len(text).to_bytes(_LENGTH, "little") + text
    parts: list[bytes | memoryview] = [head + bytes(-len(head) % _ALIGNMENT)]
    for array in (array for each in whole for array in each):
        parts.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        parts.append(bytes(-array.nbytes % _ALIGNMENT))
    return parts


def _unpacked(data: np.ndarray, owner: str) -> list[Arrays]:
    """The features in what `_packed` made; raises if that is something else."""
    length = int.from_bytes(data[:_LENGTH].tobytes(), "little")
    described = json.loads(data[_LENGTH : _LENGTH + length].tobytes())
    if described["owner"] != owner:
        raise ValueError(f"these features are of {described['owner']}")
    features: list[Arrays] = []
    at = _LENGTH + length
    for arrays in described["arrays"]:
        made = []
        for dtype, shape in arrays:
            if dtype not in _DTYPES:
                raise ValueError(f"features are never {dtype}")
            at += -at % _ALIGNMENT
            stop = at + math.prod(shape) * np.dtype(dtype).itemsize
            made.append(data[at:stop].view(dtype).reshape(shape))
            at = stop
        features.append(tuple(made))
    return features
