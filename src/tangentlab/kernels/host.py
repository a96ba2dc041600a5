r"""Products of features on the CPU, by BLAS, added to a block of the Gram matrix.

XLA's CPU products reach a quarter of what BLAS does, and BLAS has the one product that
computes a triangle alone (`syrk`), so on the CPU features are numpy arrays and the Gram
matrix is updated in place.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs

from .._linalg import blocks
from .features import Feature, Outer

_SIDE = 2048  # rows of a single product: both operands and the result stay in cache
Arrays = tuple[np.ndarray, ...]


def add_products(
    K: np.ndarray, feature: Feature, left: Arrays, right: Arrays | None, full: bool
) -> None:
    """Add a feature's part of the kernel to a block of the Gram matrix.

    Args:
        K: The block, `(n, m)`, or `(n, c, m, c)` in full; changed in place. With
            `right` None only its lower triangle, and what else is convenient.
        feature: The feature.
        left: Its arrays along the rows.
        right: Its arrays along the columns; None if they are those of the rows.
        full: Whether outputs are kept apart; else the mean over outputs is added.
    """
    if not all(array.any() for array in (*left, *(right or ()))):
        return  # exactly zero, as in a residual branch whose last scale is zero
    if not isinstance(feature, Outer):
        _add_rows(K, left[0], None if right is None else right[0], full)
    elif full:
        _add_outer_full(K, left, left if right is None else right)
    else:
        _add_outer(K, left, right)


def _add_rows(K: np.ndarray, R: np.ndarray, S: np.ndarray | None, full: bool) -> None:
    c = R.shape[1]
    scale = 1.0 if full else 1 / c
    rows = R.shape[0] * c if full else R.shape[0]
    flat = K.reshape(rows, -1)
    R = R.reshape(rows, -1)
    if S is None:
        _syrk(flat, R, scale)
    else:
        _gemm(flat, R, S.reshape(flat.shape[1], -1), scale)


def _syrk(K: np.ndarray, R: np.ndarray, scale: float) -> None:
    """`K += scale R R^T`, lower triangle; Fortran sees the transpose of our arrays."""
    call: Any = get_blas_funcs("syrk", (K, R))
    call(scale, R.T, beta=1.0, c=K.T, trans=1, lower=0, overwrite_c=1)


def _gemm(K: np.ndarray, R: np.ndarray, S: np.ndarray, scale: float) -> None:
    """`K += scale R S^T`."""
    call: Any = get_blas_funcs("gemm", (K, R, S))
    call(scale, S.T, R.T, beta=1.0, c=K.T, trans_a=1, overwrite_c=1)


def _tiles(n: int, m: int, size: int, lower: bool) -> Iterator[tuple[slice, slice]]:
    for down in blocks(n, size):
        for across in blocks(m, size):
            if not lower or across.start < down.stop:
                yield down, across


def _add_outer(K: np.ndarray, left: Arrays, right: Arrays | None) -> None:
    (A, D), (B, E) = left, left if right is None else right
    c, groups, positions = D.shape[1], A.shape[1], A.shape[2]
    size = max(1, _SIDE // positions)
    for down, across in _tiles(len(A), len(B), size, right is None):
        for g in range(groups):
            T = _product(A[down, g], B[across, g])
            S = _product(D[down, :, g].swapaxes(1, 2), E[across, :, g].swapaxes(1, 2))
            T *= S
            if positions > 1:
                T = T.reshape(-1, positions, (across.stop - across.start), positions)
                T = T.sum(axis=(1, 3))
            if c > 1:
                T /= c
            K[down, across] += T


def _add_outer_full(K: np.ndarray, left: Arrays, right: Arrays) -> None:
    (A, D), (B, E) = left, right
    c, groups, positions = D.shape[1], A.shape[1], A.shape[2]
    size = max(1, _SIDE // positions)
    for down, across in _tiles(len(A), len(B), size, lower=False):
        shape = (-1, positions, across.stop - across.start, positions)
        for g in range(groups):
            T = _product(A[down, g], B[across, g])
            for i in range(c):
                for j in range(c):
                    S = _product(D[down, i, g], E[across, j, g]) * T
                    K[down, i, across, j] += S.reshape(shape).sum(axis=(1, 3))


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of all positions of all examples with each other."""
    a, b = (v.reshape(v.shape[0] * v.shape[1], -1) for v in (a, b))
    return a @ b.T


def mirror(K: np.ndarray) -> None:
    """Copy the lower triangle onto the upper one, in place.

    Args:
        K: A square matrix.
    """
    for down in blocks(len(K), _SIDE):
        diagonal = K[down, down]
        lower = np.tril(diagonal)
        K[down, down] = lower + np.tril(diagonal, -1).T
        K[: down.start, down] = K[down, : down.start].T
