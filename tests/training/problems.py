"""Small tasks and networks that the tests of training share."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

import tangentlab as tl
from tangentlab.models import from_function

METRICS = ["train_loss", "train_accuracy", "test_loss", "test_accuracy"]
ITERATIONS = ["iterations_by_batch", "iterations_by_epoch"]


def binary_tasks(num=3, n=30, num_train=22, shape=(3,), seed=7):
    """Labels by half-spaces of random inputs."""
    x = np.random.default_rng(seed).standard_normal((n, *shape))
    weights = np.random.default_rng(8).standard_normal((int(np.prod(shape)), num))
    dataset = tl.Dataset(x, np.zeros(n, int), ("only",), num_train)
    labels = x.reshape(n, -1) @ weights > 0
    return [tl.tasks.from_labels(dataset, labels[:, i]) for i in range(num)]


def regression_tasks(num=2, **sizes):
    """Real-valued targets on the same inputs."""
    task = binary_tasks(1, **sizes)[0]
    y = np.random.default_rng(9).standard_normal((num, len(task.x)))
    return [tl.Task(task.x, row, task.num_train, kind="regression") for row in y]


def dense_start():
    """Parameters of `tests.networks.dense_apply` for inputs of three numbers."""
    draw = np.random.default_rng(0).standard_normal
    sizes = ((3, 5), (5, 1))
    layers = [{"w": draw(s) / s[0] ** 0.5, "b": 0.1 * draw(s[1:])} for s in sizes]
    return jax.tree.map(jnp.asarray, layers)


def tangents(apply, params, x):
    """Gram matrix and outputs, from the gradients of single examples."""
    flat, rebuild = ravel_pytree(params)

    def output(flat, one):
        return apply(rebuild(flat), one[None])[0, 0]

    f_0, J = jax.jit(jax.vmap(jax.value_and_grad(output), (None, 0)))(flat, x)
    return J @ J.T, f_0[:, None]


def in_float64(params):
    """Parameters of a zoo network in float64, biases and scales moved off zero."""
    draw = np.random.default_rng(1).standard_normal
    return jax.tree.map(
        lambda leaf: jnp.asarray(np.asarray(leaf, float) + 0.05 * draw(leaf.shape)),
        params,
    )


def normalized():
    """A hand-written network with batch statistics, which compiles fast."""

    def outputs(params, x, mean, var):
        hidden = (x @ params["in"] - mean[None]) / jnp.sqrt(var[None] + 1e-5)
        return jnp.tanh(hidden) @ params["out"]

    def init(key):
        a, b = jax.random.split(key)
        weights = jax.random.normal(a, (3, 5)), jax.random.normal(b, (5, 1))
        return dict(zip(("in", "out"), weights, strict=True))

    def apply_train(params, state, x):
        hidden = x @ params["in"]
        seen = hidden.mean(axis=0), hidden.var(axis=0)
        state = tuple(
            0.9 * old + 0.1 * new for old, new in zip(state, seen, strict=True)
        )
        return outputs(params, x, *seen), state

    def freeze(state):
        return lambda params, x: outputs(params, x, *state)

    start = jnp.zeros(5), jnp.ones(5)
    model = from_function(init, freeze(start))
    return model._replace(
        apply_train=apply_train, freeze=freeze, init_state=lambda: start
    )


def assert_same(got, wanted, tolerance=1e-10):
    """Two histories say the same, parameters and statistics included."""
    for field in [*METRICS, *ITERATIONS, "distance", "cosine", "outputs", "diverged"]:
        a, b = getattr(got, field), getattr(wanted, field)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=field)
    ends = [jax.tree.leaves((h.params, h.states)) for h in (got, wanted)]
    for a, b in zip(*ends, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
