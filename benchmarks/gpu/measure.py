"""Measures one case in a process of its own and writes what it found as JSON."""

import argparse
import json
import resource
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import tangentlab as tl

from ..compiling import Compiling
from .cases import CASES, Case, images
from .floors import floor, rates

_BLOCK = 512


def measure(case: Case, num: int | None, folder: Path) -> dict:
    """Time the Gram matrix, compare a block of it, and count what it had to cost."""
    x = images(num)
    model = case.build()
    params = model.init(jax.random.key(0))
    on_device = jnp.asarray(x).block_until_ready()
    seconds, compiling, K = [], [], None
    for _ in range(case.calls):
        K, compiled = None, Compiling()
        start = time.perf_counter()
        K = tl.gram(model.apply, params, on_device, precision=case.precision)
        K.block_until_ready()
        seconds.append(time.perf_counter() - start)
        compiling.append(compiled.seconds)
    stats = jax.devices()[0].memory_stats() or {}
    host = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    where = np.linspace(0, len(x) - 1, min(_BLOCK, len(x))).astype(int)
    assert K is not None
    found = np.asarray(K[where][:, where], np.float64)
    del K
    exact = _exact(case, model, params, x, where, folder)
    found_floor = floor(model, params, x, case.precision, rate := rates())
    return {
        "case": case.name,
        "n": len(x),
        "parameters": sum(leaf.size for leaf in jax.tree.leaves(params)),
        "seconds": seconds,
        "compiling": compiling,
        "device_peak": stats.get("peak_bytes_in_use"),
        "host_peak": host,
        "error": float(np.linalg.norm(found - exact) / np.linalg.norm(exact)),
        "floor": found_floor,
        "rates": rate,
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
    }


def _exact(case: Case, model: tl.Model, params, x, where, folder: Path) -> np.ndarray:
    """The block with all products in float32; cases of one network share it."""
    file = folder / f"block-{case.model}-{len(case.options)}-{len(x)}.npy"
    if not file.exists():
        block = tl.gram(model.apply, params, jnp.asarray(x[where]), precision="float32")
        np.save(file, np.asarray(block, np.float64))
    return np.load(file)


def main() -> None:
    """Measure the case named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--n", type=int, default=None, help="images (default: all)")
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    result = measure(CASES[options.case], options.n, options.folder)
    file = options.folder / f"{list(CASES).index(options.case)}.json"
    file.write_text(json.dumps(result))
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
