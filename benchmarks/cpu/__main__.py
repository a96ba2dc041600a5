"""Measure `tl.gram` beside its peers: `python -m benchmarks.cpu --help`."""

import dataclasses
import datetime
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import tyro

from . import results, table
from .cases import CASES, GIB, OURS, contestants
from .launch import Limits
from .machine import describe, pin
from .run import Settings, run_case, source, write_problem

_ROOT = Path(__file__).parent.parent.parent
Name = Literal["mlp", "lenet", "resnet18", "lenet-disk"]
Library = Literal["tangentlab", "neural-tangents", "nngeometry", "torch.func"]


@dataclass(frozen=True)
class Options:
    """Measure tangentlab and its peers on the CPU and write the table.

    A run of everything gives the table of one run; a run of a part (`--peers
    tangentlab`, say) renews that part and the table says that the runs were apart.
    """

    cases: tuple[Name, ...] = get_args(Name)
    """Networks and sizes."""
    peers: tuple[Library, ...] = get_args(Library)
    """Libraries; the name `tangentlab` is ours."""
    match: tuple[str, ...] = ()
    """Of the peers, only ways to use them whose names contain one of these."""
    n: int | None = None
    """Another number of examples: a trial, printed and not stored."""
    rounds: int = 3
    """How often each contestant is measured, in turns."""
    calls: int = 3
    """Calls in a process; the first compiles."""
    slow: float = 4.0
    """A peer so many times slower than the fastest is measured once."""
    seconds: float = 300.0
    """Time limit of a process."""
    memory: float = 0.75
    """Memory limit of a process, as a share of the machine's."""
    disk_seconds: float = 600.0
    """How long a peer may fill tiles on disk before it is extrapolated."""
    cores: int = 2
    """Cores for all that is measured."""
    python: str = "python3.11"
    """A Python 3.11, for the environments of the peers."""
    cache: Path = Path(os.environ.get("BENCH_CACHE", _ROOT / ".benchmarks"))
    """Folder for environments, inputs and scratch files; also $BENCH_CACHE."""
    results: Path = _ROOT / "benchmarks" / "results" / "cpu.json"
    """Where the measurements are kept."""
    page: Path = _ROOT / "docs" / "benchmarks.md"
    """The page with the table; the rest of it stays."""
    only_table: bool = False
    """Measure nothing, write the table of the stored results again."""


def main(options: Options) -> None:
    """Measure, store and write the table, each as soon as there is something."""
    stored, page = options.results, options.page
    if options.only_table:
        table.write(results.load(stored), page)
        return
    cores = pin(options.cores)
    settings = Settings(
        cache=options.cache.resolve(),
        python=options.python,
        rounds=options.rounds,
        slow=options.slow,
        limits=Limits(options.seconds, _memory(options.memory), options.calls, cores),
    )
    name = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = {"machine": describe(cores), "inputs": ""}
    before = {"runs": {}, "measurements": []} if options.n else results.load(stored)
    measured: list[dict] = []
    together = before
    for case in (CASES[case] for case in options.cases):
        if options.n:
            case = dataclasses.replace(case, n=options.n, tiles=(options.n // 2,))
        about["inputs"] = source(write_problem(case, settings.cache))
        entered = [
            one
            for one in contestants(case, options.peers, cores, options.disk_seconds)
            if one.peer == OURS or _matches(one.variant, options.match)
        ]
        for measurement in run_case(case, entered, settings):
            measured.append(measurement)
            together = results.merge(before, name, about, measured)
            if not options.n:
                results.save(together, stored)
        if not options.n:
            table.write(together, page)
    print(table.markdown(together))


def _matches(variant: str, parts: tuple[str, ...]) -> bool:
    return not parts or any(part in variant for part in parts)


def _memory(share: float) -> int:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return int(max(share * total, GIB))


if __name__ == "__main__":
    main(tyro.cli(Options, prog="python -m benchmarks.cpu"))
