"""Products of features on an accelerator, added to a Gram matrix that stays there.

Rows lie in memory as `(columns / width, examples, width)`, so that the operand of every
product is one contiguous slab; all products of a kind have equal shapes, so that each
is compiled once; and loops run inside the compiled program, because XLA's autotuner
copies whole operands of what stands outside.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from .features import Feature, Outer

Precision = Literal["float64", "float32", "high", "fast"]
"""Of the products: `high` is three bfloat16 products, `fast` a single one."""

TILE = 4096
WIDTH = 8192
_POSITIONS = 4096  # rows of one product of an outer feature, positions counted


def stored_dtype(precision: Precision, dtype: Any) -> Any:
    """In which dtype features are kept for products of this precision.

    Args:
        precision: The precision.
        dtype: The dtype they are computed in.

    Returns:
        bfloat16 where the products round to it anyway.
    """
    return jnp.bfloat16 if precision == "fast" else dtype


def _algorithm(precision: Precision) -> Any:
    if precision == "high":
        return lax.DotAlgorithmPreset.BF16_BF16_F32_X3
    return lax.Precision.DEFAULT if precision == "fast" else lax.Precision.HIGHEST


def _dot(a: Array, b: Array, precision: Precision) -> Array:
    """`a b^T` over the last axes, accumulated in at least float32."""
    wide = jnp.float64 if a.dtype == jnp.float64 else jnp.float32
    if jax.default_backend() == "cpu" and precision == "high":
        precision = "float32"
    return lax.dot_general(
        a,
        b,
        (((a.ndim - 1,), (b.ndim - 1,)), ((), ())),
        precision=_algorithm(precision),
        preferred_element_type=wide,
    )


def _at(*index: Any) -> tuple[Array, ...]:
    """Start indices of one type, whichever integers they came as."""
    return tuple(jnp.asarray(i, jnp.int32) for i in index)


def tile_pairs(n: int, m: int, tile: int, lower: bool) -> np.ndarray:
    """First rows and columns of the tiles of a matrix.

    Args:
        n: Rows, a multiple of `tile`.
        m: Columns, likewise.
        tile: Side of a tile.
        lower: Only tiles that reach the lower triangle.

    Returns:
        One pair a row.
    """
    pairs = [
        (i, j)
        for i in range(0, n, tile)
        for j in range(0, m, tile)
        if not lower or j <= i
    ]
    return np.array(pairs, np.int32)


@partial(jax.jit, donate_argnums=0, static_argnums=(4, 5))
def add_rows(K, R, S, pairs, tile: int, precision: Precision):
    """Add `R S^T`, tile by tile.

    Args:
        K: The Gram matrix; its memory is reused.
        R: Rows of all examples along the rows, `(slabs, n, width)`.
        S: Likewise along the columns.
        pairs: Tiles to compute.
        tile: Side of a tile.
        precision: Of the products.

    Returns:
        The Gram matrix with the products added.
    """
    slabs, _, width = R.shape

    def one(t, K):
        i, j = pairs[t, 0], pairs[t, 1]

        def slab(s, block):
            a = lax.dynamic_slice(R, _at(s, i, 0), (1, tile, width))[0]
            b = lax.dynamic_slice(S, _at(s, j, 0), (1, tile, width))[0]
            return block + _dot(a, b, precision).astype(K.dtype)

        block = lax.dynamic_slice(K, _at(i, j), (tile, tile))
        block = lax.fori_loop(0, slabs, slab, block)
        return lax.dynamic_update_slice(K, block, _at(i, j))

    return lax.fori_loop(0, len(pairs), one, K)


@partial(jax.jit, donate_argnums=0, static_argnums=(4, 5))
def add_outer(K, left, right, pairs, tile: int, precision: Precision):
    """Add the products of inputs times the products of deltas, tile by tile.

    Args:
        K: The Gram matrix; its memory is reused.
        left: Inputs `(g, n, p, i)` and deltas `(g, n, p, c o)` along the rows.
        right: Likewise along the columns.
        pairs: Tiles to compute.
        tile: Side of a tile.
        precision: Of the products.

    Returns:
        The Gram matrix with the products added.
    """
    groups, _, positions, _ = left[0].shape

    def cut(array, g, start):
        features = array.shape[3]
        part = lax.dynamic_slice(
            array, _at(g, start, 0, 0), (1, tile, positions, features)
        )
        return part.reshape(tile * positions, features)

    def one(t, K):
        i, j = pairs[t, 0], pairs[t, 1]

        def group(g, block):
            T = _dot(cut(left[0], g, i), cut(right[0], g, j), precision)
            T = T * _dot(cut(left[1], g, i), cut(right[1], g, j), precision)
            T = T.reshape(tile, positions, tile, positions).sum(axis=(1, 3))
            return block + T.astype(K.dtype)

        block = lax.dynamic_slice(K, _at(i, j), (tile, tile))
        block = lax.fori_loop(0, groups, group, block)
        return lax.dynamic_update_slice(K, block, _at(i, j))

    return lax.fori_loop(0, len(pairs), one, K)


def outer_tile(positions: int, tile: int) -> int:
    """Examples in a tile of an outer feature: a divisor of `tile`.

    Args:
        positions: Positions of an example.
        tile: Side of a tile of rows.

    Returns:
        Its side.
    """
    side = tile
    while side > 1 and side * positions > max(_POSITIONS, tile) and side % 2 == 0:
        side //= 2
    return side


def place_rows(
    buffer: Array, features: Sequence[Array], offset: Array, scale: float
) -> Array:
    """Write rows of some examples into their slabs.

    Args:
        buffer: `(slabs, n, width)`.
        features: Rows of each feature, `(b, c, q)`; their columns stand side by side.
        offset: First example.
        scale: Factor that turns the sum over outputs into a mean.

    Returns:
        The buffer with the rows written.
    """
    slabs, _, width = buffer.shape
    flat = jnp.concatenate([f.reshape(len(f), -1) for f in features], axis=1)
    flat = jnp.pad(flat * scale, ((0, 0), (0, slabs * width - flat.shape[1])))
    parts = flat.astype(buffer.dtype).reshape(len(flat), slabs, width)
    return lax.dynamic_update_slice(buffer, parts.swapaxes(0, 1), _at(0, offset, 0))


def place_outer(buffers: tuple[Array, Array], arrays, offset: Array, scale: float):
    """Write inputs and deltas of some examples into their buffers.

    Args:
        buffers: `(g, n, p, i)` and `(g, n, p, c o)`.
        arrays: Inputs `(b, g, p, i)` and deltas `(b, c, g, p, o)`.
        offset: First example.
        scale: Factor that turns the sum over outputs into a mean.

    Returns:
        The buffers with the values written.
    """
    A, D = arrays
    b, c, g, p, o = D.shape
    deltas = (D * scale).transpose(2, 0, 3, 1, 4).reshape(g, b, p, c * o)
    at = _at(0, offset, 0, 0)
    return tuple(
        lax.dynamic_update_slice(buffer, value.astype(buffer.dtype), at)
        for buffer, value in zip(buffers, (A.swapaxes(0, 1), deltas), strict=True)
    )


def is_outer(feature: Feature) -> bool:
    """Whether a feature is kept as inputs and deltas.

    Args:
        feature: The feature.

    Returns:
        False for rows.
    """
    return isinstance(feature, Outer)
