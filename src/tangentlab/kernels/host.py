r"""Products of features on the CPU, by BLAS, added to a block of the Gram matrix.

XLA's CPU products of few rows reach a third of what BLAS does, and BLAS has the one
product that computes a triangle alone (`syrk`), so on the CPU features are numpy arrays
and the Gram matrix is updated in place. Tile by tile all features are added up before
the next tile is begun, so that a tile stays in cache.
"""

import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jaxtyping import Array

from .._linalg import blocks
from .pieces import Pieces, column_blocks

_SIDE = 1024  # rows of a single product: its operands and results stay in cache
_MIRRORED = 256  # rows copied at once, so that a transposed copy stays in cache
_ALIGNMENT = 64  # bytes; JAX takes an array so aligned over without a copy
Arrays = tuple[np.ndarray | Pieces, ...]


def zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of zeros that JAX can take over without a copy.

    Args:
        shape: Its shape.
        dtype: Its dtype.

    Returns:
        The array.
    """
    return _aligned(np.zeros, shape, np.dtype(dtype))


def handed_over(array: np.ndarray) -> Array:
    """An array for JAX, which copies one that is not aligned a page at a time.

    Args:
        array: Any array, which must not change while the result is in use.

    Returns:
        The same numbers on the default device.
    """
    if jax.default_backend() == "cpu" and array.ctypes.data % _ALIGNMENT:
        copy = _aligned(np.empty, array.shape, array.dtype)
        np.copyto(copy, array)
        array = copy
    return jax.device_put(array)


def _aligned(make: Any, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    size = math.prod(shape) * dtype.itemsize
    raw = make(size + _ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % _ALIGNMENT
    return raw[start : start + size].view(dtype).reshape(shape)


def add_products(
    K: np.ndarray, left: Sequence[Arrays], right: Sequence[Arrays] | None
) -> None:
    """Add the part of some features to a block of the Gram matrix.

    Args:
        K: The block, `(n, m)` for the mean over outputs, or `(n, c, m, c)` to keep
            them apart; changed in place. With `right` None only its lower triangle,
            and what else is convenient.
        left: Arrays of each feature along the rows: one of rows, or inputs and deltas.
        right: Arrays of each along the columns; None if they are those of the rows.
    """
    sides: dict[int, list[int]] = {}
    for i, arrays in enumerate(left):
        positions = arrays[0].shape[2] if _is_outer(arrays) else 1
        # Exactly zero is left out, as a residual branch whose last scale is zero.
        if left[i][-1].any() and (right is None or right[i][-1].any()):
            sides.setdefault(max(1, _SIDE // positions), []).append(i)
    for side, chosen in sides.items():
        rows = [left[i] for i in chosen]
        columns = None if right is None else [right[i] for i in chosen]
        with np.errstate(over="ignore", invalid="ignore"):  # the result is looked at
            _add_tiles(K, rows, columns, side)


def _is_outer(arrays: Sequence[Any]) -> bool:
    return len(arrays) == 2


def _add_tiles(K: np.ndarray, left, right, side: int) -> None:
    full = K.ndim == 4
    for down in blocks(len(K), side):
        for across in blocks(K.shape[-1 - full], side):
            if right is None and across.start > down.start:
                continue
            same = right is None and across == down
            total = np.zeros_like(K[down, ..., across, :] if full else K[down, across])
            for arrays, others in zip(left, right or left, strict=True):
                a = [array[down] for array in arrays]
                b = a if same else [array[across] for array in others]
                outer_form = _add_outer_full if full else _add_outer
                (outer_form if _is_outer(a) else _add_rows)(total, a, b)
            if full:
                K[down, :, across] += total
            else:
                K[down, across] += total


def _add_rows(total: np.ndarray, a: Sequence[Any], b: Sequence[Any]):
    (R,), (S,) = a, b
    apart = total.ndim == 4
    for r, s in column_blocks(R, S, apart=apart):
        T = r @ s.T
        if not apart and R.shape[1] > 1:
            T /= R.shape[1]
        total += T.reshape(total.shape)


def _add_outer(total: np.ndarray, a: Sequence[np.ndarray], b: Sequence[np.ndarray]):
    (A, D), (B, E) = a, b
    c, groups, positions = D.shape[1], A.shape[1], A.shape[2]
    for g in range(groups):
        T = _product(A[:, g], B[:, g])
        T *= _product(D[:, :, g].swapaxes(1, 2), E[:, :, g].swapaxes(1, 2))
        if c > 1:
            T /= c
        total += _sum_positions(T, positions)


def _add_outer_full(total: np.ndarray, a, b) -> None:
    (A, D), (B, E) = a, b
    c, groups, positions = D.shape[1], A.shape[1], A.shape[2]
    for g in range(groups):
        T = _product(A[:, g], B[:, g])
        for i in range(c):
            for j in range(c):
                S = _product(D[:, i, g], E[:, j, g]) * T
                total[:, i, :, j] += _sum_positions(S, positions)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of all positions of all examples; numpy knows `a a^T` and halves it."""
    a, b = (v.reshape(v.shape[0] * v.shape[1], -1) for v in (a, b))
    return a @ b.T


def _sum_positions(T: np.ndarray, positions: int) -> np.ndarray:
    if positions == 1:
        return T
    n, m = (size // positions for size in T.shape)
    return T.reshape(n, positions, m, positions).sum(axis=(1, 3))


def mirror(K: np.ndarray) -> None:
    """Copy the lower triangle onto the upper one, in place.

    Args:
        K: A square matrix.
    """
    for down in blocks(len(K), _MIRRORED):
        K[: down.start, down] = K[down, : down.start].T
        square = K[down, down]
        above = np.triu_indices(len(square), 1)
        square[above] = square.T[above]
