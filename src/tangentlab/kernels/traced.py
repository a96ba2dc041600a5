"""The Gram matrix as one traced expression, for use under `jit`, `grad` and `vmap`."""

from collections.abc import Sequence

import jax.numpy as jnp
from jaxtyping import Array, Float

from .._types import AnyArray
from .features import Feature, Outer, Source, Values, compute
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
    batches = [[jnp.asarray(a) for a in side] for side in x]
    left = compute(network.source, features, network.values, batches[0])
    right = left
    if not problem.symmetric:
        right = compute(network.source, features, network.values, batches[1])
    K = sum_of_products(features, left, right, problem)
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
    for feature, a, b in zip(features, left, right, strict=True):
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
    total, num_outputs = jnp.zeros(()), 1
    for feature, arrays in zip(
        features, compute(source, features, values, x), strict=True
    ):
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


def _dot(formula: str, *arrays: Array) -> Array:
    return jnp.einsum(formula, *arrays, precision="highest", optimize="optimal")
