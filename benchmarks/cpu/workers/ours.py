"""tangentlab: `tl.gram` of the zoo's network."""

import shutil
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax_networks import nested

import tangentlab as tl

_COMPARED = 16  # examples of the reference


def network(name: str) -> tl.Model:
    """The network of the zoo, with every parameter active."""
    options = {"last_scale": 1.0} if name == "resnet18" else {}
    return getattr(tl.models, name)(**options)


def build(name: str, params: dict, x: np.ndarray, options: dict) -> dict:
    """Return `outputs` and `compute`, or `to_disk` where a memory limit is given."""
    model, tree, images = network(name), nested(params), jnp.asarray(x)
    if "memory" in options:
        memory = options["memory"]
        return {"to_disk": lambda folder: _tiles(model, tree, images, memory, folder)}
    return {
        "outputs": lambda num: model.apply(tree, images[:num])[:, 0],
        "compute": lambda: np.asarray(tl.gram(model.apply, tree, images)),
    }


def _tiles(model: tl.Model, tree, images: jax.Array, memory: int, folder: Path) -> dict:
    """Fill a folder twice; the first rows go beside it, to be compared."""

    def fill() -> tuple[tl.TiledGram, float]:
        shutil.rmtree(folder, ignore_errors=True)
        start = time.perf_counter()
        K = tl.gram(model.apply, tree, images, store=folder, memory=memory)
        return K, time.perf_counter() - start

    _, first = fill()
    K, elapsed = fill()
    np.save(folder.with_suffix(".npy"), K[:_COMPARED, :_COMPARED])
    shutil.rmtree(folder)
    outputs = np.asarray(model.apply(tree, images[:_COMPARED])[:, 0]).tolist()
    return {"first": first, "elapsed": elapsed, "share": 1.0, "outputs": outputs}
