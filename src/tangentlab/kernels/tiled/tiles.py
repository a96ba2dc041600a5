"""One file a tile: an ordinary `.npy`, and behind its data a seal.

The seal is a SHA-256 of the manifest's own, the tile's name, header and data. It
lies inside the file, because only then file and checksum appear in one step; behind the
data, where `numpy.load` does not look. A tile that was damaged, moved to another place,
or belongs to another computation does not pass.
"""

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..._aside import write_aside
from ..._linalg import blocks

_MAGIC = b"tlsealv1"
_SEAL = len(_MAGIC) + hashlib.sha256().digest_size


class Place(NamedTuple):
    """A tile's examples.

    Attributes:
        rows: Along the rows.
        columns: Along the columns.
    """

    rows: slice
    columns: slice

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start


@dataclass(frozen=True)
class Grid:
    """How a Gram matrix lies on disk.

    Attributes:
        folder: Where.
        seal: Hash that binds tiles to their manifest.
        shape: Rows and columns of the matrix.
        symmetric: Whether the tiles of the lower triangle alone are there.
        dtype: Of its entries.
        side: Rows and columns of a tile; fewer at the end.
    """

    folder: Path
    seal: str
    shape: tuple[int, int]
    symmetric: bool
    dtype: np.dtype
    side: int

    def places(self) -> Iterator[Place]:
        """Go through the tiles.

        Yields:
            Each, rows of tiles one after the other.
        """
        for rows in blocks(self.shape[0], self.side):
            for columns in blocks(self.shape[1], self.side):
                if not self.symmetric or columns.start <= rows.start:
                    yield Place(rows, columns)

    def place(self, row: int, column: int) -> Place:
        """One tile.

        Args:
            row: Its number down.
            column: Its number across.

        Returns:
            Its examples.
        """
        starts = row * self.side, column * self.side
        stops = (min(s + self.side, k) for s, k in zip(starts, self.shape, strict=True))
        return Place(*map(slice, starts, stops))

    def path(self, place: Place) -> Path:
        """The file of a tile.

        Args:
            place: The tile.

        Returns:
            Its path; made of numbers alone.
        """
        row, column = (part.start // self.side for part in place)
        return self.folder / f"tile-{row:05d}-{column:05d}.npy"

    def num_bytes(self, place: Place) -> int:
        """Size of a tile's file.

        Args:
            place: The tile.

        Returns:
            The number of bytes.
        """
        n, m = place.shape
        return len(self._header(place)) + n * m * self.dtype.itemsize + _SEAL

    def write(self, place: Place, values: np.ndarray) -> None:
        """Write a tile, aside; there is either all of it or nothing.

        Args:
            place: The tile.
            values: Its final entries.
        """
        values = np.ascontiguousarray(values, self.dtype)
        data = values.reshape(-1).view(np.uint8).data
        seal = self._sealed(place, data)
        write_aside(self.path(place), self._header(place), data, seal)

    def is_there(self, place: Place) -> bool:
        """Whether a tile is on disk, as far as size and header tell.

        Args:
            place: The tile.

        Returns:
            False if it is missing, obviously not whole, or a link to elsewhere.
        """
        header, path = self._header(place), self.path(place)
        try:
            if path.is_symlink():
                return False
            with path.open("rb") as file:
                whole = path.stat().st_size == self.num_bytes(place)
                return whole and file.read(len(header)) == header
        except FileNotFoundError:
            return False

    def is_sound(self, place: Place) -> bool:
        """Whether a tile is on disk, and what was written, to the last bit.

        Args:
            place: The tile.

        Returns:
            False if it is missing or damaged.
        """
        try:
            self.read(place, check=True)
        except (FileNotFoundError, ValueError):
            return False
        return True

    def read(self, place: Place, *, check: bool) -> np.ndarray:
        """Open a tile; what is used of it comes from the disk.

        Args:
            place: The tile.
            check: Whether to read and verify all of it first.

        Returns:
            Its entries, not to be changed.

        Raises:
            FileNotFoundError: If it is missing.
            ValueError: If it is not what was written.
        """
        path = self.path(place)
        if not self.is_there(place):
            if not (path.exists() or path.is_symlink()):
                raise FileNotFoundError(f"There is no tile {path}. {_AGAIN}")
            link = path.is_symlink()
            why = "it is a link" if link else "its size or header is wrong"
            raise ValueError(_damaged(path, why))
        raw = np.memmap(path, np.uint8, "r")
        data = raw[len(self._header(place)) : len(raw) - _SEAL]
        if check and raw[-_SEAL:].tobytes() != self._sealed(place, data.data):
            raise ValueError(_damaged(path, "its checksum is wrong"))
        return data.view(self.dtype).reshape(place.shape)

    def _header(self, place: Place) -> bytes:
        described = {
            "descr": self.dtype.str,
            "fortran_order": False,
            "shape": place.shape,
        }
        file = io.BytesIO()
        np.lib.format.write_array_header_1_0(file, described)
        return file.getvalue()

    def _sealed(self, place: Place, data: memoryview) -> bytes:
        digest = hashlib.sha256(f"{self.seal} {self.path(place).name}".encode())
        digest.update(self._header(place))
        digest.update(data)
        return _MAGIC + digest.digest()


_AGAIN = (
    "Call `tl.gram` again, or what else began it, with this folder as `store`: it "
    "computes what is missing or damaged."
)


def _damaged(path: Path, why: str) -> str:
    return f"Tile {path} is damaged: {why}. {_AGAIN}"
