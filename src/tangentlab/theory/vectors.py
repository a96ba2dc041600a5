"""Parameters as one vector, for searches and flows that want directions."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from .._types import Params
from ..models.trees import split_differentiable


def flatten(
    params: Params,
) -> tuple[Float[Array, " p"], Callable[[Float[Array, " p"]], Params]]:
    """Put all differentiable parameters into one vector.

    Args:
        params: Any pytree; integer leaves are buffers and stay out of the vector.

    Returns:
        The vector, and a function that makes parameters of such a vector again.
    """
    start, buffers = split_differentiable(jax.tree.map(jnp.asarray, params))
    center, rebuild = ravel_pytree(start)

    def restore(vector: Float[Array, " p"]) -> Params:
        return eqx.combine(rebuild(vector), buffers)

    return center, restore


def unit(array: Float[Array, "..."]) -> Float[Array, "..."]:
    """Divide an array by its Euclidean norm.

    Args:
        array: Of any shape.

    Returns:
        An array of norm 1; zeros stay zeros.
    """
    norm = jnp.sqrt(jnp.sum(array**2))
    return jnp.where(norm > 0, array / jnp.where(norm > 0, norm, 1), 0)
