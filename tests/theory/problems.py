"""Random networks and inputs by numpy: JAX would compile a generator for each shape."""

import jax.numpy as jnp
import numpy as np


def normal(seed, *shape):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape))


def sphere(seed, n, dim):
    """Uniform points of unit norm."""
    x = np.random.default_rng(seed).normal(size=(n, dim))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def two_layer_weights(seed, width, dim):
    """Output weights of random sign, and normal weights, as the theorems draw them."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=width)
    return jnp.asarray(signs), jnp.asarray(rng.normal(size=(width, dim)))
