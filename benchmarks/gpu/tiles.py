"""`python -m benchmarks.gpu.tiles`: tiles of a Gram matrix that no GPU holds.

For a million samples, in the panels that the planner cuts on this device: seconds of a
tile, from its samples to its entries in host memory, where the network runs on both of
its panels, on one, and on none, because what it left of the others is still in memory.
Samples are Gaussian. `benchmarks.scale` reads `results/tiles.json`.
"""

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from tangentlab.kernels import engine
from tangentlab.kernels.planning import free_memory
from tangentlab.kernels.preparing import Prepared, prepare
from tangentlab.kernels.request import Request
from tangentlab.kernels.tiled.units import kept_panels, plan_units

from .cases import CASES, Case

RESULTS = Path(__file__).parents[1] / "results" / "tiles.json"
N = 1_000_000
_CASES = "ResNet18, all parameters active, fast", "LeNet, float32"
_ROUNDS = 3  # the first compiles


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--n", type=int, default=N, help="samples of the whole matrix")
    options = parser.parse_args()
    lines = []
    for name in _CASES:
        lines.append({"case": name, **measure(CASES[name], options.n)})
        print(json.dumps(lines[-1]), flush=True)
        options.results.write_text(json.dumps(lines, indent=1) + "\n")


def measure(case: Case, n: int) -> dict[str, Any]:
    """Time tiles of one case.

    Args:
        case: The network and the precision.
        n: Samples of the whole matrix.

    Returns:
        Seconds by panels on which the network runs, and how the matrix is cut.
    """
    model = case.build()
    params = model.init(jax.random.key(0))
    request = Request(precision=case.precision)
    few = np.random.default_rng(0).normal(size=(min(n, 50_000), 32, 32, 3))
    few = few.astype(np.float32)
    whole = np.broadcast_to(few[:1], (n, *few.shape[1:]))  # for the plan alone
    with request.context():
        prepared = prepare(model.apply, params, whole, None, request, full=False)
        problem, source = prepared.problem, prepared.network.source
        memory = free_memory()
        plan = plan_units(source, prepared.features, problem, memory)
        kept = kept_panels(source, plan, problem, memory)
        rounds = list(_rounds(prepared, request, plan, few[: 3 * plan.panel]))
    fastest = [min(times) for times in zip(*rounds[1:], strict=True)]
    stats = jax.devices()[0].memory_stats() or {}
    return {
        "n": n,
        "side": plan.panel,
        "kept": kept,
        "seconds": dict(zip(("2", "0", "1"), fastest, strict=True)),
        "compiling": rounds[0][0] - fastest[0],
        "planned_bytes": plan.needed,
        "peak_bytes": stats.get("peak_bytes_in_use"),
        "device": jax.devices()[0].device_kind,
        "jax": jax.__version__,
        "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }


def _rounds(
    prepared: Prepared, request: Request, plan: Any, x: np.ndarray
) -> Iterator[list[float]]:
    """Seconds of a tile, of the same tile again, and of its neighbour."""
    side, network = plan.panel, prepared.network
    rows, first, second = (slice(k * side, (k + 1) * side) for k in (2, 0, 1))
    pairs = (rows, first), (rows, first), (rows, second)
    job = engine.Job(
        network.source,
        network.values,
        plan,
        prepared.problem,
        [x],
        [x],
        request.precision,
    )
    for _ in range(_ROUNDS):
        seconds, start = [], time.perf_counter()
        for block in engine.run(job, pairs, lambda _: None):
            np.asarray(block.values)
            seconds.append(time.perf_counter() - start)
            start = time.perf_counter()
        yield seconds


if __name__ == "__main__":
    main()
