"""Kernels at infinite width, beside neural-tangents: `python -m benchmarks.infinite`.

Each contestant is a fresh process that computes the tangent kernel of the same inputs
several times; the first call compiles and is told apart. They take turns. Entries are
compared with our kernel in float64: who is fast must be right.

    python -m benchmarks.infinite                        # all cases, both libraries
    python -m benchmarks.infinite --cases fc --rounds 5
    python -m benchmarks.infinite --cases fc --n 500 --trial     # printed, not stored
    python -m benchmarks.infinite --device --cases myrtle5 myrtle10  # ours, on a GPU
    python -m benchmarks.infinite --only-table

`--cache` names the folder of the peer's environment, as for `benchmarks.cpu`. Results
are `results/infinite.json`, one for each device, case, size and library, and a section
of `docs/benchmarks.md`.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """The inputs of a network.

    Attributes:
        n: Number of examples, on a CPU.
        many: The same on an accelerator.
        compared: So many of them are compared with float64.
        shape: Of one example.
    """

    n: int
    many: int
    compared: int
    shape: tuple[int, ...]


_IMAGES = Case(16, 128, 3, (32, 32, 3))
CASES = {
    "fc": Case(4000, 40_000, 64, (3072,)),
    "cntk": _IMAGES,
    "myrtle5": _IMAGES,
    "myrtle10": _IMAGES,
}
_DEFAULT = ("fc", "cntk", "myrtle5")
_PATIENCE = 60.0  # seconds of calls after which a process makes no further one


def main() -> None:
    """Measure what the command line asks for, keep it and renew the page."""
    options = _options()
    if options.worker:
        _work(options.worker, options.cases[0], options.n, options.calls, options.out)
        return
    from benchmarks import infinite_page

    results = options.results or infinite_page.SPEEDS
    if not options.only_table:
        for case in options.cases:
            lines = _measure(case, options)
            if not options.trial:
                infinite_page.keep(lines, results, ("device", "case", "n", "who"))
    if not options.trial:
        infinite_page.write_speeds(results, options.page or infinite_page.PAGE)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(_DEFAULT))
    parser.add_argument("--n", type=int, help="examples, instead of each case's own")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each library")
    parser.add_argument("--calls", type=int, default=2, help="calls in each turn")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--only", choices=("ours", "neural-tangents"))
    parser.add_argument("--device", action="store_true", help="ours, not on the CPU")
    cache = Path(os.environ.get("BENCH_CACHE", ".benchmarks"))
    parser.add_argument("--cache", type=Path, default=cache)
    parser.add_argument("--python", default="python3.11")
    parser.add_argument("--trial", action="store_true", help="print, keep nothing")
    parser.add_argument("--only-table", action="store_true")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _measure(case: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """All turns of all libraries, one line each."""
    from benchmarks.cpu.environments import interpreter
    from benchmarks.cpu.machine import Others, pin

    if not options.device:
        pin(options.cores)
    only = "ours" if options.device else options.only
    who = ["ours", "neural-tangents"] if only is None else [only]
    pythons = {w: interpreter(w, options.cache, options.python) for w in who}
    n = options.n or (CASES[case].many if options.device else CASES[case].n)
    exact = _launch(Path(sys.executable), "exact", case, n, options)["K"]
    lines: dict[str, dict[str, Any]] = {}
    for _ in range(options.rounds):
        for w in who:
            before = lines.get(w, {"seconds": [], "others": []})
            if min(before["seconds"], default=0) > _PATIENCE:
                continue  # it had its turn
            others = Others()
            made = _launch(pythons[w], w, case, n, options)
            difference = np.abs(made.pop("K") - exact).max()
            made["error"] = float(difference / np.abs(exact).max())
            made["seconds"] = before["seconds"] + made["seconds"]
            made["others"] = [*before["others"], others.share()]
            lines[w] = {"case": case, "n": n, "who": w, **made}
    _print(lines)
    return list(lines.values())


def _print(lines: dict[str, dict[str, Any]]) -> None:
    for line in lines.values():
        print(json.dumps(line), flush=True)
    best = {who: min(line["seconds"]) for who, line in lines.items()}
    if len(best) == 2:
        ratio = best["neural-tangents"] / best["ours"]
        print(f"{ratio:.2f} times faster than neural-tangents", flush=True)


def _launch(
    python: Path, who: str, case: str, n: int, options: argparse.Namespace
) -> dict[str, Any]:
    platforms = {} if options.device else {"JAX_PLATFORMS": "cpu"}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "answer.npz"
        command = [str(python), __file__, "--worker", who, "--cases", case]
        command += ["--n", str(n), "--calls", str(options.calls), "--out", str(out)]
        subprocess.run(command, check=True, env={**os.environ, **platforms})
        with np.load(out) as answer:
            return {"K": answer["K"], **json.loads(str(answer["told"]))}


def _work(who: str, case: str, n: int, calls: int, out: Path) -> None:
    """Runs in the environment of a library."""
    few = CASES[case].compared
    x = np.random.default_rng(0).normal(size=(n, *CASES[case].shape))
    x = x.astype(np.float32)
    if who == "exact":
        K = np.asarray(_ours(case)(x[:few], precision="float64"))
        np.savez(out, K=K, told="{}")
        return
    kernel = (_ours if who == "ours" else _peer)(case)
    seconds, K = [], np.zeros(())
    while len(seconds) <= calls and sum(seconds) < _PATIENCE:
        start = time.perf_counter()
        K = np.asarray(kernel(x))
        seconds.append(time.perf_counter() - start)
    told = {"seconds": seconds[1:] or seconds, "first": seconds[0], **_told()}
    np.savez(out, K=K[:few, :few], told=json.dumps(told))


def _told() -> dict[str, Any]:
    """What a process says of itself."""
    import resource

    import jax

    device = jax.devices()[0]
    return {
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "device": "CPU" if device.platform == "cpu" else device.device_kind,
        "jax": jax.__version__,
        "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }


def _ours(case: str):
    from tangentlab import infinite

    networks = {
        "fc": lambda: infinite.fc(3),
        "cntk": lambda: infinite.cntk(3),
        "myrtle5": lambda: infinite.myrtle(5),
        "myrtle10": lambda: infinite.myrtle(10),
    }
    return networks[case]().ntk


def _peer(case: str):
    """The same networks in neural-tangents, compiled as a whole."""
    import jax  # pyright: ignore[reportMissingImports]
    from neural_tangents import stax  # pyright: ignore[reportMissingImports]

    std = math.sqrt(2)
    halve = stax.AvgPool((2, 2), (2, 2))
    conv = [stax.Conv(1, (3, 3), padding="SAME", W_std=std, b_std=None), stax.Relu()]
    layers = {
        "fc": [stax.Dense(1, std, None), stax.Relu()] * 3 + [stax.Dense(1, 1.0, None)],
        "cntk": [*conv * 3, stax.GlobalAvgPool(), stax.Dense(1, 1.0, None)],
    }
    for name, (first, rest) in {"myrtle5": (2, 1), "myrtle10": (3, 3)}.items():
        stages = [*conv * first, halve, *conv * rest, halve, *conv * rest]
        end = [halve, halve, halve, stax.Flatten(), stax.Dense(1, std, None)]
        layers[name] = stages + end
    kernel_fn = stax.serial(*layers[case])[2]
    return jax.jit(lambda x: kernel_fn(x, None, "ntk"))


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent.parent)]
    main()
