"""Networks of the kernel limit experiment, finite and infinite."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from ... import theory
from ..._types import PRNGKey
from ...infinite import Tanh, fc
from ...kernels import gram

_DEEP = 3


class Network(NamedTuple):
    """A family of networks, one for each width.

    Attributes:
        draw: `draw(key, x, width)`, the tangent kernel of one initialization.
        limit: `limit(x)`, that of infinite width.
    """

    draw: Callable[[PRNGKey, Array, int], Float[Array, "n n"]]
    limit: Callable[[Array], Float[Array, "n n"]]


def _first_layer(key: PRNGKey, x: Array, width: int) -> Array:
    a, W = theory.draw_two_layer(key, width, x.shape[1])
    return gram(theory.two_layer(a), W, x)


def _two_layers(key: PRNGKey, x: Array, width: int) -> Array:
    outer, inner = jax.random.split(key)
    params = {
        "a": jax.random.normal(outer, (width,)),
        "W": jax.random.normal(inner, (width, x.shape[1])),
    }
    return gram(theory.two_layer_both(), params, x)


def _layers(depth: int, **options) -> Network:
    def draw(key: PRNGKey, x: Array, width: int) -> Array:
        model = fc(depth, width, **options).model(x.shape[1:])
        return gram(model.apply, model.init(key), x * x.shape[1] ** 0.5)

    def limit(x: Array) -> Array:
        return fc(depth, **options).ntk(x * x.shape[1] ** 0.5)

    return Network(draw, limit)


NETWORKS: dict[str, Network] = {
    "first layer": Network(_first_layer, theory.first_layer_kernel),
    "two layers": Network(_two_layers, theory.both_layers_kernel),
    "tanh": _layers(1, activation=Tanh(), weight_std=1.0),
    "deep": _layers(_DEEP),
}
"""The networks, by name."""


def draw_errors(
    network: Network, x: Float[np.ndarray, "n d"], width: int, keys: Key[Array, " s"]
) -> Float[np.ndarray, " s"]:
    r"""Distance of finite kernels from the infinite one.

    Args:
        network: The family.
        x: Samples.
        width: The width.
        keys: One for each draw.

    Returns:
        $\|K_m - K\|_F / \|K\|_F$ of each draw.
    """
    samples = jnp.asarray(x)
    K = network.limit(samples)

    def error(key: PRNGKey) -> Array:
        return jnp.linalg.norm(network.draw(key, samples, width) - K)

    errors = jax.jit(lambda keys: jax.lax.map(error, keys))(keys)
    return np.asarray(errors / jnp.linalg.norm(K))


def draw_fluctuations(
    depth: int, width: int, num_draws: int, key: PRNGKey
) -> dict[str, np.ndarray]:
    """The kernel of one sample with itself, over initializations of a ReLU network.

    Args:
        depth: Hidden layers.
        width: Their units.
        num_draws: Initializations.
        key: Draws them.

    Returns:
        `kernel`, and `norm`: the squared norm of the last hidden layer, which is the
        part of the kernel that the output weights have.
    """
    model = fc(depth, width).model((width,))
    x = jnp.ones((1, width))

    def one(key: PRNGKey) -> tuple[Array, Array]:
        slopes = jax.grad(lambda p: model.apply(p, x)[0, 0])(model.init(key))
        parts = [jnp.sum(leaf**2) for leaf in jax.tree.leaves(slopes)]
        return jnp.stack(parts).sum(), parts[-1]

    keys = jax.random.split(key, num_draws)
    kernel, norm = jax.jit(lambda keys: jax.lax.map(one, keys))(keys)
    return {"kernel": np.asarray(kernel), "norm": np.asarray(norm)}
