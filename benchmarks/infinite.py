"""Kernels at infinite width, beside neural-tangents: `python -m benchmarks.infinite`.

Each contestant is a fresh process that computes the tangent kernel of the same inputs
several times; the first call compiles and is told apart. They take turns. The kernels
are compared: who is fast must be right.

    python -m benchmarks.infinite                        # all cases, both libraries
    python -m benchmarks.infinite --cases fc --rounds 5
    python -m benchmarks.infinite --only ours --device   # an accelerator: entries/s

`--cache` names the folder of the peer's environment, as for `benchmarks.cpu`.
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

import numpy as np

CASES = {
    "fc": (4000, (3072,)),
    "cntk": (16, (32, 32, 3)),
    "myrtle5": (16, (32, 32, 3)),
    "myrtle10": (16, (32, 32, 3)),
}
_DEFAULT = ("fc", "cntk", "myrtle5")
_CIFAR = 60_000


def main() -> None:
    """Measure what the command line asks for, and print a table."""
    options = _options()
    if options.worker:
        _work(options.worker, options.cases[0], options.n, options.calls, options.out)
        return
    from benchmarks.cpu.environments import interpreter
    from benchmarks.cpu.machine import Others, pin

    pin(options.cores)
    who = ["ours", "neural-tangents"] if options.only is None else [options.only]
    pythons = {w: interpreter(w, options.cache, options.python) for w in who}
    for case in options.cases:
        n = options.n or CASES[case][0]
        answers: dict[str, dict] = {w: {"seconds": []} for w in who}
        for _ in range(options.rounds):
            for w in who:
                others = Others()
                made = _launch(pythons[w], w, case, n, options)
                seconds = answers[w]["seconds"] + made["seconds"][1:]
                answers[w] = {**made, "seconds": seconds, "others": others.share()}
        _report(case, n, answers, device=options.device)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Kernels at infinite width.")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(_DEFAULT))
    parser.add_argument("--n", type=int, help="examples, instead of each case's own")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each library")
    parser.add_argument("--calls", type=int, default=2, help="calls in each turn")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--only", choices=("ours", "neural-tangents"))
    parser.add_argument("--device", action="store_true", help="not on the CPU")
    cache = Path(os.environ.get("BENCH_CACHE", ".benchmarks"))
    parser.add_argument("--cache", type=Path, default=cache)
    parser.add_argument("--python", default="python3.11")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _launch(python: Path, who: str, case: str, n: int, options) -> dict:
    platforms = {} if options.device else {"JAX_PLATFORMS": "cpu"}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "answer.npz"
        command = [str(python), __file__, "--worker", who, "--cases", case]
        command += ["--n", str(n), "--calls", str(options.calls), "--out", str(out)]
        subprocess.run(command, check=True, env={**os.environ, **platforms})
        with np.load(out) as answer:
            return {"K": answer["K"], **json.loads(str(answer["told"]))}


def _report(case: str, n: int, answers: dict[str, dict], *, device: bool) -> None:
    best = {who: min(answer["seconds"]) for who, answer in answers.items()}
    for who, answer in answers.items():
        spread = f"{best[who]:.3f} to {max(answer['seconds']):.3f} s"
        entries = n * (n + 1) / 2 / best[who]
        line = f"{case:9} n={n:<5} {who:16} {spread:22} first {answer['first']:.1f} s"
        line += f", {answer['peak'] / 2**30:.1f} GiB, others {answer['others']:.0%}"
        print(f"{line}, {entries:,.0f} pairs/s", flush=True)
        if device:
            hours = _CIFAR * (_CIFAR + 1) / 2 / entries / 3600
            print(f"{'':9} all of CIFAR-10: {hours:.1f} hours", flush=True)
    if len(answers) == 2:
        ours, peer = (answers[who]["K"] for who in ("ours", "neural-tangents"))
        error = np.abs(ours - peer).max() / np.abs(peer).max()
        ratio = best["neural-tangents"] / best["ours"]
        print(f"{'':9} {ratio:.1f} times faster; largest difference {error:.1e}\n")


def _work(who: str, case: str, n: int, calls: int, out: Path) -> None:
    """Runs in the environment of a library."""
    shape = CASES[case][1]
    x = np.random.default_rng(0).normal(size=(n, *shape)).astype(np.float32)
    kernel = (_ours if who == "ours" else _peer)(case)
    seconds, K = [], np.zeros(())
    for _ in range(calls + 1):
        start = time.perf_counter()
        K = np.asarray(kernel(x))
        seconds.append(time.perf_counter() - start)
    told = {"seconds": seconds, "first": seconds[0], "peak": _peak_bytes()}
    np.savez(out, K=K, told=json.dumps(told))


def _peak_bytes() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


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
