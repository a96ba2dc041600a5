"""A network and samples that every process of a test imports: 36 tiles."""

import jax
import jax.numpy as jnp
import numpy as np

N = 2048
TILES = 36
MEMORY = 2**23  # bytes a worker: makes panels small


def apply(params, x):
    """A convolution, pooling and two dense layers."""
    x = jax.lax.conv_general_dilated(
        x, params["kernel"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x = jnp.tanh(x).reshape(len(x), -1)
    return jnp.tanh(x @ params["first"]) @ params["second"] + params["bias"]


def problem():
    rng = np.random.default_rng(0)
    shapes = {
        "kernel": (3, 3, 1, 4),
        "first": (64, 32),
        "second": (32, 1),
        "bias": (1,),
    }
    params = {
        name: rng.normal(size=shape).astype(np.float32) / 4
        for name, shape in shapes.items()
    }
    return params, rng.normal(size=(N, 8, 8, 1)).astype(np.float32)
