"""`python -m benchmarks.spectra`: eigenpairs of a kernel, timed on the present device.

On a CPU the whole spectrum and leading pairs, beside LAPACK and ARPACK as scipy calls
them; on a GPU ours alone, at n = 60,000 unless told otherwise. It needs nothing but
what tangentlab needs.

    python -m benchmarks.spectra                          # minutes on 2 cores
    python -m benchmarks.spectra --n 500 --num 20 --trial # seconds: printed, not stored
    python -m benchmarks.spectra --kernel K.npy           # of a matrix in a file
    python -m benchmarks.spectra --only-table             # the page from stored results

The kernel is that of random features with a power law, `K = F F^T`, in float32, made
where JAX's default device is. Each way runs `--calls` times, the first of which
compiles. Measurements are kept in `results/spectra.json`, one for each device, size
and way, and shown in a section of `docs/benchmarks.md`.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.sparse.linalg

import tangentlab as tl

_TILE = 4096  # side of the tiles in which the kernel is made
_PLACE = Path(__file__).parent
_BEGIN, _END = "<!-- bench-spectra -->", "<!-- /bench-spectra -->"
_USUAL = {"cpu": (4000, 100), "gpu": (60_000, 1000)}  # n and leading pairs
_TARGETS = {("full", 60_000): 90, ("leading", 60_000): 15}  # seconds on one H200

Pairs = tuple[Any, Any]


def main() -> None:
    """Measure what the command line asks for, keep it and renew the page."""
    options = _options()
    if not options.only_table:
        K = _kernel(options)
        found = [_measure(way, K, options) for way in options.ways]
        if options.trial:
            return
        _keep(found, options.results)
    _write_page(options.results, options.page)


def _options() -> argparse.Namespace:
    gpu = jax.default_backend() != "cpu"
    n, num = _USUAL["gpu" if gpu else "cpu"]
    ways = ["full", "leading"] if gpu else list(_WAYS)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=n)
    parser.add_argument("--num", type=int, default=num, help="leading pairs")
    parser.add_argument("--exponent", type=float, default=1.0, help="of the decay")
    parser.add_argument("--kernel", type=Path, help="a .npy file instead")
    parser.add_argument("--ways", nargs="*", choices=_WAYS, default=ways)
    parser.add_argument("--calls", type=int, default=2)
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--trial", action="store_true", help="print, keep nothing")
    parser.add_argument("--only-table", action="store_true")
    parser.add_argument(
        "--results", type=Path, default=_PLACE / "results" / "spectra.json"
    )
    parser.add_argument(
        "--page", type=Path, default=_PLACE.parent / "docs" / "benchmarks.md"
    )
    return parser.parse_args()


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
    K, side = jnp.zeros((n, n), jnp.float32), min(n, _TILE)
    for row in range(0, n, side):
        for column in range(0, row + 1, side):
            K = _with_tile(K, F, row, column, side)
    return K


@partial(jax.jit, donate_argnums=0, static_argnums=4)
def _with_tile(
    K: jax.Array, F: jax.Array, row: int, column: int, side: int
) -> jax.Array:
    """Write a tile and its mirror image; the last tiles are moved back to fit.

    In place: a decomposition needs most of the device's memory, and in one piece.
    """
    rows, columns = (jnp.minimum(at, len(K) - side) for at in (row, column))
    left, right = (jax.lax.dynamic_slice_in_dim(F, at, side) for at in (rows, columns))
    tile = jnp.matmul(left, right.T, precision=jax.lax.Precision.HIGHEST)
    middle = (tile + tile.T) / 2 + 1e-3 * jnp.eye(side, dtype=tile.dtype)
    tile = jnp.where(rows == columns, middle, tile)
    K = jax.lax.dynamic_update_slice(K, tile, (rows, columns))
    return jax.lax.dynamic_update_slice(K, tile.T, (columns, rows))


def _full(K: Any, options: argparse.Namespace) -> tl.Spectrum:
    del options
    return tl.spectrum(K, method="dense")


def _leading(K: Any, options: argparse.Namespace) -> tl.Spectrum:
    tolerance = options.tolerance
    return tl.spectrum(K, options.num, method="krylov", tolerance=tolerance)


def _leading_dense(K: Any, options: argparse.Namespace) -> tl.Spectrum:
    return tl.spectrum(K, options.num, method="dense")


def _lapack(K: Any, options: argparse.Namespace) -> Pairs:
    """`scipy.linalg.eigh` in float64."""
    del options
    lam, V = scipy.linalg.eigh(np.asarray(K, np.float64))
    return lam[::-1], V[:, ::-1]


def _arpack(K: Any, options: argparse.Namespace) -> Pairs:
    """`scipy.sparse.linalg.eigsh` in float64, as the usual way to leading pairs."""
    lam, V = scipy.sparse.linalg.eigsh(np.asarray(K, np.float64), options.num)
    return lam[::-1], V[:, ::-1]


_WAYS: dict[str, Callable[[Any, argparse.Namespace], Any]] = {
    "full": _full,
    "lapack": _lapack,
    "leading": _leading,
    "leading-dense": _leading_dense,
    "arpack": _arpack,
}
_NAMES = {
    "full": "tangentlab, all pairs",
    "lapack": "`scipy.linalg.eigh`, all pairs",
    "leading": "tangentlab, leading pairs",
    "leading-dense": "tangentlab, leading pairs, dense",
    "arpack": "`scipy.sparse.linalg.eigsh`, leading pairs",
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
    line = {
        "device": jax.devices()[0].device_kind,
        "way": way,
        "n": K.shape[0],
        "num": K.shape[0] if way in ("full", "lapack") else options.num,
        "seconds": seconds,
        **_quality(K, found),
        "warnings": said,
        "device_peak": stats.get("peak_bytes_in_use"),
        "jax": jax.__version__,
    }
    print(json.dumps(line), flush=True)
    return line


def _quality(K: jax.Array, found: Any) -> dict[str, Any]:
    """Residuals against the target: 1e-4 of the eigenvalue, or 1e-7 of the largest."""
    if isinstance(found, tl.Spectrum):
        lam, residuals = np.asarray(found.eigenvalues), np.asarray(found.residuals)
    else:
        lam, V = found
        residuals = np.linalg.norm(np.asarray(K, np.float64) @ V - V * lam, axis=0)
    target = np.maximum(1e-4 * np.abs(lam), 1e-7 * lam[0])
    return {
        "over_target": int((residuals > target).sum()),
        "worst_of_target": float((residuals / target).max()),
        "worst_of_largest": float(residuals.max() / lam[0]),
        "largest": float(lam[0]),
        "smallest": float(lam[-1]),
    }


def _keep(found: list[dict[str, Any]], file: Path) -> None:
    """Put new measurements in the place of stored ones of the same case."""
    stored = json.loads(file.read_text()) if file.exists() else []
    cases = {_case(line): line for line in [*stored, *found]}
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(cases[case]) for case in sorted(cases))
    file.write_text(f"[\n{lines}\n]\n")


def _case(line: dict[str, Any]) -> tuple[str, int, int, str]:
    return line["device"], line["n"], -line["num"], line["way"]


def _write_page(results: Path, page: Path) -> None:
    """Replace the section between the markers, or append one."""
    section = f"{_BEGIN}\n{_markdown(json.loads(results.read_text()))}\n{_END}"
    text = page.read_text() if page.exists() else "# Benchmarks\n"
    if _BEGIN in text:
        before, rest = text.split(_BEGIN, 1)
        text = before + section + rest.split(_END, 1)[1]
    else:
        text = f"{text.rstrip()}\n\n{section}\n"
    page.write_text(text)


def _markdown(lines: list[dict[str, Any]]) -> str:
    head = """## Spectra

A float32 kernel of random features with a power law, from the call to pairs with
residuals evaluated in float64. *Seconds* is the fastest call; the first one may
compile. *Residual* is the largest, in units of the target: 1e-4 of its eigenvalue, or
1e-7 of the largest, whichever is greater.

| device | n | pairs | way | seconds | first call | residual | target |
|---|---|---|---|---|---|---|---|"""
    rows = []
    for line in lines:
        target = _TARGETS.get((line["way"], line["n"]))
        wanted = f"{target} s" if target and "H200" in line["device"] else ""
        cells = [
            line["device"],
            f"{line['n']:,}",
            f"{line['num']:,}",
            _NAMES[line["way"]],
            f"**{min(line['seconds']):.3g}**",
            f"{line['seconds'][0]:.3g} s",
            f"{line['worst_of_target']:.2g}",
            wanted,
        ]
        rows.append(f"| {' | '.join(cells)} |")
    tail = "\n`python -m benchmarks.spectra` measures the present device again."
    return "\n".join([head, *rows, tail])


if __name__ == "__main__":
    main()
