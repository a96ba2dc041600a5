"""Trains with checkpoints, one job after the other, and dies where a job says so."""

import os
import signal
import sys

import jax
import jax.numpy as jnp
import numpy as np

import tangentlab as tl
from tangentlab.models import from_function
from tangentlab.training import checkpoint
from tests.networks import dense_apply, dense_params
from tests.training.problems import dense_start

KEY = jax.random.key(1)


def tasks():
    x = np.random.default_rng(7).standard_normal((40, 3)).astype(np.float32)
    labels = [x[:, i] > 0 for i in range(3)]
    dataset = tl.Dataset(x, np.zeros(40, int), ("only",), 30)
    return [tl.tasks.from_labels(dataset, each) for each in labels]


def start():
    return jax.tree.map(lambda leaf: leaf.astype(np.float32), dense_start())


def seed(key):
    return dense_params(key, (3, 5, 1), jnp.float32)


def train(kind, folder, epochs=5, **options):
    params, made = start(), tasks()
    recipe = tl.Recipe(epochs=epochs, batch_size=8, learning_rate=0.02)
    common = {"checkpoint": folder, "checkpoint_every": 2, **options}
    if kind == "dual":
        x = made[0].x
        return tl.train_dual(x @ x.T, x[:, 0], made, recipe, key=KEY, **common)
    if kind == "seeds":
        keys, model = jax.random.split(KEY), from_function(seed, dense_apply)
        params = jax.vmap(seed)(keys)
        return tl.train_seeds(model, params, made, recipe, keys=keys, **common)[1]
    common["together"] = kind == "together"
    return tl.train(dense_apply, params, made, recipe, key=KEY, **common)


def work(kind, folder, deadly):
    """Train into a folder; die in the middle of the `deadly`-th write."""
    writes, write = 0, checkpoint.write_aside

    def counted(path, *parts):
        nonlocal writes
        writes += 1
        if writes == deadly:
            path.with_name(f".{path.name}.half.partial").write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
        write(path, *parts)

    checkpoint.write_aside = counted
    history = train(kind, folder)
    checkpoint.write_aside = write
    np.savez(
        f"{folder}.result.npz",
        outputs=history.outputs,
        train_loss=history.train_loss,
        distance=history.distance,
        writes=writes,
    )


if __name__ == "__main__":
    for job in sys.argv[1:]:
        kind, folder, deadly = job.split("|")
        work(kind, folder, int(deadly))
