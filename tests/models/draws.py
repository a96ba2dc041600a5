"""Random numbers from numpy: JAX would compile a generator for every shape."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np


def normal(shape, dtype=jnp.float64, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape), dtype)


def normal_like(tree, seed=0):
    """A pytree of the same shapes and dtypes, every leaf drawn anew."""
    seeds = itertools.count(1000 * seed)
    return jax.tree.map(lambda a: normal(a.shape, a.dtype, next(seeds)), tree)


def random_params(model, dtype=jnp.float64):
    """Parameters of which none is 0, so that none can hide."""
    shapes = jax.eval_shape(model.init, jax.random.key(0))
    draws = normal_like(shapes, seed=7)
    return jax.tree.map(lambda leaf: 0.3 * leaf.astype(dtype), draws)
