"""Kernels and networks that the tests of this room share; float64, answers dense."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

import tangentlab as tl
from tangentlab.kernels.tiled.tiles import Grid
from tests.helpers import jacobian_gram
from tests.networks import dense_apply, dense_params

N = 11


def positive(seed, n=N, rank=None):
    """A random positive semi-definite matrix with a strong constant part."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(n, n if rank is None else rank)) + 1.0
    return half @ half.T


def vectors(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def on_disk(folder, K, side=4):
    """The same matrix in tiles, lower triangle alone."""
    grid = Grid(folder, "seal", K.shape, True, K.dtype, side)
    for place in grid.places():
        grid.write(place, K[place])
    return tl.TiledGram(grid)


@functools.cache
def network(seed=0, num_outputs=1):
    """Parameters, samples, and the dense kernel `(n, c, n, c)` between all outputs."""
    keys = jax.random.split(jax.random.key(seed))
    params = dense_params(keys[0], (3, 5, num_outputs))
    x = jax.random.normal(keys[1], (N, 3), jnp.float64)
    dense = jax.jit(functools.partial(jacobian_gram, dense_apply))
    return params, x, np.asarray(dense(params, x))


def mean_kernel(full):
    return np.einsum("acbc->ab", full) / full.shape[1]


def conv_apply(params, x):
    """A convolution with positions, dense layers with one, biases that broadcast."""
    x = jax.lax.conv_general_dilated(
        x, params["k"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x = jnp.tanh(x + params["b"][None, None, None])
    return dense_apply(params["dense"], x.reshape(x.shape[0], -1))


def conv_params(num_outputs):
    keys = jax.random.split(jax.random.key(0), 3)
    return {
        "k": jax.random.normal(keys[0], (2, 2, 2, 2)),
        "b": jax.random.normal(keys[1], (2,)),
        "dense": dense_params(keys[2], (3 * 3 * 2, 4, num_outputs)),
    }


SHAPE = (3, 3, 2)
