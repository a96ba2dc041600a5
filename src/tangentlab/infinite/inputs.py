"""Covariances of the inputs: products of examples, divided by the channels."""

import jax.numpy as jnp
from jaxtyping import Array

from .covariance import Covariance, from_matrix
from .flow import Batch, side_of
from .signal import Need

_FEW = 8  # channels up to which products are added one by one


def own_input(batch: Batch, need: Need) -> Covariance:
    """Covariance of each example with itself.

    Args:
        batch: The examples.
        need: What is needed of it.

    Returns:
        The covariance, with one axis of examples.
    """
    x = jnp.asarray(batch.x)
    side = side_of(batch)
    if need == Need.PAIRS:
        flat = x.reshape(len(x), -1, x.shape[-1])
        k = from_matrix(flat @ flat.swapaxes(1, 2), x.shape[1:-1])
    else:
        k = (x * x).sum(-1)
    same = jnp.ones(len(x), x.dtype)
    return Covariance(k / x.shape[-1], None, (side, side), same)


def cross_input(
    batch_1: Batch, batch_2: Batch, need: Need, same: Array | None
) -> Covariance:
    """Covariance of two sets of examples.

    Args:
        batch_1: Examples along the rows.
        batch_2: Examples along the columns.
        need: What is needed of it.
        same: 1 where row and column are the same example; None if nowhere.

    Returns:
        The covariance, with two axes of examples.
    """
    x_1, x_2 = jnp.asarray(batch_1.x), jnp.asarray(batch_2.x)
    channels = x_1.shape[-1]
    if x_1.ndim == 2:
        k = x_1 @ x_2.T
    elif need == Need.PAIRS:
        flat_1, flat_2 = (x.reshape(-1, channels) for x in (x_1, x_2))
        size = len(flat_1) // len(x_1)
        k = (flat_1 @ flat_2.T).reshape(len(x_1), size, len(x_2), size)
        k = from_matrix(k.swapaxes(1, 2), x_1.shape[1:-1])
    elif channels <= _FEW:
        parts = [x_1[:, None, ..., c] * x_2[None, ..., c] for c in range(channels)]
        k = sum(parts[1:], start=parts[0])
    else:
        k = jnp.einsum("a...c,b...c->ab...", x_1, x_2)
    first, second = side_of(batch_1), side_of(batch_2)
    sides = (
        first._replace(**{n: v[:, None] for n, v in _there(first)}),
        second._replace(**{n: v[None] for n, v in _there(second)}),
    )
    return Covariance(k / channels, None, sides, same)


def _there(side) -> list[tuple[str, Array]]:
    return [(name, v) for name, v in side._asdict().items() if v is not None]
