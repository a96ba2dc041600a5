"""Kernels with samples, and a real network with its kernels, for closed forms."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

import tangentlab as tl
from tests.networks import dense_apply, dense_params


class Case(NamedTuple):
    """Training samples, test samples and a kernel on both."""

    K: Any
    K_test: Any
    K_test_test: Any
    y: Any
    f_0: Any
    f_0_test: Any


def case(n=8, m=5, outputs=None, seed=0, full=False, features=None):
    """A kernel with targets and initial outputs; the fewer features, the closer."""
    random = np.random.default_rng(seed)
    c = outputs or 1
    side = c if full else 1
    features = features or 3 * (n + m) * side
    phi = random.standard_normal(((n + m) * side, features))
    K = phi @ phi.T / features
    shape = (n + m, side) * 2 if full else (n + m, n + m)
    K = K.reshape(shape)
    ends = (n, outputs) if outputs else (n,)
    y = random.standard_normal(ends)
    f_0 = random.standard_normal((n + m, *ends[1:]))
    train, test = slice(0, n), slice(n, n + m)
    if full:
        blocks = K[train, :, train], K[test, :, train], K[test, :, test]
    else:
        blocks = K[train, train], K[test, train], K[test, test]
    return Case(*blocks, y, f_0[:n], f_0[n:])


class Net(NamedTuple):
    """A network, its samples, and its kernels in float64."""

    params: Any
    x: Any
    x_test: Any
    y: Any
    f_0: Any
    f_0_test: Any
    K: Any
    K_test: Any


SIZES = {1: (3, 6, 1), 2: (3, 5, 2)}


def net(outputs=1, seed=0, n=7, m=4):
    """A tanh network; with several outputs its kernel between them."""
    keys = jax.random.split(jax.random.key(seed), 3)
    params = dense_params(keys[0], SIZES[outputs])
    x = jax.random.normal(keys[1], (n + m, 3))
    y = jax.random.normal(keys[2], (n, outputs))
    kernel = tl.gram if outputs == 1 else tl.gram_full
    K = kernel(dense_apply, params, x)
    K, K_test = (K[:n, :n], K[n:, :n]) if outputs == 1 else (K[:n, :, :n], K[n:, :, :n])
    f_0 = dense_apply(params, x)
    return Net(params, x[:n], x[n:], y, f_0[:n], f_0[n:], K, K_test)


def train_linearized(net, steps, rate, momentum=0.0, nesterov=False):
    """Outputs at test samples after plain steps in weight space, and the distance."""
    samples = net.x, net.x_test, net.y
    return _train(net.params, samples, steps, rate, momentum, nesterov)


@partial(jax.jit, static_argnums=5)
def _train(params, samples, steps, rate, momentum, nesterov):
    x, x_test, y = samples
    linear = tl.linearize(dense_apply, params)
    optimizer = optax.sgd(rate, momentum, nesterov)

    def loss(theta):
        return jnp.sum((linear(theta, x) - y) ** 2) / (2 * len(x))

    def step(_, carry):
        theta, state = carry
        change, state = optimizer.update(jax.grad(loss)(theta), state, theta)
        return optax.apply_updates(theta, change), state

    begin = params, optimizer.init(params)
    theta, _ = jax.lax.fori_loop(0, steps, step, begin)
    moved = jax.tree.map(lambda a, b: jnp.sum((a - b) ** 2), theta, params)
    return linear(theta, x_test), jnp.stack(jax.tree.leaves(moved)).sum()
