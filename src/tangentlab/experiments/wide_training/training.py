"""Full-batch gradient descent of one width, all seeds in one compiled program."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from ..._types import Params, PRNGKey
from ...infinite import Layer
from ...kernels import gram
from ..stages.points import Points


class Trained(NamedTuple):
    r"""Networks of one width before and after training, a row for each seed.

    Attributes:
        f_0: Outputs before training, train then test samples.
        f_T: After it.
        K_0: Tangent kernel before training, of all samples.
        change: $\|K_t - K_0\|_F$ at each look.
        loss: Mean square loss, halved, at each look.
        distance: Of the parameters from the initial ones, at the end.
    """

    f_0: Float[np.ndarray, "s k 1"]
    f_T: Float[np.ndarray, "s k 1"]
    K_0: Float[np.ndarray, "s k k"]
    change: Float[np.ndarray, "s l"]
    loss: Float[np.ndarray, "s l"]
    distance: Float[np.ndarray, " s"]


def train_width(
    layer: Layer,
    points: Points,
    keys: Key[Array, " s"],
    rate: float,
    num_steps: int,
    num_looks: int,
) -> Trained:
    """Train networks of one width, a random key each.

    Args:
        layer: The network.
        points: Samples and targets.
        keys: Draw the initializations.
        rate: Learning rate.
        num_steps: Steps; those that do not fill a look come before the first.
        num_looks: How often the kernel is looked at.

    Returns:
        What became of them.

    Raises:
        ValueError: If training diverged.
    """
    model = layer.model(points.x.shape[1:])
    x, y = jnp.asarray(points.x), jnp.asarray(points.y)
    everything = jnp.concatenate([x, jnp.asarray(points.x_test)])

    def loss(params: Params):
        return jnp.sum((model.apply(params, x) - y) ** 2) / (2 * len(y))

    def step(_: Any, params: Params) -> Params:
        slopes = jax.grad(loss)(params)
        return jax.tree.map(lambda p, g: p - rate * g, params, slopes)

    def one(key: PRNGKey):
        start = model.init(key)
        K_0 = gram(model.apply, start, everything)

        def look(params: Params, steps):
            params = jax.lax.fori_loop(0, steps, step, params)
            moved = gram(model.apply, params, everything) - K_0
            return params, (jnp.linalg.norm(moved), loss(params))

        each, rest = divmod(num_steps, num_looks)
        counts = jnp.full(num_looks, each).at[0].add(rest)
        end, (change, losses) = jax.lax.scan(look, start, counts)
        moves = jax.tree.map(lambda p, q: jnp.sum((p - q) ** 2), end, start)
        distance = jnp.sqrt(sum(jax.tree.leaves(moves)))
        f_0, f_T = (model.apply(params, everything) for params in (start, end))
        return f_0, f_T, K_0, change, losses, distance

    made = jax.jit(lambda keys: jax.lax.map(one, keys))(keys)
    trained = Trained(*(np.asarray(part, np.float64) for part in made))
    if not np.isfinite(trained.loss).all():
        raise ValueError(
            f"Training at the rate {rate:.3g}, half the largest stable one of infinite "
            "width, diverged: kernels of networks this narrow may be much larger. "
            "Leave out the smallest widths."
        )
    return trained
