r"""A search for weights at which a network is far from its linearization.

A bound that holds for all weights of a ball is tested by looking for the worst of them:
projected gradient ascent on the error, from random points of the sphere.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._checks import batch_size
from .._keys import AnyKey, as_key
from .._types import Apply, Inputs, Params
from ..models import linearize
from .checking import check_at_least, check_not_negative
from .vectors import flatten, unit


class GapSearch(eqx.Module):
    """The largest linearization errors that a search found.

    Attributes:
        gaps: The error at each sample, the norm over outputs.
        params: Where it was found: a pytree like the parameters, samples first.
    """

    gaps: Float[Array, " n"]
    params: Params


def search_gap(
    apply: Apply,
    params_0: Params,
    x: Inputs,
    radius: float | int,
    *,
    key: AnyKey,
    num_starts: int = 8,
    num_steps: int = 100,
) -> GapSearch:
    r"""Look for the largest error of a linearization in a ball, sample by sample.

    $$\max_{\|\theta - \theta_0\| \le B} \|f_\theta(x_i) - f_{\theta_0}(x_i)
      - J(x_i)(\theta - \theta_0)\|$$

    Each step follows the normalized gradient of the squared error and is projected back
    to the ball; steps shrink from the radius to 0. A lower limit of the maximum: close
    for smooth activations, while for ReLU ascent sees only the units that a start
    flipped, and `relu_largest_gap` is exact.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params_0: Where it is linearized.
        x: Samples along a leading axis.
        radius: $B$, over all differentiable parameters together.
        key: Draws the starts.
        num_starts: From how many points of the sphere, for each sample.
        num_steps: Steps from each.

    Returns:
        The largest errors met, and the parameters that have them.

    Reference:
        What it tries to break: Telgarsky, "Deep learning theory lecture notes", section
        4, in the UBC lecture (CPSC 532S, March 2022).
    """
    key = as_key(key)
    check_not_negative("radius", radius)
    check_at_least("num_starts", num_starts, 1)
    check_at_least("num_steps", num_steps, 1)
    center, restore = flatten(params_0)
    linear = linearize(apply, params_0)

    def squared_gap(move: Float[Array, " p"], row: Inputs) -> Float[Array, ""]:
        params = restore(center + move)
        batch = jax.tree.map(lambda leaf: leaf[None], row)
        return jnp.sum((apply(params, batch) - linear(params, batch)) ** 2)

    def best_of_starts(row_and_key):
        row, key = row_and_key
        draws = jax.random.normal(key, (num_starts, center.size), center.dtype)
        values, moves = jax.vmap(
            lambda draw: _ascend(
                lambda move: squared_gap(move, row), unit(draw), radius, num_steps
            )
        )(draws)
        return values.max(), moves[values.argmax()]

    keys = jax.random.split(key, batch_size("x", x))
    rows = jax.tree.map(jnp.asarray, x)
    search = jax.jit(lambda rows, keys: jax.lax.map(best_of_starts, (rows, keys)))
    values, moves = search(rows, keys)
    params = jax.vmap(lambda move: restore(center + move))(moves)
    return GapSearch(jnp.sqrt(values), params)


def _ascend(
    height: Callable[[Array], Array],
    direction: Float[Array, " p"],
    radius: float | int,
    num_steps: int,
) -> tuple[Float[Array, ""], Float[Array, " p"]]:
    """Return the largest value met by ascent from a point of the sphere, and where."""

    def step(i, state):
        move, best, found = state
        value, slope = jax.value_and_grad(height)(move)
        found = jnp.where(value > best, move, found)
        length = radius * (1 - jnp.asarray(i, move.dtype) / num_steps)
        move = _into_ball(move + length * unit(slope), radius)
        return move, jnp.maximum(value, best), found

    begin = radius * direction, jnp.zeros((), direction.dtype), 0 * direction
    move, best, found = jax.lax.fori_loop(0, num_steps, step, begin)
    last = height(move)
    return jnp.maximum(last, best), jnp.where(last > best, move, found)


def _into_ball(vector: Float[Array, " p"], radius: float | int) -> Float[Array, " p"]:
    norm = jnp.linalg.norm(vector)
    return vector * jnp.where(norm > radius, radius / jnp.where(norm > 0, norm, 1), 1)
