"""Sums over the entries of Gram matrices, a strip of rows at a time, in float64.

A strip is widened where the matrix lies: in host memory, on an accelerator, or read
from disk. Under `jit` there are no strips, and the dtype is that of the matrix.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from .._linalg import blocks
from ..kernels import TiledGram
from ..spectra.multiplying import is_on_accelerator, multiply

_STRIP = 2**24  # entries that are widened at once
_DEVICE_STRIP = 2**27  # likewise on an accelerator
_TILED_ROWS = 2048  # of a matrix on disk: fewer would read the same tile again

Summand = Callable[..., Any]
"""`summand(rows, strip, ...)`: what rows add to a sum, by operators alone."""


def sum_over_strips(summand: Summand, *kernels: Float[Any, "n m"]) -> Any:
    """Add up what strips of one or more matrices contribute.

    Args:
        summand: Called with the rows, a slice, and a strip of each matrix.
        *kernels: Matrices of one shape: arrays, or Gram matrices on disk.

    Returns:
        The sum, a number or an array.
    """
    n, m = kernels[0].shape
    if any(isinstance(K, Tracer) for K in kernels):
        return summand(slice(0, n), *map(jnp.asarray, kernels))
    if any(map(is_on_accelerator, kernels)):
        return _sum_on_device(summand, kernels)
    height = max(1, _STRIP // m)
    if any(isinstance(K, TiledGram) for K in kernels):
        height = max(height, _TILED_ROWS)
    arrays = [np.asarray(K) if isinstance(K, jax.Array) else K for K in kernels]
    total = 0.0
    for rows in blocks(n, height):
        strips = (np.asarray(K[rows], np.float64) for K in arrays)
        total = total + summand(rows, *strips)
    return total


def _sum_on_device(summand: Summand, kernels: tuple[Any, ...]) -> np.ndarray:
    n, m = kernels[0].shape
    place = next(K for K in kernels if is_on_accelerator(K)).devices()
    with jax.enable_x64(True), jax.default_device(next(iter(place))):
        total = 0.0
        for rows in blocks(n, max(1, _DEVICE_STRIP // m)):
            strips = (_strip_on_device(K, rows) for K in kernels)
            total = total + summand(rows, *strips)
        return np.asarray(total)


def _strip_on_device(K: Any, rows: slice) -> Array:
    if is_on_accelerator(K):
        return _cut(K, rows.start, rows.stop - rows.start)
    return jnp.asarray(np.asarray(K[rows], np.float64))


@partial(jax.jit, static_argnums=2)
def _cut(K: Array, start: ArrayLike, height: int) -> Array:
    return jax.lax.dynamic_slice_in_dim(K, start, height).astype(jnp.float64)


def inner_product(K: Float[Any, "n m"], L: Float[Any, "n m"]) -> Any:
    r"""The sum of products of entries, $\langle K, L\rangle_F$.

    Args:
        K: A matrix.
        L: Another one of its shape; the same one for the squared norm.

    Returns:
        A number.
    """
    if K is L:
        return sum_over_strips(lambda _, A: (A * A).sum(), K)
    return sum_over_strips(lambda _, A, B: (A * B).sum(), K, L)


class Centered:
    r"""Strips of a centered Gram matrix, $H K H$ with $H = I - 1 1^\top / n$.

    Entries are centered one by one: a constant that rules the kernel cancels in each of
    them, not in sums of their squares.
    """

    def __init__(self, K: Float[Any, "n n"]):
        if isinstance(K, Tracer):
            self.means = jnp.asarray(K).mean(axis=1)
        else:
            self.means = multiply(K, np.ones((K.shape[0], 1)))[:, 0] / K.shape[0]
        self.mean = self.means.mean()

    def __call__(self, rows: slice, strip: Any) -> Any:
        """Center a strip.

        Args:
            rows: Where it lies.
            strip: Its entries.

        Returns:
            The entries of the centered matrix.
        """
        return strip - self.means[rows, None] - self.means[None, :] + self.mean
