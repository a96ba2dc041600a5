"""Small tasks and networks that the tests of training share."""

import jax
import jax.numpy as jnp
import numpy as np

import tangentlab as tl
from tangentlab.models import from_function


def binary_tasks(num=3, n=30, num_train=22, shape=(3,), seed=7):
    """Labels by half-spaces of random inputs."""
    x = jax.random.normal(jax.random.key(seed), (n, *shape), jnp.float64)
    weights = jax.random.normal(jax.random.key(8), (int(np.prod(shape)), num))
    dataset = tl.Dataset(np.asarray(x), np.zeros(n, int), ("only",), num_train)
    labels = np.asarray(x.reshape(n, -1) @ weights > 0)
    return [tl.tasks.from_labels(dataset, labels[:, i]) for i in range(num)]


def regression_tasks(num=2, **sizes):
    """Real-valued targets on the same inputs."""
    task = binary_tasks(1, **sizes)[0]
    y = np.asarray(jax.random.normal(jax.random.key(9), (num, len(task.x))))
    made = [tl.Task(task.x, row, task.num_train, kind="regression") for row in y]
    return made


def in_float64(model, key):
    """Parameters of a zoo network in float64, biases and scales moved off zero."""
    params = model.init(key)
    leaves, structure = jax.tree.flatten(params)
    keys = jax.random.split(key, len(leaves))
    moved = [
        leaf.astype(jnp.float64) + 0.05 * jax.random.normal(k, leaf.shape, jnp.float64)
        for leaf, k in zip(leaves, keys, strict=True)
    ]
    return jax.tree.unflatten(structure, moved)


def normalized():
    """A hand-written network with batch statistics, which compiles fast."""

    def outputs(params, x, mean, var):
        hidden = x.reshape(len(x), -1) @ params["in"]
        hidden = (hidden - mean[None]) / jnp.sqrt(var[None] + 1e-5)
        return jnp.tanh(hidden) @ params["out"]

    def init(key):
        a, b = jax.random.split(key)
        weights = jax.random.normal(a, (64, 5)) / 8, jax.random.normal(b, (5, 1))
        return dict(zip(("in", "out"), weights, strict=True))

    def apply_train(params, state, x):
        hidden = x.reshape(len(x), -1) @ params["in"]
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


NETWORKS = {
    "mlp": lambda: tl.models.mlp((8, 8, 1), widths=(6, 5)),
    "lenet": lambda: tl.models.lenet((8, 8, 1), widths=(2, 3, 6, 5)),
    "resnet18": lambda: tl.models.resnet18((8, 8, 1), width=4),
    "normalized": normalized,
}


def network(name, seed=0):
    """A small network, with float64 parameters."""
    model = NETWORKS[name]()
    return model, in_float64(model, jax.random.key(seed))
