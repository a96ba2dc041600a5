"""Writing the features of a chunk of examples to where they lie, as operands."""

import math
from collections.abc import Sequence

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from .device import Precision, starts
from .layout import Form


def operand(array: Array, precision: Precision) -> Array:
    """An array as operand of a product of this precision.

    Args:
        array: The array.
        precision: The precision.

    Returns:
        Rounded to bfloat16 for `fast`; for `high` what was rounded away stands beside
        it, along the last axis.
    """
    if precision == "fast":
        return array.astype(jnp.bfloat16)
    if precision != "high":
        return array
    # XLA may drop a cast there and back, but not this.
    rounded = lax.reduce_precision(array, exponent_bits=8, mantissa_bits=7)
    parts = rounded.astype(jnp.bfloat16), (array - rounded).astype(jnp.bfloat16)
    return jnp.concatenate(parts, axis=-1)


def place_rows(slabs, parts: Sequence[Array], offset: Array, kept_as: Form):
    """Write rows `(b, c, q)` of a chunk into slabs.

    Args:
        slabs: The slabs.
        parts: Rows of each feature.
        offset: First example.
        kept_as: In which form features are kept.

    Returns:
        The slabs with the rows written.
    """
    b, c = parts[0].shape[:2]
    if kept_as.apart:
        flat = [part.reshape(b * c, -1) for part in parts]
        return _write_rows(slabs, flat, offset * c, 1.0, kept_as.precision)
    flat = [part.reshape(b, -1) for part in parts]
    scale = 1 / math.sqrt(c)
    return _write_rows(slabs, flat, offset, scale, kept_as.precision)


def place_pair(pair, arrays, offset: Array, kept_as: Form):
    """Write inputs `(b, g, p, i)` and deltas `(b, c, g, p, o)` of a chunk.

    Args:
        pair: The buffers.
        arrays: Inputs and deltas.
        offset: First example.
        kept_as: In which form features are kept.

    Returns:
        The buffers with the values written.
    """
    A, D = arrays
    b, c, g, p, o = D.shape
    A = A.swapaxes(0, 1)
    if kept_as.apart:
        D = D.transpose(2, 0, 1, 3, 4).reshape(g, b * c, p, o)
        A, offset = jnp.repeat(A, c, axis=1), offset * c
        return _write_pair(pair, A, D, offset, kept_as.precision)
    D = D.transpose(2, 0, 3, 1, 4).reshape(g, b, p, c * o) / math.sqrt(c)
    return _write_pair(pair, A, D, offset, kept_as.precision)


def _write_rows(
    slabs: Sequence[Array],
    features: Sequence[Array],
    offset: Array,
    scale: float,
    precision: Precision,
) -> list[Array]:
    """Write rows `(b, q)`, side by side, into slabs `(n, width)`."""
    width = slabs[0].shape[1] // (2 if precision == "high" else 1)
    flat = jnp.concatenate(features, axis=1) * scale
    flat = jnp.pad(flat, ((0, 0), (0, len(slabs) * width - flat.shape[1])))
    return [
        lax.dynamic_update_slice(
            slab,
            operand(flat[:, k * width : (k + 1) * width], precision).astype(slab.dtype),
            starts(offset, 0),
        )
        for k, slab in enumerate(slabs)
    ]


def _write_pair(
    buffers: Sequence[Array], A: Array, D: Array, offset: Array, precision: Precision
) -> list[Array]:
    """Write inputs `(g, b, p, i)` and deltas `(g, b, p, c o)`."""
    at = starts(0, offset, 0, 0)
    return [
        lax.dynamic_update_slice(
            buffer, operand(value, precision).astype(buffer.dtype), at
        )
        for buffer, value in zip(buffers, (A, D), strict=True)
    ]
