"""neural-tangents: `empirical_ntk_fn` under `jit`, or tiled by `nt.batch`."""

# pyright: reportMissingImports=false
import itertools
import shutil
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import neural_tangents as nt
import numpy as np
from jax_networks import NETWORKS, nested


def build(network: str, params: dict, x: np.ndarray, options: dict) -> dict:
    """Return `outputs` and `compute`, or `to_disk` where a time in seconds is given.

    `vmap_axes=0` says that examples do not mix; without it the library differentiates
    every output with respect to every example. `nt.batch` compiles by itself and
    spreads columns over all devices.
    """
    apply, tree, images = NETWORKS[network], nested(params), jnp.asarray(x)
    kernel = nt.empirical_ntk_fn(
        apply,
        trace_axes=(-1,),
        vmap_axes=0,
        implementation=nt.NtkImplementation[options["implementation"]],
    )
    if options.get("tile"):
        gram = nt.batch(kernel, batch_size=options["tile"])
    elif options.get("devices", 1) > 1:
        gram = nt.batch(kernel)
    else:
        gram = jax.jit(kernel)
    if "seconds" in options:
        tile, seconds = options["tile"], options["seconds"]
        return {"to_disk": lambda folder: _tiles(gram, tree, x, tile, seconds, folder)}
    return {
        "outputs": lambda num: apply(tree, images[:num])[:, 0],
        "compute": lambda: np.asarray(gram(images, None, tree)),
    }


def _tiles(
    gram, tree, x: np.ndarray, tile: int, seconds: float, folder: Path
) -> dict[str, float]:
    """Write one tile after the other until the time is up; say how far it got."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    blocks = [jnp.asarray(x[start : start + tile]) for start in range(0, len(x), tile)]
    start = time.perf_counter()
    jax.block_until_ready(gram(blocks[0], blocks[1], tree))
    first = time.perf_counter() - start
    start = time.perf_counter()
    done = 0
    for i, j in itertools.product(range(len(blocks)), repeat=2):
        np.save(folder / f"{i}-{j}.npy", np.asarray(gram(blocks[i], blocks[j], tree)))
        done += 1
        if time.perf_counter() - start > seconds:
            break
    elapsed = time.perf_counter() - start
    shutil.rmtree(folder)
    return {"first": first, "elapsed": elapsed, "share": done / len(blocks) ** 2}
