r"""Features: arrays along the examples whose products add up to the kernel.

| feature | arrays for n examples | its part of the kernel |
|---|---|---|
| `Rows`, `Whole` | gradients `(n, c, q)` | $R R^\top$ |
| `Outer` | inputs $a$ `(n, g, p, i)`, deltas $\delta$ `(n, c, g, p, o)` | see below |

$$K_{nm} = \sum_{p, q} (a_{np} \cdot a_{mq}) (\delta_{np} \cdot \delta_{mq})$$

Both are exact. With one position per example `Outer` is the Hadamard product of two
small Gram matrices.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .._types import AnyArray
from .reading.backward import Factors, backward
from .reading.program import Program
from .reading.sites import Piece, Site


class Outer(NamedTuple):
    """A piece of a leaf, kept as inputs and deltas."""

    piece: Piece


class Rows(NamedTuple):
    """A slice of a piece of a leaf, its gradient formed.

    Attributes:
        piece: The piece.
        start: First output feature.
        stop: Output feature after the last.
    """

    piece: Piece
    start: int
    stop: int


class Whole(NamedTuple):
    """Leaves whose gradients are formed through the vjp of what is made of them.

    Attributes:
        leaves: The leaves.
    """

    leaves: tuple[int, ...]


Feature = Outer | Rows | Whole


def all_rows(piece: Piece) -> Rows:
    """The gradient of a whole piece.

    Args:
        piece: The piece.

    Returns:
        The feature.
    """
    return Rows(piece, 0, piece.fan_out)


@dataclass(frozen=True, eq=False)
class Source:
    """A network, read.

    Attributes:
        program: The network on one example.
        sites: Where weights enter it.
        elementwise: Leaves whose multiplier is an array, not one number.
        verified: What was compared with plain gradients already.
    """

    program: Program
    sites: tuple[Site, ...]
    elementwise: frozenset[int]
    verified: set[Any] = field(default_factory=set)


class Values(NamedTuple):
    """Values of the parameters.

    Attributes:
        leaves: Every leaf.
        roots: Square root of each leaf's multiplier; a scalar where it is one number.
    """

    leaves: Sequence[Array]
    roots: Sequence[Array]


def sites_of(source: Source, feature: Feature) -> tuple[int, ...]:
    """The sites a feature is made of.

    Args:
        source: The network.
        feature: The feature.

    Returns:
        Positions in the list of sites.
    """
    if isinstance(feature, Outer | Rows):
        return feature.piece.sites
    sites = enumerate(source.sites)
    return tuple(i for i, s in sites if s.leaves.intersection(feature.leaves))


def factors(source: Source, values: Values, x: Sequence[AnyArray]) -> Factors:
    """Inputs and deltas at every site, for a batch.

    Args:
        source: The network.
        values: Values of the parameters.
        x: Arrays of the batch, examples along the leading axis.

    Returns:
        Factors with examples along the leading axis.
    """
    weights = source.program.weights(values.leaves)

    def one(example: list[Any]) -> Factors:
        return backward(source.program, source.sites, weights, example)

    with jax.default_matmul_precision("highest"):
        return jax.vmap(one)(list(x))


def form(
    source: Source, feature: Feature, values: Values, made: Factors
) -> tuple[Array, ...]:
    """Form one feature of a batch.

    Args:
        source: The network.
        feature: Which one.
        values: Values of the parameters.
        made: Factors of the batch.

    Returns:
        The feature's arrays, examples along the leading axis.
    """
    with jax.default_matmul_precision("highest"):
        return jax.vmap(_maker(source, feature, values))(made)


def form_slice(
    source: Source, slice_: Rows, values: Values, made: Factors, start: Array
) -> Array:
    """Form some rows of a batch, of which it is known only when they are formed.

    Args:
        source: The network.
        slice_: Rows as wide as the slice; where they start does not matter.
        values: Values of the parameters.
        made: Factors of the batch, at the sites of the piece at least.
        start: First output feature. Where the slice would reach beyond the last, the
            features before it take the place and are zero: they were formed before.

    Returns:
        The rows, examples along the leading axis.
    """
    width = slice_.stop - slice_.start
    at = jnp.minimum(start, slice_.piece.fan_out - width)
    fresh = at + jnp.arange(width, dtype=jnp.int32) >= start

    def cut(deltas: Array) -> Array:
        part = jax.lax.dynamic_slice_in_dim(deltas, at, width, axis=-1)
        return jnp.where(
            jnp.broadcast_to(fresh, part.shape), part, jnp.zeros_like(part)
        )

    def one(factors: Factors) -> Array:
        return _gradient(source, slice_.piece, values, factors, cut)

    with jax.default_matmul_precision("highest"):
        return jax.vmap(one)(made)


def compute(
    source: Source, features: Sequence[Feature], values: Values, x: Sequence[AnyArray]
) -> list[tuple[Array, ...]]:
    """Compute features of a batch.

    Args:
        source: The network.
        features: Which features.
        values: Values of the parameters.
        x: Arrays of the batch, examples along the leading axis.

    Returns:
        For each feature its arrays, examples along the leading axis.
    """
    made = factors(source, values, x)
    return [form(source, feature, values, made) for feature in features]


def _maker(source: Source, feature: Feature, values: Values):
    """The function that makes a feature of one example's factors."""
    if isinstance(feature, Outer):
        return lambda factors: _outer(source, feature.piece, values, factors)
    if isinstance(feature, Rows):
        return lambda factors: (_rows(source, feature, values, factors),)
    pull = _pull_back(source, feature.leaves, values.leaves)
    return lambda factors: (_whole(source, feature, values, factors, pull),)


def _alike(a: Array, b: Array) -> tuple[Array, Array]:
    """Both in the wider type: a product may have one of its own for its result."""
    wide = max(a.dtype, b.dtype, key=lambda dtype: jnp.finfo(dtype).bits)
    return a.astype(wide), b.astype(wide)


def _cut(source: Source, number: int, factors: Factors) -> Array:
    """Deltas of a tap, `(c, g, p, o)`, with the factor of its chain."""
    site = source.sites[number]
    assert site.meeting is not None and site.chain is not None
    cut = jax.vmap(site.meeting.deltas)(factors.deltas[number])
    return cut if site.chain.factor == 1 else cut * site.chain.factor


def _outer(source: Source, piece: Piece, values: Values, factors: Factors):
    inputs, deltas = [], []
    for number in piece.sites:
        met = source.sites[number].meeting
        assert met is not None
        inputs.append(met.inputs(factors.inputs[number]))
        deltas.append(_cut(source, number, factors))
    A, D = _alike(jnp.concatenate(inputs, axis=1), jnp.concatenate(deltas, axis=2))
    return A, D * values.roots[piece.leaf].astype(D.dtype)


def _rows(source: Source, feature: Rows, values: Values, factors: Factors) -> Array:
    def cut(deltas: Array) -> Array:
        return deltas[..., feature.start : feature.stop]

    return _gradient(source, feature.piece, values, factors, cut)


def _gradient(source: Source, piece: Piece, values: Values, factors: Factors, cut):
    """Gradients of the outputs, `(c, columns)`, for the deltas that `cut` leaves."""
    total = None
    for number in piece.sites:
        met, a = source.sites[number].meeting, factors.inputs[number]
        assert met is not None
        deltas = cut(_cut(source, number, factors))
        part = jax.vmap(met.gradient, in_axes=(None, 0))(*_alike(a, deltas))
        total = part if total is None else total + part
    assert total is not None
    root = values.roots[piece.leaf].astype(total.dtype)
    return total.reshape(total.shape[0], -1) * root


class _Pull(NamedTuple):
    """The way back from weights at sites to leaves."""

    sites: list[int]
    vjp: Any


def _pull_back(source: Source, chosen: tuple[int, ...], leaves: Sequence[Array]):
    program, sites = source.program, source.sites
    used = [i for i, site in enumerate(sites) if site.leaves.intersection(chosen)]

    def weights_of(values: list[Array]) -> list[Array]:
        changed = list(leaves)
        for leaf, value in zip(chosen, values, strict=True):
            changed[leaf] = value
        made = program.weights(changed)
        return [made[sites[i].variable] for i in used]

    _, vjp = jax.vjp(weights_of, [leaves[leaf] for leaf in chosen])
    return _Pull(used, vjp)


def _whole(
    source: Source, feature: Whole, values: Values, factors: Factors, pull: _Pull
) -> Array:
    def one(deltas: list[Array]) -> Array:
        cotangents = []
        for number, delta in zip(pull.sites, deltas, strict=True):
            site = source.sites[number]
            if site.meeting is not None:
                cut = site.meeting.deltas(delta)
                formed = site.meeting.gradient(*_alike(factors.inputs[number], cut))
                dtype = source.program.shapes[site.variable].dtype
                delta = site.meeting.assemble(formed).astype(dtype)
            cotangents.append(delta)
        (gradients,) = pull.vjp(cotangents)
        weighted = [
            (gradient * values.roots[leaf].astype(gradient.dtype)).ravel()
            for leaf, gradient in zip(feature.leaves, gradients, strict=True)
        ]
        return jnp.concatenate(weighted)

    return jax.vmap(one)([factors.deltas[i] for i in pull.sites])
