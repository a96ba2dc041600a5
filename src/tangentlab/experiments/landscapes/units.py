"""Gradient descent of one ReLU unit, and of a sum of them, on one sample."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ... import theory


def descend_units(
    starts: Float[np.ndarray, " s"], rate: float, num_steps: int
) -> Float[np.ndarray, " s"]:
    r"""Gradient descent on `theory.relu_unit_loss` from many starts.

    Args:
        starts: Weights to start from.
        rate: Learning rate.
        num_steps: Number of steps.

    Returns:
        Where each ends.
    """
    gradient = jax.vmap(jax.grad(theory.relu_unit_loss))
    step = jax.jit(lambda w: w - rate * gradient(w))
    w = jnp.asarray(starts)
    for _ in range(num_steps):
        w = step(w)
    return np.asarray(w)


def stuck_shares(
    counts: tuple[int, ...],
    num_draws: int,
    rate: float,
    num_steps: int,
    rng: np.random.Generator,
) -> Float[np.ndarray, " m"]:
    r"""How often descent of $\sum_j \mathrm{ReLU}(w_j x)$ on (1, 1) never gets there.

    Args:
        counts: Numbers of units.
        num_draws: Standard normal starts for each.
        rate: Learning rate for one unit; it is divided by the number of units.
        num_steps: Number of steps.
        rng: Draws the starts.

    Returns:
        The share of starts whose loss is still above a hundredth.
    """
    shares = []
    for num in counts:
        w = rng.normal(size=(num_draws, num))
        for _ in range(num_steps):
            residual = np.maximum(w, 0).sum(axis=1, keepdims=True) - 1
            w = w - rate / num * residual * (w > 0)
        loss = (np.maximum(w, 0).sum(axis=1) - 1) ** 2 / 2
        shares.append(float((loss > 0.01).mean()))
    return np.array(shares)
