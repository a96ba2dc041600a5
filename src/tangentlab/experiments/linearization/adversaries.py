"""Weights at which a network of one hidden layer is far from its linearization."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from ... import theory
from ..._types import PRNGKey


class SmoothActivation(NamedTuple):
    """An activation with a bounded second derivative.

    Attributes:
        function: Elementwise.
        curvature: The bound.
    """

    function: Callable[[Array], Array]
    curvature: float


SMOOTH: dict[str, SmoothActivation] = {
    "tanh": SmoothActivation(jnp.tanh, theory.TANH_CURVATURE),
    "sine": SmoothActivation(jnp.sin, 1.0),
    "softplus": SmoothActivation(jax.nn.softplus, 0.25),
}
"""The smooth activations, by name."""


def search_smooth(
    name: str,
    width: int,
    dim: int,
    radius: float,
    keys: Key[Array, " s"],
    *,
    num_starts: int,
    num_steps: int,
) -> Float[np.ndarray, " s"]:
    """Look for the largest linearization error in a ball, by gradient ascent.

    Args:
        name: The activation.
        width: Hidden units.
        dim: Dimension of the input, a random one of norm 1.
        radius: Of the ball.
        keys: One for each initialization.
        num_starts: Points from which ascent sets out.
        num_steps: Its steps from each.

    Returns:
        The largest error found with each initialization.
    """

    def one(key: PRNGKey) -> Array:
        weights, sample, search = jax.random.split(key, 3)
        a, W_0 = theory.draw_two_layer(weights, width, dim)
        z = jax.random.normal(sample, (1, dim))
        x = z / jnp.linalg.norm(z)
        apply = theory.two_layer(a, SMOOTH[name].function)
        counts = {"num_starts": num_starts, "num_steps": num_steps}
        found = theory.search_gap(apply, W_0, x, radius, key=search, **counts)
        return found.gaps[0]

    return np.asarray(jax.jit(lambda keys: jax.lax.map(one, keys))(keys))


def largest_relu_gaps(
    width: int, radius: float, num_draws: int, seed: tuple[int, ...]
) -> Float[np.ndarray, " s"]:
    """The largest linearization error of ReLU networks in a ball, exactly.

    Only motion along the input counts, so that inputs of two dimensions stand for any.

    Args:
        width: Hidden units.
        radius: Of the ball.
        num_draws: Initializations.
        seed: Draws them.

    Returns:
        The largest error of each initialization.
    """
    rng = np.random.default_rng(seed)
    x = np.array([0.6, 0.8])
    gaps = []
    for _ in range(num_draws):
        a = rng.choice([-1.0, 1.0], width)
        W_0 = rng.normal(size=(width, 2))
        gaps.append(theory.relu_largest_gap(W_0, a, x, radius).gap)
    return np.array(gaps)
