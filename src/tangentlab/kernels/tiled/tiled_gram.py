"""A Gram matrix on disk that reads like an array."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from ..._linalg import blocks
from .indexing import Asked, resolve
from .manifest import check_there, read_manifest
from .tiles import Grid, Place

_STRIP = 2**22  # entries of a tile that are widened to float64 at once


@dataclass(frozen=True, eq=False, repr=False)
class TiledGram:
    """A Gram matrix on disk, tile by tile; what is asked for is read.

    Takes indices as numpy does (integers, slices, arrays) and returns numpy arrays;
    `K @ v` goes through the tiles and adds up in float64. Each tile's checksum is
    verified when it is first read.
    """

    _grid: Grid
    _verified: set[Path] = field(default_factory=set)

    ndim = 2
    __array_priority__ = 1000  # `array @ K` asks K, instead of reading all of it

    @property
    def folder(self) -> Path:
        """Where the tiles are."""
        return self._grid.folder

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._grid.shape

    @property
    def dtype(self) -> np.dtype:
        """Type of the entries."""
        return self._grid.dtype

    @property
    def side(self) -> int:
        """Rows and columns of a tile; fewer at the end."""
        return self._grid.side

    def __len__(self) -> int:
        return self.shape[0]

    def __reduce__(self) -> Any:  # it travels as the name of its folder
        return open_gram, (str(self.folder.resolve()),)

    def __repr__(self) -> str:
        (n, m), side = self.shape, self._grid.side
        count = sum(1 for _ in self._grid.places())
        half = ", symmetric" if self._grid.symmetric else ""
        return (
            f"TiledGram({n} x {m}, {self.dtype}{half}, {count} tiles of {side}, "
            f"in {str(self.folder)!r})"
        )

    def __getitem__(self, key: Any) -> Any:
        asked = resolve(key, self.shape)
        gather = self._submatrix if asked.outer else self._entries
        return gather(asked).reshape(asked.shape)[()]

    def tiles(self) -> Iterator[tuple[slice, slice, np.ndarray]]:
        """Go through the matrix, each tile read once.

        Yields:
            Rows, columns and entries; of a tile that has one, then its mirror image.
        """
        for place in self._grid.places():
            values = self._tile(place)
            yield place.rows, place.columns, values
            if self._is_mirrored(place):
                yield place.columns, place.rows, values.T

    def multiply_part(
        self, part: int, V: Float[np.ndarray, "m k"], *, transposed: bool = False
    ) -> Float[np.ndarray, "s k"]:
        """Multiply one row of tiles.

        Args:
            part: Its number down, or that of a column across if transposed.
            V: Vectors over all columns, or rows if transposed.
            transposed: Whether the transpose is multiplied.

        Returns:
            The products in float64, one row for each of these examples.
        """
        total = 0.0
        for other, at in enumerate(blocks(self.shape[not transposed], self.side)):
            pair = (other, part) if transposed else (part, other)
            values = self._part(*pair)
            wide = (values.T if transposed else values).astype(np.float64)
            total = total + wide @ V[at]
        return np.asarray(total)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError(
                "A Gram matrix on disk cannot become an array uncopied: leave out "
                "`copy=False`."
            )
        made = np.empty(self.shape, self.dtype if dtype is None else dtype)
        for rows, columns, values in self.tiles():
            made[rows, columns] = values
        return made

    def to_array(self) -> Float[np.ndarray, "n m"]:
        """Read all of it into memory.

        Returns:
            The Gram matrix.
        """
        return np.asarray(self)

    def diagonal(self) -> Float[np.ndarray, " n"]:
        """Read the diagonal.

        Returns:
            Entries `[i, i]`.
        """
        along = np.arange(min(self.shape))
        return self[along, along]

    def __matmul__(self, other: Any) -> np.ndarray:
        return self._product(_checked(other, self.shape[1]), transposed=False)

    def __rmatmul__(self, other: Any) -> np.ndarray:
        return self._product(_checked(other, self.shape[0], last=True), transposed=True)

    def _product(self, v: np.ndarray, *, transposed: bool) -> np.ndarray:
        """`K v`, or `v K` of a `v` with its examples along the last axis."""
        flat = (v.T if transposed else v).reshape(self.shape[not transposed], -1)
        total = np.zeros((self.shape[transposed], flat.shape[1]))
        for place in self._grid.places():
            values = self._tile(place)
            rows, columns = place
            height = max(1, _STRIP // values.shape[1])
            for part in blocks(len(values), height):
                wide = values[part].astype(np.float64)
                here = slice(rows.start + part.start, rows.start + part.stop)
                if not transposed or self._is_mirrored(place):
                    total[here] += wide @ flat[columns]
                if transposed or self._is_mirrored(place):
                    total[columns] += wide.T @ flat[here]
        if v.ndim == 1:
            return total[:, 0]
        return total.T if transposed else total

    def _is_mirrored(self, place: Place) -> bool:
        return self._grid.symmetric and place.rows != place.columns

    def _tile(self, place: Place) -> np.ndarray:
        path = self._grid.path(place)
        values = self._grid.read(place, check=path not in self._verified)
        self._verified.add(path)
        return values

    def _part(self, row: int, column: int) -> np.ndarray:
        """A tile of the whole matrix, from its mirror image where that is on disk."""
        if self._grid.symmetric and column > row:
            return self._tile(self._grid.place(column, row)).T
        return self._tile(self._grid.place(row, column))

    def _submatrix(self, asked: Asked) -> np.ndarray:
        made = np.empty((len(asked.rows), len(asked.columns)), self.dtype)
        across = list(_by_tile(asked.columns, self._grid.side))
        for row, at, i in _by_tile(asked.rows, self._grid.side):
            strip = np.empty((len(at), made.shape[1]), self.dtype)
            for column, to, j in across:
                strip[:, _span(to)] = self._part(row, column)[_span(i)][:, _span(j)]
            made[_span(at)] = strip
        return made

    def _entries(self, asked: Asked) -> np.ndarray:
        made, side = np.empty(len(asked.rows), self.dtype), self._grid.side
        for row, at, i in _by_tile(asked.rows, side):
            for column, to, j in _by_tile(asked.columns[at], side):
                made[at[to]] = self._part(row, column)[i[to], j]
        return made


def _by_tile(
    positions: np.ndarray, side: int
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """For each tile along an axis: its number, who lies in it, and where."""
    tiles = positions // side
    for tile in np.unique(tiles).tolist():
        at = np.flatnonzero(tiles == tile)
        yield tile, at, positions[at] - tile * side


def _span(positions: np.ndarray) -> np.ndarray | slice:
    """A slice where positions follow each other: it is read without a detour."""
    first, stop = positions[0].item(), positions[-1].item() + 1
    if stop - first == len(positions) and (np.diff(positions) == 1).all():
        return slice(first, stop)
    return positions


def _checked(other: Any, size: int, *, last: bool = False) -> np.ndarray:
    v = np.asarray(other, np.float64)
    if v.ndim not in (1, 2) or v.shape[-1 if last else 0] != size:
        wanted = f"({size},) or (k, {size})" if last else f"({size},) or ({size}, k)"
        raise ValueError(
            f"A product with this Gram matrix takes a vector or matrix of shape "
            f"{wanted}, got {v.shape}."
        )
    return v


def open_gram(folder: str | PathLike[str]) -> TiledGram:
    """Open a Gram matrix that `tl.gram` has written, without the network.

    Args:
        folder: What was passed as `store`.

    Returns:
        The Gram matrix.

    Raises:
        FileNotFoundError: If there is no such folder, or no Gram matrix in it.
        ValueError: If it is not finished, or its manifest is damaged.
    """
    folder = Path(folder)
    check_there(folder)
    grid = read_manifest(folder).grid(folder)
    there = [grid.is_there(place) for place in grid.places()]
    if not all(there):
        raise ValueError(
            f"The Gram matrix in {folder} is not finished: {there.count(False)} of "
            f"{len(there)} tiles are missing. Call `tl.gram` again, or what else "
            "began it, with the same `store` to finish it."
        )
    return TiledGram(grid)
