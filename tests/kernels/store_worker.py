"""Writes a Gram matrix to a folder: `python store_worker.py FOLDER [BYTES]`.

With BYTES no file may grow beyond so many, as on a disk that is full.
"""

import resource
import sys

import jax
import jax.numpy as jnp
import numpy as np

import tangentlab as tl

N = 4096
MEMORY = 2**23  # makes panels small: tiles for seconds of work


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


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))
    tl.gram(apply, *problem(), memory=MEMORY, store=sys.argv[1])
