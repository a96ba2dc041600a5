"""Products of features on an accelerator, added to a Gram matrix that stays there.

Rows lie in memory in slabs, `(examples, width)`, all of one width, so that products are
compiled once whatever they are products of; and loops run inside the compiled program,
because XLA's autotuner copies whole operands of what stands outside.
"""

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

Precision = Literal["float64", "float32", "high", "fast"]
"""Of the products: `high` is three bfloat16 products, `fast` a single one."""

_WIDEST = 16384  # columns of a slab
_OVERHEAD = 1600  # columns' worth of time that each product of two slabs costs more
_POSITIONS = 8192  # rows of one product of an outer feature, positions counted
_LINE = 128  # matrix units like multiples


def _dot(a: Array, b: Array, precision: Precision) -> Array:
    """`a b^T` of operands, accumulated in at least float32."""
    if precision != "high":
        return _plain_dot(a, b)
    half = a.shape[1] // 2
    both = _plain_dot(a[:, :half], b[:, :half])
    return (
        both
        + _plain_dot(a[:, :half], b[:, half:])
        + _plain_dot(a[:, half:], b[:, :half])
    )


def contract_rows(a: Array, b: Array, precision: Precision) -> Array:
    """`a^T b` of operands, accumulated in at least float32.

    Args:
        a: Operand, `(rows, k)`; for `high` and `fast` its two halves side by side.
        b: Operand, `(rows, width)`; for `high` its two halves side by side.
        precision: Of the product.

    Returns:
        The product, `(k, width)`.
    """
    if precision == "fast":
        first, second = jnp.split(_plain_dot(a, b, 0), 2)
        return first + second
    if precision != "high":
        return _plain_dot(a, b, 0)
    (a_1, a_2), (b_1, b_2) = (jnp.split(each, 2, axis=1) for each in (a, b))
    both = _plain_dot(a_1, b_1, 0)
    return both + _plain_dot(a_1, b_2, 0) + _plain_dot(a_2, b_1, 0)


def _plain_dot(a: Array, b: Array, axis: int = 1) -> Array:
    half = a.dtype == jnp.bfloat16
    return lax.dot_general(
        a,
        b,
        (((axis,), (axis,)), ((), ())),
        precision=lax.Precision.DEFAULT if half else lax.Precision.HIGHEST,
        preferred_element_type=jnp.float32 if half else a.dtype,
    )


def starts(*index: Any) -> tuple[Array, ...]:
    """Start indices of one type, whichever integers they came as.

    Args:
        index: The indices.

    Returns:
        Arrays of int32.
    """
    return tuple(jnp.asarray(i, jnp.int32) for i in index)


def side(n: int, largest: int) -> int:
    """Side of the tiles that cover the lower triangle with the least work.

    Args:
        n: Number of examples.
        largest: The largest side.

    Returns:
        The side; `n` itself if one tile is best.
    """
    line, smallest = min(_LINE, largest), max(1, 3 * largest // 8)

    def work(tiles: int) -> float:
        return (tiles * _round_up(n / tiles, line)) ** 2 * (1 + 1 / tiles)

    counts = range(math.ceil(n / largest), math.ceil(n / smallest) + 1)
    best = min(counts, key=work)
    return n if best == 1 else _round_up(n / best, line)


def slab_width(columns: Sequence[int]) -> int:
    """The width of slabs that waste the least.

    Args:
        columns: Columns that are kept together, for each slice.

    Returns:
        Columns of a slab.
    """

    def work(width: int) -> int:
        return sum(math.ceil(c / width) * (width + _OVERHEAD) for c in columns)

    widest = min(_WIDEST, _round_up(max(columns), _LINE))
    return min(range(_LINE, widest + 1, _LINE), key=work)


def _round_up(number: int | float, step: int) -> int:
    return math.ceil(number / step) * step


def tile_pairs(n: int, m: int, tile: tuple[int, int], lower: bool) -> np.ndarray:
    """First rows and columns of the tiles of a matrix.

    Args:
        n: Rows, a multiple of the tile's.
        m: Columns, likewise.
        tile: Rows and columns of a tile.
        lower: Only tiles that reach the lower triangle.

    Returns:
        One pair a row.
    """
    pairs = [
        (i, j)
        for i in range(0, n, tile[0])
        for j in range(0, m, tile[1])
        if not lower or j <= i
    ]
    return np.array(pairs, np.int32)


@lru_cache(maxsize=64)
def rows_adder(tile: tuple[int, int], precision: Precision) -> Any:
    """The function that adds `R S^T` to a Gram matrix, tile by tile.

    Args:
        tile: Rows and columns of a tile.
        precision: Of the products.

    Returns:
        A function of the Gram matrix, whose memory is reused, a slab `(n, width)` along
        the rows, one along the columns, and the tiles to compute.
    """

    @partial(jax.jit, donate_argnums=0)
    def add_rows(K, R, S, pairs):
        width = R.shape[1]

        def one(t, K):
            i, j = pairs[t, 0], pairs[t, 1]
            a = lax.dynamic_slice(R, starts(i, 0), (tile[0], width))
            b = lax.dynamic_slice(S, starts(j, 0), (tile[1], width))
            block = lax.dynamic_slice(K, starts(i, j), tile)
            block = block + _dot(a, b, precision).astype(K.dtype)
            return lax.dynamic_update_slice(K, block, starts(i, j))

        return lax.fori_loop(0, len(pairs), one, K)

    return add_rows


@lru_cache(maxsize=64)
def outer_adder(tile: tuple[int, int], precision: Precision) -> Any:
    """The function that adds products of inputs times products of deltas.

    Args:
        tile: Rows and columns of a tile.
        precision: Of the products.

    Returns:
        A function of the Gram matrix, whose memory is reused, inputs `(g, n, p, i)` and
        deltas `(g, n, p, o)` along the rows, likewise along the columns, and the tiles.
    """

    def product(a, b, g, i, j):
        a, b = _positions(a, g, i, tile[0]), _positions(b, g, j, tile[1])
        return _dot(a, b, precision)

    @partial(jax.jit, donate_argnums=0)
    def add_outer(K, left, right, pairs):
        groups, _, positions, _ = left[0].shape

        def one(t, K):
            i, j = pairs[t, 0], pairs[t, 1]

            def group(g, block):
                T = product(left[0], right[0], g, i, j)
                T = T * product(left[1], right[1], g, i, j)
                T = T.reshape(tile[0], positions, tile[1], positions)
                return block + T.sum(axis=(1, 3)).astype(K.dtype)

            block = lax.dynamic_slice(K, starts(i, j), tile)
            block = lax.fori_loop(0, groups, group, block)
            return lax.dynamic_update_slice(K, block, starts(i, j))

        return lax.fori_loop(0, len(pairs), one, K)

    return add_outer


def _positions(array: Array, group: Array, start: Array, size: int) -> Array:
    """All positions of some examples, `(size p, features)`."""
    _, _, positions, features = array.shape
    at, shape = starts(group, start, 0, 0), (1, size, positions, features)
    return lax.dynamic_slice(array, at, shape).reshape(size * positions, features)


@lru_cache(maxsize=16)
def mirror(tile: int) -> Any:
    """The function that copies the lower triangle onto the upper one, in place.

    Args:
        tile: Side of a tile.

    Returns:
        A function of a square matrix, whose memory is reused, and the tiles of its
        lower triangle.
    """

    @partial(jax.jit, donate_argnums=0)
    def mirrored(K, pairs):
        def one(t, K):
            i, j = pairs[t, 0], pairs[t, 1]
            block = lax.dynamic_slice(K, starts(i, j), (tile, tile))
            on_diagonal = jnp.tril(block) + jnp.tril(block, -1).T
            upper = jnp.where(i == j, on_diagonal, block.T)
            return lax.dynamic_update_slice(K, upper, starts(j, i))

        return lax.fori_loop(0, len(pairs), one, K)

    return mirrored


def outer_side(positions: int, tile: int) -> int:
    """Examples in a tile of an outer feature: a divisor of `tile`.

    Args:
        positions: Positions of an example.
        tile: Side of a tile of rows.

    Returns:
        The largest divisor that keeps the product of all positions small.
    """
    most = max(1, min(tile, int(1.1 * _POSITIONS) // positions))
    return next(size for size in range(most, 0, -1) if tile % size == 0)
