"""Trains with checkpoints, and dies by its own hand after an epoch, if told to."""

import os
import signal
import sys

import jax
import jax.numpy as jnp
import numpy as np

import tangentlab as tl
from tangentlab.training import checkpoint
from tests.networks import dense_apply, dense_params


def tasks():
    x = np.asarray(jax.random.normal(jax.random.key(7), (40, 3), jnp.float32))
    labels = [x[:, i] > 0 for i in range(3)]
    dataset = tl.Dataset(x, np.zeros(40, int), ("only",), 30)
    return [tl.tasks.from_labels(dataset, each) for each in labels]


def start():
    return dense_params(jax.random.key(0), (3, 5, 1), jnp.float32)


def train(kind, folder, epochs=9, **options):
    params, made = start(), tasks()
    recipe = tl.Recipe(epochs=epochs, batch_size=8, learning_rate=0.02)
    common = {"key": jax.random.key(1), "checkpoint": folder, "checkpoint_every": 2}
    if kind == "dual":
        K = tl.gram(dense_apply, params, made[0].x)
        f_0 = dense_apply(params, made[0].x)
        return tl.train_dual(K, f_0, made, recipe, **common, **options)
    together = kind == "together"
    return tl.train(
        dense_apply, params, made, recipe, together=together, **common, **options
    )


def main(kind, deadly, *folders):
    """Train once for each folder; die at the `deadly`-th write, half-way."""
    writes, write = 0, checkpoint.write_aside

    def counted(path, *parts):
        nonlocal writes
        writes += 1
        if writes == int(deadly):
            path.with_name(f".{path.name}.half.partial").write_bytes(b"half")
            os.kill(os.getpid(), signal.SIGKILL)
        write(path, *parts)

    checkpoint.write_aside = counted
    for folder in folders:
        writes = 0
        history = train(kind, folder)
        np.savez(
            f"{folder}.result.npz",
            outputs=history.outputs,
            train_loss=history.train_loss,
            writes=writes,
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
