r"""A small number before the output, which the theorem of Arora et al. asks for.

Regression with the infinite kernel starts from 0; a network does not. Its output is
multiplied by $\kappa$, so that what it starts from shrinks. Then its weights have to
move by $1 / \kappa$ as much, which they may if the network is wide: the theorem wants
width polynomial in $1 / \kappa$.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from ..._types import Params, PRNGKey
from ...infinite import Layer
from ..stages.points import Points


def multiplied_gaps(
    layer: Layer,
    points: Points,
    multipliers: tuple[float, ...],
    keys: Key[Array, " s"],
    rate: float,
    num_steps: int,
    regression: Float[np.ndarray, "m 1"],
) -> dict[str, Float[np.ndarray, "s k"]]:
    r"""Train networks whose output is multiplied, and compare them with regression.

    The learning rate is divided by $\kappa^2$, as the kernel is multiplied by it, so
    that outputs move alike for all $\kappa$.

    Args:
        layer: The network.
        points: Samples and targets.
        multipliers: The $\kappa$.
        keys: Draw the initializations.
        rate: Learning rate at $\kappa = 1$.
        num_steps: Steps of gradient descent.
        regression: What the infinite kernel predicts at test samples, from 0.

    Returns:
        Root mean squares at test samples over that of the targets: `gaps` between
        trained network and regression, `starts` of the outputs before training.

    Raises:
        ValueError: If training diverged.
    """
    model = layer.model(points.x.shape[1:])
    x, y, x_test = (jnp.asarray(a) for a in (points.x, points.y, points.x_test))
    wanted, unit = jnp.asarray(regression), jnp.sqrt(jnp.mean(y**2))

    def scaled(start: Params, factor: Array) -> Array:
        def loss(params: Params) -> Array:
            residual = factor * model.apply(params, x) - y
            return jnp.sum(residual**2) / (2 * len(y))

        def step(_: Any, params: Params) -> Params:
            slopes = jax.grad(loss)(params)
            return jax.tree.map(lambda p, g: p - rate / factor**2 * g, params, slopes)

        end = jax.lax.fori_loop(0, num_steps, step, start)
        parts = (
            factor * model.apply(end, x_test) - wanted,
            factor * model.apply(start, x_test),
        )
        return jnp.stack([jnp.sqrt(jnp.mean(part**2)) / unit for part in parts])

    def one(key: PRNGKey) -> Array:
        start = model.init(key)
        factors = jnp.asarray(multipliers, x.dtype)
        return jax.lax.map(lambda factor: scaled(start, factor), factors)

    found = np.asarray(jax.jit(lambda keys: jax.lax.map(one, keys))(keys))
    if not np.isfinite(found).all():
        raise ValueError(
            f"Training with the multipliers {multipliers} diverged: the smaller they "
            "are, the more the kernel grows. Leave out the smallest, or widen the "
            "networks."
        )
    return {"gaps": found[..., 0], "starts": found[..., 1]}
