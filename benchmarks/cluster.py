"""`python -m benchmarks.cluster`: a LeNet Gram matrix on one worker, two, and none.

Each measurement is a process of its own on its own cores, and the contestants take
turns. `--wire` counts what goes over the wire instead, in a network of its own (needs
`unshare`). Results are `results/cluster.json` and a section of `docs/scale.md`.
"""

import argparse
import fcntl
import json
import os
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from benchmarks.sections import write_section

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "results" / "cluster.json", HERE.parent / "docs" / "scale.md"
# name: what is passed as `cluster`, or how many worker processes; cores of the whole
CASES = {
    "plain, all cores": (None, None),
    "local:1, all cores": ("local:1", None),
    "plain, one core": (None, 1),
    "one worker of one thread": (1, 1),
    "two workers of one thread": (2, 2),
}


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000, help="CIFAR-10 images")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", type=int, default=2**31, help="bytes a worker")
    parser.add_argument("--wire", action="store_true", help="count bytes instead")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        print(json.dumps(measure(options)))
        return
    results = options.results
    stored = json.loads(results.read_text()) if results.exists() else {}
    if options.wire:
        stored["wire"] = _child(options, "two workers of one thread", alone=True)
    else:
        seconds = stored.get("seconds", {}) if options.n == stored.get("n") else {}
        stored |= {"n": options.n, "seconds": seconds | _rounds(options)}
    results.write_text(json.dumps(stored, indent=1) + "\n")
    write_section(options.page, "bench-cluster", table(stored))
    print(table(stored))


def _rounds(options: argparse.Namespace) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in options.cases}
    for _ in range(options.rounds):
        for name in options.cases:
            seconds[name].append(_child(options, name)["seconds"])
            print(name, seconds[name], file=sys.stderr)
    return seconds


def _child(options: argparse.Namespace, case: str, alone: bool = False) -> Any:
    words = ["--case", case, "--n", options.n, "--memory", options.memory]
    command = [sys.executable, "-m", "benchmarks.cluster", *map(str, words)]
    if alone:
        command = ["unshare", "--user", "--map-root-user", "--net", *command, "--wire"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Compute the Gram matrix once.

    Args:
        options: Case, size and memory.

    Returns:
        Seconds, and bytes over the wire if asked for.
    """
    cluster, count = CASES[options.case]
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:count] if count else cores)
    if options.wire:
        _loopback_up()
    import jax

    import tangentlab as tl
    from tangentlab.cluster.local import LocalCluster

    data = tl.data.normalize(tl.data.load("cifar10"))
    data = tl.data.subset(data, options.n - 10, num_test=10, key=jax.random.key(0))
    model = tl.models.lenet(data.shape)
    params = model.init(jax.random.key(42))
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        before, start = _wired() if options.wire else 0, time.perf_counter()
        if isinstance(cluster, int):
            cluster = stack.enter_context(closing(LocalCluster(cluster)))
        K = tl.gram(
            model.apply,
            params,
            data.x,
            memory=options.memory,
            store=folder,
            cluster=cluster,
        )
        seconds = time.perf_counter() - start
        inputs = sum(p.stat().st_size for p in Path(folder).glob("inputs/*.npy"))
        made = {"seconds": seconds, "tiles": sum(1 for _ in K._grid.places())}
    if options.wire:
        made |= {"bytes": _wired() - before, "inputs": inputs, "n": options.n}
    return made


def _loopback_up() -> None:
    """Switch on the loopback interface of a new network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh", b"lo", 1 | 64)  # IFF_UP and IFF_RUNNING
        fcntl.ioctl(any_socket, 0x8914, request)  # SIOCSIFFLAGS


def _wired() -> int:
    """Bytes that the loopback interface has carried, headers and all."""
    for line in Path("/proc/net/dev").read_text().splitlines():
        name, _, counts = line.partition(":")
        if name.strip() == "lo":
            return int(counts.split()[0])
    raise RuntimeError("there is no loopback interface")


def table(stored: dict[str, Any]) -> str:
    """What was measured, in Markdown.

    Args:
        stored: The results.

    Returns:
        The table, and a line on bytes.
    """
    lines = []
    if "seconds" in stored:
        ratios = _ratios(stored["seconds"])
        lines += [f"LeNet, {stored['n']:,} CIFAR-10 images, to disk.", ""]
        lines += ["| | seconds, fastest to slowest | |", "|---|---|---|"]
        lines += [
            f"| {name} | {min(all_):.1f} to {max(all_):.1f} | {ratios.get(name, '')} |"
            for name, all_ in stored["seconds"].items()
        ]
    if "wire" in stored:
        wire = stored["wire"]
        lines += [
            "",
            f"Over the wire, with {wire['n']:,} images and two workers, in all "
            f"{wire['bytes'] / 1e6:.2f} MB for {wire['tiles']} tiles, "
            f"{wire['bytes'] / wire['tiles'] / 1e3:.1f} kB a tile, start and "
            f"heartbeats included; inputs of {wire['inputs'] / 1e6:.0f} MB lie in the "
            "folder, and each worker reads them once.",
        ]
    return "\n".join(lines)


def _ratios(seconds: dict[str, list[float]]) -> dict[str, str]:
    """Of the fastest rounds, and of the medians."""
    more, faster = [], []
    for summary in (min, statistics.median):
        took = {name: summary(times) for name, times in seconds.items()}
        more.append(took["local:1, all cores"] / took["plain, all cores"] - 1)
        one, two = (took[f"{n} of one thread"] for n in ("one worker", "two workers"))
        faster.append(one / two)
    return {
        "local:1, all cores": "{:+.1%}, medians {:+.1%}".format(*more),
        "two workers of one thread": (
            "{:.2f} x one worker, medians {:.2f}".format(*faster)
        ),
    }


if __name__ == "__main__":
    main()
