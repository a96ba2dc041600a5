"""Runs a plan on an accelerator: features and the Gram matrix never leave it."""

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._progress import Advance
from .._types import AnyArray
from . import device
from .device import Precision
from .features import Feature, Source, Values, factors, form
from .forms import cost
from .planning import Plan, Problem


@lru_cache(maxsize=32)
def compiled_factors(source: Source) -> Any:
    """The network's backward pass, compiled once for all passes of a plan."""
    return jax.jit(partial(factors, source))


@lru_cache(maxsize=128)
def _compiled_fill(source: Source, features: tuple[Feature, ...], scale: float) -> Any:
    """Forms the features of a chunk and writes them where they belong."""
    rows = [f for f in features if not device.is_outer(f)]
    outer = [f for f in features if device.is_outer(f)]

    @partial(jax.jit, donate_argnums=0)
    def fill(buffers, values, made, offset):
        slabs, pairs = buffers
        if rows:
            parts = [form(source, f, values, made)[0] for f in rows]
            slabs = device.place_rows(slabs, parts, offset, scale)
        pairs = [
            device.place_outer(pair, form(source, f, values, made), offset, scale)
            for f, pair in zip(outer, pairs, strict=True)
        ]
        return slabs, pairs

    return fill


def run(
    source: Source,
    plan: Plan,
    problem: Problem,
    values: Values,
    x: Sequence[Sequence[AnyArray]],
    precision: Precision,
    advance: Advance,
) -> Float[Array, "n m"]:
    """Compute a Gram matrix on the device.

    Args:
        source: The network.
        plan: What to do; its panel holds all examples.
        problem: The size of the computation.
        values: Values of the parameters.
        x: Arrays of the examples along the rows, and of those along the columns.
        precision: Of the products.
        advance: Told the number of pairs of examples done, times passes.

    Returns:
        The Gram matrix.
    """
    tile = plan.tile
    n, m = (math.ceil(k / tile) * tile for k in (problem.n, problem.m))
    dtype = jnp.float64 if problem.itemsize == 8 else jnp.float32
    K = jnp.zeros((n, m), dtype)
    pairs = device.tile_pairs(n, m, tile, problem.symmetric)
    for features in plan.passes:
        left = _fill(source, features, plan, problem, values, x[0], n, precision)
        right = left
        if not problem.symmetric:
            right = _fill(source, features, plan, problem, values, x[1], m, precision)
        if left[0] is not None and bool(_any_nonzero(left[0])):
            K = device.add_rows(K, left[0], right[0], pairs, tile, precision)
        for a, b in zip(left[1], right[1], strict=True):
            if not bool(_any_nonzero(a[1])):
                continue
            side = device.outer_tile(a[0].shape[2], tile)
            small = device.tile_pairs(n, m, side, problem.symmetric)
            K = device.add_outer(K, a, b, small, side, precision)
        K.block_until_ready()
        advance(problem.n * problem.m)
        del left, right
    return _finish(K, problem.n, problem.m, problem.symmetric)


@jax.jit
def _any_nonzero(array: Array) -> Array:
    return jnp.any(array != 0)


@partial(jax.jit, static_argnums=(1, 2, 3))
def _finish(K, n: int, m: int, symmetric: bool):
    K = K[:n, :m]
    return jnp.tril(K) + jnp.tril(K, -1).T if symmetric else K


def _fill(
    source: Source,
    features: tuple[Feature, ...],
    plan: Plan,
    problem: Problem,
    values: Values,
    x: Sequence[AnyArray],
    padded: int,
    precision: Precision,
):
    """Features of all examples, chunk by chunk, on the device."""
    scale = 1 / math.sqrt(problem.num_outputs)
    fill = _compiled_fill(source, features, scale)
    backward = compiled_factors(source)
    buffers = _buffers(source, features, plan, problem, padded, precision)
    n, chunk = len(x[0]), plan.chunk
    for start in range(0, n, chunk):
        # The last chunk is moved back to be full; its examples are written twice.
        at = max(0, min(start, n - chunk))
        batch = [jnp.asarray(a[at : at + chunk]) for a in x]
        buffers = fill(buffers, values, backward(values, batch), np.int32(at))
    return buffers


def _buffers(source, features, plan, problem, padded: int, precision: Precision):
    base = jnp.float64 if problem.itemsize == 8 else jnp.float32
    dtype = device.stored_dtype(precision, base)
    c = problem.num_outputs
    outer = [
        (
            jnp.zeros(
                (f.piece.groups, padded, f.piece.positions, f.piece.fan_in), dtype
            ),
            jnp.zeros(
                (f.piece.groups, padded, f.piece.positions, c * f.piece.fan_out), dtype
            ),
        )
        for f in features
        if device.is_outer(f)
    ]
    columns = [
        sum(cost(source, f, c).numbers for f in p if not device.is_outer(f))
        for p in plan.passes
    ]
    widest = max(columns)  # the same for all passes, so that products compile once
    if not any(not device.is_outer(f) for f in features):
        return None, outer
    width = min(device.WIDTH, math.ceil(widest / 128) * 128)
    slabs = math.ceil(widest / width)
    return jnp.zeros((slabs, padded, width), dtype), outer
