"""Exact block iteration and products at full precision."""

from collections.abc import Iterator

import jax
from jaxtyping import PyTree

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


def take(x: PyTree, rows: slice) -> PyTree:
    """Rows of every array in a batch.

    Args:
        x: An array, or a pytree of arrays, with a leading batch axis.
        rows: Which rows.

    Returns:
        A tree of the same structure.
    """
    return jax.tree.map(lambda leaf: leaf[rows], x)
