"""Small hand-written networks, float64, for tests that must not depend on a library."""

import jax
import jax.numpy as jnp


def dense_params(key, sizes, dtype=jnp.float64):
    """Weights and biases of a fully connected network, as a list of dicts."""
    layers = []
    for fan_in, fan_out in zip(sizes[:-1], sizes[1:], strict=True):
        key, w, b = jax.random.split(key, 3)
        layers.append(
            {
                "w": jax.random.normal(w, (fan_in, fan_out), dtype) / fan_in**0.5,
                "b": 0.1 * jax.random.normal(b, (fan_out,), dtype),
            }
        )
    return layers


def dense_apply(params, x):
    """Fully connected network with tanh."""
    *hidden, last = params
    for layer in hidden:
        x = jnp.tanh(x @ layer["w"] + layer["b"][None])
    return x @ last["w"] + last["b"][None]
