"""Wide rows of examples, left where the network wrote them.

The gradients of 64 examples of a ResNet18 are 3 GB. Copying them from the chunks in
which they were computed into one array takes as long as multiplying them, so they stay
where they are, and a few columns at a time are gathered into cache.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from .._linalg import blocks

_WIDE = 2**14  # columns from which on rows are left in pieces
_GATHERED = 2**19  # numbers gathered at once: they stay in cache
_LEAST = 64  # columns


class Pieces:
    """Rows of examples `(n, c, q)` in consecutive arrays."""

    def __init__(self, arrays: Sequence[np.ndarray]):
        """Take arrays as they are.

        Args:
            arrays: Rows of some examples each, `(b, c, q)`, in order.
        """
        self._arrays = arrays

    def __len__(self) -> int:
        """Number of examples."""
        return sum(map(len, self._arrays))

    def __getitem__(self, rows: slice) -> "Pieces":
        """Views of some examples."""
        found, start = [], 0
        for array in self._arrays:
            first, last = max(0, rows.start - start), rows.stop - start
            if first < min(last, len(array)):
                found.append(array[first:last])
            start += len(array)
        return Pieces(found)

    @property
    def shape(self) -> tuple[int, ...]:
        """Examples, outputs and columns."""
        return len(self), *self._arrays[0].shape[1:]

    def any(self) -> bool:
        """Whether a number is not zero."""
        return any(array.any() for array in self._arrays)

    def columns(self, part: slice, *, apart: bool) -> np.ndarray:
        """Some columns of all examples, gathered.

        Args:
            part: The columns.
            apart: Whether outputs are rows of their own; else they stand side by side.

        Returns:
            An array `(n, columns)`, or `(n c, columns)`.
        """
        return np.concatenate([_flat(a, apart)[:, part] for a in self._arrays])


def column_blocks(
    R: np.ndarray | Pieces, S: np.ndarray | Pieces, *, apart: bool
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Columns of two sets of rows, as many at a time as are worth it.

    Args:
        R: Rows `(n, c, q)`.
        S: Others, or the same object.
        apart: Whether outputs are rows of their own; else they stand side by side.

    Yields:
        Matrices whose products add up to that of the rows, and one object twice where
        `R` and `S` are one.
    """
    if not (isinstance(R, Pieces) or isinstance(S, Pieces)):
        yield _flat(R, apart), _flat(S, apart)
        return
    (n, c, q), m = R.shape, len(S)
    width = _GATHERED // (max(n, m) * (c if apart else 1))
    for part in blocks(q if apart else c * q, max(_LEAST, width)):
        r = _columns(R, part, apart)
        yield r, r if S is R else _columns(S, part, apart)


def _columns(rows: np.ndarray | Pieces, part: slice, apart: bool) -> np.ndarray:
    if isinstance(rows, Pieces):
        return rows.columns(part, apart=apart)
    return _flat(rows, apart)[:, part]


def _flat(rows: np.ndarray, apart: bool) -> np.ndarray:
    n, c, q = rows.shape
    return rows.reshape(n * c, q) if apart else rows.reshape(n, c * q)


def assemble(arrays: Sequence[np.ndarray], *, rows: bool) -> np.ndarray | Pieces:
    """Arrays of consecutive examples as one.

    Args:
        arrays: The arrays.
        rows: Whether these are rows `(b, c, q)`, which may stay in pieces.

    Returns:
        One array, or the pieces where one would be costly to make.
    """
    if len(arrays) == 1:
        return arrays[0]
    if rows and arrays[0].shape[-1] >= _WIDE:
        return Pieces(arrays)
    return np.concatenate(arrays)
