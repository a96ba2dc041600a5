"""`python -m benchmarks.spectra`: times a spectrum on the present device, as JSON.

The kernel is that of random features with a power law, `K = F F^T`, made where JAX's
default device is; or a file made by `numpy.save`. Each way runs `--calls` times, the
first of which compiles.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import tangentlab as tl

_PANEL = 4096  # rows of the kernel that are made at once


def main() -> None:
    """Measure what the command line asks for and print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=4000)
    parser.add_argument("--num", type=int, default=100, help="leading pairs")
    parser.add_argument("--exponent", type=float, default=1.0, help="of the decay")
    parser.add_argument("--kernel", type=Path, help="a .npy file instead")
    parser.add_argument("--ways", nargs="*", choices=_WAYS, default=["leading", "full"])
    parser.add_argument("--calls", type=int, default=2)
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--output", type=Path, help="append the lines to a file")
    options = parser.parse_args()
    K = _kernel(options)
    for way in options.ways:
        line = json.dumps(_measure(way, K, options))
        print(line, flush=True)
        if options.output:
            with options.output.open("a") as file:
                file.write(line + "\n")


def _kernel(options: argparse.Namespace) -> jax.Array:
    """A float32 kernel on the default device."""
    if options.kernel:
        loaded = np.load(options.kernel, mmap_mode="r")[: options.n, : options.n]
        return jnp.asarray(np.ascontiguousarray(loaded))
    n, width = options.n, min(options.n, 8192)
    weights = jnp.arange(1.0, width + 1) ** (-options.exponent / 2)
    F = jax.random.normal(jax.random.key(0), (n, width), jnp.float32)
    F = F * weights.astype(jnp.float32)[None]
    F = F.at[:, 0].set(1.0)  # a leading mode of one sign, as kernels have
    highest = jax.lax.Precision.HIGHEST
    strips = [
        jnp.matmul(F[at : at + _PANEL], F.T, precision=highest)
        for at in range(0, n, _PANEL)
    ]
    K = jnp.concatenate(strips)
    return (K + K.T) / 2 + 1e-3 * jnp.eye(n, dtype=jnp.float32)


def _full(K: Any, options: argparse.Namespace) -> tl.Spectrum:
    del options
    return tl.spectrum(K, method="dense")


def _leading(K: Any, options: argparse.Namespace) -> tl.Spectrum:
    tolerance = options.tolerance
    return tl.spectrum(K, options.num, method="krylov", tolerance=tolerance)


def _leading_dense(K: Any, options: argparse.Namespace) -> tl.Spectrum:
    return tl.spectrum(K, options.num, method="dense")


def _arpack(K: Any, options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    """`scipy.sparse.linalg.eigsh` in float64, as the usual way to leading pairs."""
    import scipy.sparse.linalg

    lam, V = scipy.sparse.linalg.eigsh(np.asarray(K, np.float64), options.num)
    return lam[::-1], V[:, ::-1]


_WAYS: dict[str, Callable[[Any, argparse.Namespace], Any]] = {
    "full": _full,
    "leading": _leading,
    "leading-dense": _leading_dense,
    "arpack": _arpack,
}


def _measure(way: str, K: jax.Array, options: argparse.Namespace) -> dict[str, Any]:
    found, seconds, said = None, [], []
    for _ in range(options.calls):
        found = None  # its vectors may take as much memory as the kernel
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = _WAYS[way](K, options)
        jax.block_until_ready(getattr(found, "eigenvectors", None))
        seconds.append(time.perf_counter() - start)
        said = [str(each.message) for each in caught]
    stats = jax.devices()[0].memory_stats() or {}
    return {
        "way": way,
        "n": K.shape[0],
        "num": options.num if way != "full" else K.shape[0],
        "seconds": seconds,
        **dict(_quality(found)),
        "warnings": said,
        "device_peak": stats.get("peak_bytes_in_use"),
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
    }


def _quality(found: Any) -> Iterator[tuple[str, Any]]:
    """Residuals against the target: 1e-4 of the eigenvalue, or 1e-7 of the largest."""
    if not isinstance(found, tl.Spectrum):
        return
    lam, residuals = np.asarray(found.eigenvalues), np.asarray(found.residuals)
    target = np.maximum(1e-4 * np.abs(lam), 1e-7 * lam[0])
    yield "over_target", int((residuals > target).sum())
    yield "worst_of_target", float((residuals / target).max())
    yield "worst_of_largest", float(residuals.max() / lam[0])
    yield "median_of_largest", float(np.median(residuals) / lam[0])
    yield "largest", float(lam[0])
    yield "smallest", float(lam[-1])
    yield "num_below_resolution", found.num_below_resolution
    yield "num_unconverged", found.num_unconverged


if __name__ == "__main__":
    main()
