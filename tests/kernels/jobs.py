"""A small computation, whole or cut, for tests of what runs it."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from tangentlab.kernels import engine
from tangentlab.kernels.forms import choose
from tangentlab.kernels.network import read
from tangentlab.kernels.packing import Problem
from tangentlab.kernels.planning import plan
from tangentlab.kernels.request import Request
from tests.networks import dense_apply, dense_params


def conv_apply(params, x):
    """A convolution (rows), a dense layer (outer), biases (whole)."""
    x = jax.lax.conv_general_dilated(
        x, params["k"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    x = jnp.tanh(x + params["b"][None, None, None])
    return dense_apply(params["dense"], x.reshape(x.shape[0], -1))


def conv_params(outputs=2):
    keys = jax.random.split(jax.random.key(0), 3)
    return {
        "k": jax.random.normal(keys[0], (3, 3, 2, 4)),
        "b": jax.random.normal(keys[1], (4,)),
        "dense": dense_params(keys[2], (5 * 5 * 4, 6, outputs)),
    }


X_1 = np.random.default_rng(1).normal(size=(11, 5, 5, 2))
X_2 = np.random.default_rng(2).normal(size=(7, 5, 5, 2))


def make_job(x_2=None, *, full=False, **changes):
    network = read(conv_apply, conv_params(), X_1, Request())
    n, m = len(X_1), len(X_1 if x_2 is None else x_2)
    problem = Problem(n, m, 2, x_2 is None, 8, 8, full)
    features = choose(network.source, network.differentiated, n, 2)
    made = plan(network.source, features, problem, None)
    made = dataclasses.replace(made, **changes)
    other = X_1 if x_2 is None else x_2
    return engine.Job(
        network.source, network.values, made, problem, [X_1], [other], "float32"
    )


def nothing(_):
    pass
