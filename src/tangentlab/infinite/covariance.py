"""Covariances of two sets of examples on their way through a wide network.

An array of covariances has the axes of examples first, one if each example meets itself
alone and two if all meet all, then those of positions: `(height, width)` between equal
positions, `(height, height', width, width')` between all pairs.
"""

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from .signal import Need


class Side(NamedTuple):
    """What is known of the examples along one side, beside their values.

    Attributes:
        mask: 1 at the positions that are there and 0 elsewhere, `(..., *positions)`;
            None if all are.
        graph: Weights between nodes, `(..., nodes, nodes)`; None where there is none.
    """

    mask: Array | None = None
    graph: Array | None = None


class Covariance(NamedTuple):
    """Second moments of two sets of examples, at one place of the network.

    Attributes:
        nngp: Covariance of the outputs of one channel.
        ntk: The tangent kernel of the parameters so far; None if it is not wanted, or
            there were no parameters yet.
        sides: What else is known of the examples along either side.
        same: 1 where both sides are the same example, with the axes of examples alone;
            None if nowhere.
    """

    nngp: Array
    ntk: Array | None
    sides: tuple[Side, Side]
    same: Array | None


def map_arrays(covariance: Covariance, function) -> Covariance:
    """Apply a linear map to covariance and tangent kernel.

    Args:
        covariance: The covariance.
        function: The map.

    Returns:
        The covariance of what came out.
    """
    ntk = None if covariance.ntk is None else function(covariance.ntk)
    return covariance._replace(nngp=function(covariance.nngp), ntk=ntk)


def settled(arrays: Any) -> Any:
    """Write arrays down here, instead of fusing them into what comes next.

    What comes next reads each value several times, once for each offset of a window.
    XLA would compute it as many times: on a CPU a Myrtle kernel took 9 times as long.

    Args:
        arrays: A tree of arrays.

    Returns:
        The same.
    """
    return lax.optimization_barrier(arrays)


def spread(values: Array, side: int, rank: int) -> Array:
    """Values at the positions of one side, shaped to meet all pairs of positions.

    Args:
        values: `(..., *positions)`.
        side: 0 for the first position of each pair, 1 for the second.
        rank: Number of axes of positions.

    Returns:
        For two axes `(..., height, 1, width, 1)` or `(..., 1, height, 1, width)`.
    """
    first = values.ndim - rank
    new = [first + 2 * axis + (1 - side) for axis in range(rank)]
    return jnp.expand_dims(values, new)


def equal_positions(pairs: Array, rank: int) -> Array:
    """Covariances between equal positions, of those between all pairs.

    Args:
        pairs: `(..., height, height', width, width')`.
        rank: Number of axes of positions.

    Returns:
        `(..., height, width)`.
    """
    first = pairs.ndim - 2 * rank
    for _ in range(rank):  # what is taken out of the front is put at the end
        pairs = jnp.diagonal(pairs, axis1=first, axis2=first + 1)
    return pairs


def on_equal_positions(pairs: Array, positions: tuple[int, ...]) -> Array:
    """Zero between positions that are not equal.

    Args:
        pairs: `(..., height, height', width, width')`; axes of length 1 are repeated.
        positions: Number of positions along each axis.

    Returns:
        Values between all pairs.
    """
    for axis, size in enumerate(positions):
        at = pairs.ndim - 2 * (len(positions) - axis)
        others = [i for i in range(pairs.ndim) if i not in (at, at + 1)]
        pairs = pairs * jnp.expand_dims(jnp.eye(size, dtype=pairs.dtype), others)
    return pairs


def outer(first: Array, second: Array, rank: int, need: Need) -> tuple[Array, Array]:
    """Values of both sides, shaped to meet a covariance.

    Args:
        first: Values at the positions of the first side, `(..., *positions)`.
        second: Likewise of the second.
        rank: Number of axes of positions.
        need: What the covariance holds.

    Returns:
        Both, with as many axes as the covariance.
    """
    if need == Need.PAIRS:
        return spread(first, 0, rank), spread(second, 1, rank)
    return first, second


def masked(covariance: Covariance, rank: int, need: Need) -> Covariance:
    """Zero where a position is not there: biases and nonlinearities fill such places.

    Args:
        covariance: The covariance.
        rank: Number of axes of positions.
        need: What it holds.

    Returns:
        The covariance, unchanged if no side has a mask.
    """
    for side in range(2):
        mask = covariance.sides[side].mask
        if mask is None:
            continue
        shaped = spread(mask, side, rank) if need == Need.PAIRS else mask
        covariance = map_arrays(covariance, lambda k, m=shaped: k * m)
    return covariance


def reduced(covariance: Covariance, rank: int, have: Need, need: Need) -> Covariance:
    """The part of a covariance that is needed.

    Args:
        covariance: The covariance.
        rank: Number of axes of positions.
        have: What it holds.
        need: What is needed, at most that.

    Returns:
        A covariance that holds what is needed.
    """
    if have == Need.PAIRS and need == Need.SAME:
        return map_arrays(covariance, lambda k: equal_positions(k, rank))
    return covariance


def repeated(same: Array, rank: int, need: Need) -> Array:
    """Values of pairs of examples, shaped to meet a covariance.

    Args:
        same: Values with the axes of examples.
        rank: Number of axes of positions.
        need: What the covariance holds.

    Returns:
        The values with as many axes as the covariance.
    """
    more = 2 * rank if need == Need.PAIRS else rank
    return jnp.expand_dims(same, range(same.ndim, same.ndim + more))


def variances(covariance: Covariance, rank: int, need: Need) -> Float[Array, "..."]:
    """Variance at each position, of examples that meet themselves.

    Args:
        covariance: Of each example with itself.
        rank: Number of axes of positions.
        need: What it holds.

    Returns:
        `(n, *positions)`.
    """
    if need == Need.PAIRS:
        return equal_positions(covariance.nngp, rank)
    return covariance.nngp


def to_matrix(pairs: Array, positions: tuple[int, ...]) -> Array:
    """Covariances between all pairs of positions, as matrices.

    Args:
        pairs: `(..., height, height', width, width')`.
        positions: Number of positions along each axis.

    Returns:
        `(..., height x width, height' x width')`.
    """
    rank, size = len(positions), math.prod(positions)
    first = pairs.ndim - 2 * rank
    order = [*range(first, pairs.ndim, 2), *range(first + 1, pairs.ndim, 2)]
    moved = pairs.transpose(*range(first), *order)
    return moved.reshape(*pairs.shape[:first], size, size)


def from_matrix(matrix: Array, positions: tuple[int, ...]) -> Array:
    """The inverse of `to_matrix`.

    Args:
        matrix: `(..., height x width, height' x width')`.
        positions: Number of positions along each axis.

    Returns:
        `(..., height, height', width, width')`.
    """
    rank, first = len(positions), matrix.ndim - 2
    full = matrix.reshape(*matrix.shape[:first], *positions, *positions)
    order = [first + side * rank + axis for axis in range(rank) for side in range(2)]
    return full.transpose(*range(first), *order)
