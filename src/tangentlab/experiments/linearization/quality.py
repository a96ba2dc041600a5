"""Linearization error along the direction in which gradient descent sets out."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from ..._types import PRNGKey
from ...infinite import Tanh, fc
from ...models import linearize


def relative_gaps(
    depth: int,
    width: int,
    num_samples: int,
    dim: int,
    distances: Sequence[float],
    keys: Key[Array, " s"],
) -> Float[np.ndarray, "s k"]:
    r"""How wrong a linearization is about the change of outputs.

    $$\|f_\theta - \hat f_\theta\| \,/\, \|\hat f_\theta - f_{\theta_0}\|$$

    over samples, with $\theta$ moved from $\theta_0$ along the negative gradient of the
    square loss of random targets.

    Args:
        depth: Hidden layers, of tanh.
        width: Their units.
        num_samples: Samples, of the norm of the root of the dimension.
        dim: Their dimension.
        distances: How far parameters move.
        keys: One for each initialization.

    Returns:
        The relative error, a row per initialization and a column per distance.
    """
    layer = fc(depth, width, activation=Tanh(), weight_std=1.0)
    model = layer.model((dim,))
    lengths = jnp.asarray(distances, float)

    def one(key: PRNGKey) -> Array:
        weights, samples, targets = jax.random.split(key, 3)
        z = jax.random.normal(samples, (num_samples, dim))
        x = z * (dim**0.5 / jnp.linalg.norm(z, axis=1, keepdims=True))
        y = jax.random.normal(targets, (num_samples, 1))
        start, restore = ravel_pytree(model.init(weights))
        linear = linearize(model.apply, restore(start))
        f_0 = model.apply(restore(start), x)

        def loss(theta: Array) -> Array:
            return jnp.sum((model.apply(restore(theta), x) - y) ** 2)

        gradient = jax.grad(loss)(start)
        direction = -gradient / jnp.linalg.norm(gradient)

        def gap(length: Array) -> Array:
            params = restore(start + length * direction)
            predicted = linear(params, x)
            apart = jnp.linalg.norm(model.apply(params, x) - predicted)
            return apart / jnp.linalg.norm(predicted - f_0)

        return jax.lax.map(gap, lengths)

    return np.asarray(jax.jit(lambda keys: jax.lax.map(one, keys))(keys))
