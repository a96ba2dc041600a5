"""Take turns: every contestant of a case once a round, each in a fresh process."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .agreement import check
from .cases import GIB, OURS, Case, Contestant
from .environments import NoEnvironmentError, interpreter
from .launch import WORKERS, Limits, measure
from .results import summarize


@dataclass(frozen=True)
class Settings:
    """How the measurements are made.

    Attributes:
        cache: Folder for environments, problems and scratch files.
        python: Command of a Python 3.11 for the peers' environments.
        rounds: How often each contestant is measured.
        slow: A contestant so many times slower than the fastest is measured once.
        limits: Time and memory of a process, calls and cores.
    """

    cache: Path
    python: str
    rounds: int
    slow: float
    limits: Limits


def write_problem(case: Case, cache: Path) -> Path:
    """Weights, inputs and reference of a case; written once."""
    file = cache / "problems" / f"{case.network}-{case.n}.npz"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        print(f"Writing {file}", flush=True)
        command = [sys.executable, str(WORKERS / "prepare.py"), case.network]
        subprocess.run([*command, str(case.n), str(file)], check=True)
    return file


def source(problem: Path) -> str:
    """Name of the data set that the inputs of a problem come from."""
    with np.load(problem) as archive:
        return str(archive["source"])


def run_case(
    case: Case, entered: list[Contestant], settings: Settings
) -> Iterator[dict]:
    """Measure the contestants of a case, round by round.

    Args:
        case: The case.
        entered: The contestants.
        settings: How.

    Yields:
        The measurements, as they are made.
    """
    problem = write_problem(case, settings.cache)
    seen: dict[tuple[str, str], list[dict]] = {}
    for turn in range(1 if case.memory else settings.rounds):
        for contestant in entered:
            if turn and not _worthwhile(seen, contestant, settings.slow):
                continue
            measurement = {
                "case": case.name,
                "n": case.n,
                "peer": contestant.peer,
                "variant": contestant.variant,
                **_measure(case, contestant, problem, settings),
            }
            seen.setdefault(contestant.key, []).append({"run": "", **measurement})
            _tell(measurement)
            yield measurement


def _measure(
    case: Case, contestant: Contestant, problem: Path, settings: Settings
) -> dict:
    try:
        python = interpreter(contestant.environment, settings.cache, settings.python)
    except NoEnvironmentError as error:
        return {"outcome": "failed", "message": str(error)}
    limits = settings.limits
    if case.memory is not None:
        seconds = contestant.options.get("seconds", 3600.0) + limits.seconds
        limits = replace(limits, memory=case.memory, seconds=seconds)
    scratch = settings.cache / "scratch"
    answer = measure(case, contestant, python, problem, scratch, limits)
    kernel, ours = scratch / "kernel.npy", scratch / f"ours-{case.name}-{case.n}.npy"
    outputs = answer.pop("outputs", None)
    if kernel.exists() and outputs is not None:
        if contestant.peer == OURS:
            kernel = kernel.replace(ours)
        answer["check"] = check(kernel, outputs, problem, ours)
    return answer


def _worthwhile(seen: dict, contestant: Contestant, slow: float) -> bool:
    """Whether it finished, right, and not far behind the fastest of all."""
    found = {key: summarize(group) for key, group in seen.items()}
    mine = found[contestant.key]
    finished = [one.seconds for one in found.values() if one.seconds is not None]
    if mine.seconds is None:
        return False
    return contestant.peer == OURS or mine.seconds <= slow * min(finished)


def _tell(measurement: dict) -> None:
    one = summarize([{"run": "", **measurement}])
    took = "-" if one.seconds is None else f"{one.seconds:.3f} s"
    first = "-" if one.first is None else f"{one.first:.1f} s"
    busy = measurement.get("others")
    print(
        f"{measurement['case']:10} {one.peer:16} {one.variant:48} second {took:>10} "
        f"first {first:>8}  {one.peak_bytes / GIB:5.1f} GiB  "
        f"others {'?' if busy is None else f'{busy:.0%}'}  {one.note}",
        flush=True,
    )
