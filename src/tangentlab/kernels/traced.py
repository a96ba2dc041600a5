"""The Gram matrix as one traced expression, for use under `jit`, `grad` and `vmap`."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import AnyArray
from .features import Feature, Outer, Source, Values, Whole, compute
from .network import Network
from .planning import Problem


def gram(
    network: Network,
    features: Sequence[Feature],
    problem: Problem,
    x: Sequence[Sequence[AnyArray]],
) -> Array:
    """The Gram matrix, without panels or checks of values.

    Args:
        network: The network.
        features: Its features.
        problem: The size of the computation.
        x: Arrays of the examples along the rows, and of those along the columns.

    Returns:
        The mean over outputs `(n, m)`, or `(n, c, m, c)` in full.
    """
    left, right = _both_sides(network, features, problem, x)
    K, c = sum_of_products(features, left, right, problem), problem.num_outputs
    shape = (problem.n, c, problem.m, c) if problem.full else (problem.n, problem.m)
    return _mirrored(jnp.broadcast_to(K, shape), problem)  # 0 where nothing trains


def by_leaf(
    network: Network,
    features: Sequence[Feature],
    problem: Problem,
    x: Sequence[Sequence[AnyArray]],
) -> dict[int, Array]:
    """Gram matrices of single leaves, without panels or checks of values.

    Args:
        network: The network.
        features: Its features, each of one leaf.
        problem: The size of the computation.
        x: Arrays of the examples along the rows, and of those along the columns.

    Returns:
        Gram matrices by leaf.
    """
    left, right = _both_sides(network, features, problem, x)
    parts: dict[int, Array] = {}
    for feature, a, b in zip(features, left, right, strict=True):
        leaf, K = leaf_of(feature), sum_of_products([feature], [a], [b], problem)
        parts[leaf] = parts[leaf] + K if leaf in parts else K
    return {leaf: _mirrored(K, problem) for leaf, K in parts.items()}


def leaf_of(feature: Feature) -> int:
    """The leaf of a feature that belongs to one alone.

    Args:
        feature: The feature.

    Returns:
        Position of the leaf.
    """
    return feature.leaves[0] if isinstance(feature, Whole) else feature.piece.leaf


def _both_sides(network: Network, features, problem: Problem, x) -> tuple[list, list]:
    """Features of the examples along the rows, and along the columns."""
    sides = x[:1] if problem.symmetric else x
    made = [
        compute(network.source, features, network.values, [jnp.asarray(a) for a in one])
        for one in sides
    ]
    return made[0], made[-1]


def _mirrored(K: Array, problem: Problem) -> Array:
    if problem.full or not problem.symmetric:
        return K
    return jnp.tril(K) + jnp.tril(K, -1).T


def sum_of_products(
    features: Sequence[Feature], left: Sequence, right: Sequence, problem: Problem
) -> Array:
    """The Gram matrix of features that were formed.

    Args:
        features: The features.
        left: Arrays of each, along the rows.
        right: Arrays of each, along the columns.
        problem: Whether outputs are kept apart, and how exact the result is.

    Returns:
        The mean over outputs `(n, m)`, or `(n, c, m, c)` in full.
    """
    formula = "ncmd->ncmd" if problem.full else "ncmc->nm"
    dtype = jnp.float64 if problem.itemsize == 8 else jnp.float32
    K = jnp.zeros((), dtype)
    for feature, *sides in zip(features, left, right, strict=True):
        a, b = (widened(arrays, dtype) for arrays in sides)
        K = K + _product(feature, a, b, formula).astype(dtype)
    return K if problem.full else K / problem.num_outputs


def _product(feature: Feature, left, right, formula: str) -> Array:
    """A feature's part of the kernel of all outputs, reduced by the formula."""
    rows, result = formula.split("->")
    if not isinstance(feature, Outer):
        n, c, m, d = rows
        return _dot(f"{n}{c}p,{m}{d}p->{result}", left[0], right[0])
    n, c, m, d = rows
    (A, D), (B, E) = left, right
    T = _dot("ngpi,mgqi->ngpmq", A, B)
    S = f"{n}{c}gpo,{m}{d}gqo,ngpmq->{result}"
    return _dot(S, D, E, T.astype(D.dtype))


def energies(
    source: Source, features: Sequence[Feature], values: Values, x: Sequence[AnyArray]
) -> Float[Array, " n"]:
    """Squared norms of the gradients, the mean over outputs.

    Args:
        source: The network.
        features: Its features.
        values: Values of the parameters.
        x: Arrays of the batch.

    Returns:
        One number per example.
    """
    total, num_outputs = jnp.zeros(len(x[0])), 1
    for feature, made in zip(
        features, compute(source, features, values, x), strict=True
    ):
        arrays = widened(made, jnp.float32)
        if isinstance(feature, Outer):
            A, D = arrays
            T, num_outputs = _dot("ngpi,ngqi->ngpq", A, A), D.shape[1]
            part = _dot("ncgpo,ncgqo,ngpq->n", D, D, T.astype(D.dtype))
        else:
            (R,) = arrays
            part, num_outputs = _dot("ncp,ncp->n", R, R), R.shape[1]
        total = total.astype(part.dtype) + part
    return total / num_outputs


def diagonal(network: Network, features: Sequence[Feature], x: Sequence[AnyArray]):
    """The diagonal of the Gram matrix, without checks of values.

    Args:
        network: The network.
        features: Its features.
        x: Arrays of the examples.

    Returns:
        One number per example.
    """
    batch = [jnp.asarray(a) for a in x]
    return energies(network.source, features, network.values, batch)


def widened(arrays: Sequence[Array], dtype: Any) -> list[Array]:
    """Arrays in a type at least this wide.

    Sums of squares of 16-bit numbers are no 16-bit numbers: float16 ends at 65,504, and
    bfloat16 has 8 bits for all of a sum.

    Args:
        arrays: Real arrays.
        dtype: The narrowest type of the result.

    Returns:
        The arrays; wider ones as they are.
    """
    least = jnp.finfo(dtype).bits
    return [a if jnp.finfo(a.dtype).bits >= least else a.astype(dtype) for a in arrays]


def _dot(formula: str, *arrays: Array) -> Array:
    return jnp.einsum(formula, *arrays, precision="highest", optimize="optimal")
