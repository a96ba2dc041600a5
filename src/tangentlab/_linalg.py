"""Exact block iteration and products at full precision."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

HIGHEST = jax.lax.Precision.HIGHEST
"""The default precision on GPUs is tf32, which a spectrum does not survive."""


def blocks(n: int, size: int) -> Iterator[slice]:
    """Cut `range(n)` into consecutive slices; the remainder is a smaller one.

    Args:
        n: Number of items.
        size: Largest length of a slice.

    Yields:
        Slices that cover every item once, in order.
    """
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def symmetrize(K: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """Mean of a matrix and its transpose.

    Args:
        K: A matrix, symmetric up to rounding.

    Returns:
        A matrix symmetric to the bit.
    """
    return (K + jnp.swapaxes(K, 0, 1)) / 2
