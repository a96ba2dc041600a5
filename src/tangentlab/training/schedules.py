"""How the learning rate moves during training, as a share of its largest value."""

from collections.abc import Callable
from typing import Literal

import jax.numpy as jnp
from jaxtyping import Array, Float

ScheduleName = Literal["linear", "constant", "one_cycle"]

Schedule = Callable[[Float[Array, ""]], Float[Array, ""]]
"""From the share of steps done, in [0, 1), to the share of the rate, in [0, 1]."""

_WARM_UP = 0.3  # share of all steps in which the rate of a cycle rises
_FIRST = 0.04  # where it starts


def linear(done: Float[Array, ""]) -> Float[Array, ""]:
    """Fall from 1 to 0 along a line.

    Args:
        done: Share of steps done.

    Returns:
        Share of the rate.
    """
    return 1 - done


def constant(done: Float[Array, ""]) -> Float[Array, ""]:
    """Stay at 1.

    Args:
        done: Share of steps done.

    Returns:
        Share of the rate.
    """
    return jnp.ones_like(done)


def one_cycle(done: Float[Array, ""]) -> Float[Array, ""]:
    """Rise from 0.04 to 1 in the first 30 % of the steps, then fall to 0, as cosines.

    Args:
        done: Share of steps done.

    Returns:
        Share of the rate.
    """
    rise = _FIRST + (1 - _FIRST) * _half_cosine(done / _WARM_UP)
    fall = 1 - _half_cosine((done - _WARM_UP) / (1 - _WARM_UP))
    return jnp.where(done < _WARM_UP, rise, fall)


def _half_cosine(part: Float[Array, ""]) -> Float[Array, ""]:
    return (1 - jnp.cos(jnp.pi * part)) / 2


SCHEDULES: dict[ScheduleName, Schedule] = {
    "linear": linear,
    "constant": constant,
    "one_cycle": one_cycle,
}
