"""What `K[...]` asks for, with numpy's meaning, as positions along both axes."""

from typing import Any, NamedTuple

import numpy as np


class Asked(NamedTuple):
    """Entries of a matrix.

    Attributes:
        rows: Positions along the rows, none negative.
        columns: Likewise along the columns.
        outer: Whether every row meets every column; else they go in pairs.
        shape: Of the result.
    """

    rows: np.ndarray
    columns: np.ndarray
    outer: bool
    shape: tuple[int, ...]


def resolve(key: Any, shape: tuple[int, int]) -> Asked:
    """Read an index.

    Args:
        key: Integers, slices, integer or boolean arrays, for one axis or both.
        shape: Of the matrix.

    Returns:
        The entries asked for.

    Raises:
        IndexError: If there are too many indices, or they cannot be broadcast.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(part is Ellipsis for part in keys):
        at = next(i for i, part in enumerate(keys) if part is Ellipsis)
        keys[at : at + 1] = [slice(None)] * (3 - len(keys))
    keys += [slice(None)] * (2 - len(keys))
    if len(keys) != 2:
        raise IndexError(f"A Gram matrix has two axes, got {len(keys)} indices.")
    rows, columns = (_positions(k, size) for k, size in zip(keys, shape, strict=True))
    sliced = any(isinstance(part, slice) for part in keys)
    crossed = rows.shape[1:] == (1,) and columns.ndim == 2 and len(columns) == 1
    if sliced or crossed:  # `crossed` is what `numpy.ix_` makes
        joined = (len(rows), columns.shape[1]) if crossed and not sliced else None
        whole = joined or (*rows.shape, *columns.shape)
        return Asked(rows.ravel(), columns.ravel(), True, whole)
    try:
        rows, columns = np.broadcast_arrays(rows, columns)
    except ValueError as error:
        raise IndexError(
            f"Indices of shapes {rows.shape} and {columns.shape} do not go in pairs: "
            "use `numpy.ix_(rows, columns)` for a submatrix."
        ) from error
    return Asked(rows.ravel(), columns.ravel(), False, rows.shape)


def _positions(key: Any, size: int) -> np.ndarray:
    if isinstance(key, slice):
        return np.arange(size)[key]
    found = np.asarray(key)
    if found.dtype == bool and found.shape == (size,):
        return np.flatnonzero(found)
    if found.size == 0 and isinstance(key, list | tuple):
        found = found.astype(np.intp)
    if not np.issubdtype(found.dtype, np.integer):
        raise IndexError(
            "A Gram matrix on disk is indexed by integers, slices, integer arrays, or "
            f"{size} booleans along an axis, got {key!r}."
        )
    if found.size and not (-size <= found.min() and found.max() < size):
        raise IndexError(f"{key!r} is out of bounds for an axis of {size} examples.")
    return np.where(found < 0, found + size, found)
