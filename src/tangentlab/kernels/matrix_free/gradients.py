"""Multiplying by a Jacobian through gradients of single examples: many vectors.

The backward pass does not depend on the vectors: it runs once for each output and
leaves the gradient of each example, formed, or factored where an example has a single
position. What is left for each vector is a plain product.
"""

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..._types import AnyArray
from ..features import Feature, Outer, Rows, Source, Values, Whole, compute
from ..forms import cost
from ..planning import _activation_bytes
from ..preparing import Prepared
from .routes import Route

_MOST = 256


def through_gradients(prepared: Prepared) -> Route:
    """The route through gradients of single examples.

    Args:
        prepared: The network, read, with values of its parameters.

    Returns:
        The route, which takes the mean over outputs unless all are wanted.
    """
    network, problem = prepared.network, prepared.problem
    source, c = network.source, problem.num_outputs
    features = features_for(prepared)
    make = _functions if prepared.traced else _compiled
    pull, push = make(source, features, problem.full)
    kept = sum(cost(source, feature, c).numbers for feature in features)
    sites = sum(f.piece.fan_out for f in features if isinstance(f, Outer))

    def bytes_per_example(width: int) -> int:
        made = 2 * kept + width * sites * c
        return _activation_bytes(source, problem) + made * problem.itemsize

    return Route(
        shapes=[
            shape if problem.full else (c, *shape)
            for shape in (_shape(network.values, feature) for feature in features)
        ],
        most=_MOST,
        bytes_per_example=bytes_per_example,
        pull=lambda total, x, weights: pull(total, network.values, x, weights),
        push=lambda total, x: push(total, network.values, x),
    )


def features_for(prepared: Prepared) -> tuple[Feature, ...]:
    """The features of this route: rows, where an example has several positions.

    Args:
        prepared: The network, read.

    Returns:
        The features.
    """

    def one(feature: Feature) -> Feature:
        if isinstance(feature, Whole):
            return feature
        piece = feature.piece
        return Outer(piece) if piece.positions == 1 else Rows(piece, 0, piece.fan_out)

    return tuple(map(one, prepared.features))


def _shape(values: Values, feature: Feature) -> tuple[int, ...]:
    """Of one vector, in the layout of a feature."""
    if isinstance(feature, Outer):
        return feature.piece.groups, feature.piece.fan_in, feature.piece.fan_out
    if isinstance(feature, Rows):
        return (feature.piece.size,)
    return (sum(values.leaves[leaf].size for leaf in feature.leaves),)


@lru_cache(maxsize=32)
def _compiled(source: Source, features: tuple[Feature, ...], full: bool):
    pull, push = _functions(source, features, full)
    return jax.jit(pull, donate_argnums=0), jax.jit(push)


def _functions(source: Source, features: tuple[Feature, ...], full: bool):
    """The route's two maps; vectors are `(k, c, ...)`, or `(k, ...)` in full."""
    w, v = ("bck", "k") if full else ("bk", "kc")

    def gradients(values: Values, x: list[Array], dtype: Any):
        made = compute(source, features, values, x)
        return [tuple(array.astype(dtype) for array in arrays) for arrays in made]

    def pull(total: list[Array], values: Values, x: list[Array], weights: AnyArray):
        sums = []
        made = gradients(values, x, weights.dtype)
        for feature, arrays, so_far in zip(features, made, total, strict=True):
            if isinstance(feature, Outer):
                A, D = (array[..., 0, :] for array in arrays)
                weighed = _dot(f"bcgo,{w}->b{v}go", D, weights)
                part = _dot(f"bgi,b{v}go->{v}gio", A, weighed)
            else:
                part = _dot(f"bcq,{w}->{v}q", arrays[0], weights)
            sums.append(so_far + part)
        return sums

    def push(total: list[Array], values: Values, x: list[Array]):
        parts = []
        made = gradients(values, x, total[0].dtype)
        for feature, arrays, vectors in zip(features, made, total, strict=True):
            if isinstance(feature, Outer):
                A, D = (array[..., 0, :] for array in arrays)
                met = _dot(f"bgi,{v}gio->b{v}go", A, vectors)
                parts.append(_dot(f"b{v}go,bcgo->{w}", met, D))
            else:
                parts.append(_dot(f"bcq,{v}q->{w}", arrays[0], vectors))
        outputs = sum(parts[1:], parts[0])
        return outputs if full else outputs / made[0][-1].shape[1]

    return pull, push


def _dot(formula: str, *arrays: AnyArray) -> Array:
    return jnp.einsum(formula, *arrays, precision="highest")
