"""Performing runs in processes side by side, each as if it were alone.

Most of a small run is compiling, which takes one core at a time, and runs have many
programs in common: what one of them has compiled is kept for the others, as long as
there are any. What a process was doing when it died is done again in another, when
nothing else is running.
"""

import multiprocessing
import os
import signal
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, NamedTuple

import jax

from ..cluster.local import cores_of
from ..experiments.base import Experiment
from ..kernels.planning import backend
from .naming import run_command, run_seeds
from .performing import perform_planned
from .records import Performed
from .scales import Run

_DIED = "the process that performed it died, twice; perhaps memory ran out"
_MOST = 4  # by default: each has its own copy of JAX and of what it computes


class Job(NamedTuple):
    """A run to perform.

    Attributes:
        run: The run.
        name: What it is called.
    """

    run: Run
    name: str


class _Worker(NamedTuple):
    """A process that performs one run after the other.

    Attributes:
        process: The process.
        pipe: Takes jobs and gives back runs.
    """

    process: SpawnProcess
    pipe: Connection


def default_processes() -> int:
    """How many processes a machine is good for.

    Returns:
        As many as there are cores, four at most; on an accelerator, which one process
        has to itself, 1.
    """
    if backend() != "cpu":
        return 1
    return min(len(_cores()) or os.cpu_count() or 1, _MOST)


def perform_side_by_side(
    experiments: Mapping[str, Experiment],
    jobs: Sequence[Job],
    root: Path,
    processes: int,
    **options: Any,
) -> Iterator[tuple[int, Performed]]:
    """Perform runs, the longest first where it is known how long they take.

    Args:
        experiments: Every experiment, by name.
        jobs: What to perform.
        root: Folder that holds the runs.
        processes: How many at once.
        **options: Of `perform_planned`.

    Yields:
        The place of each job and its run, as they end.
    """
    order = sorted(range(len(jobs)), key=lambda at: -jobs[at].run.seconds)
    cores = [cores_of(number, processes, _cores()) for number in range(processes)]
    with tempfile.TemporaryDirectory(prefix="tangentlab-programs-") as programs:
        given = programs, experiments, root, options
        done: set[int] = set()
        with _workers(cores, *given) as workers:
            for at, ended in _shared_out(jobs, order, workers):
                done.add(at)
                yield at, ended
        for at in (at for at in order if at not in done):
            with _workers([_cores()], *given) as workers:
                again = [ended for _, ended in _shared_out(jobs, [at], workers)]
            yield at, again[0] if again else _given_up(jobs[at])


def _shared_out(
    jobs: Sequence[Job], order: Sequence[int], workers: Sequence[_Worker]
) -> Iterator[tuple[int, Performed]]:
    """Runs as they end; those whose process dies are left out."""
    waiting, busy = list(order), dict[Any, int]()
    for worker in workers:
        _give(worker, jobs, waiting, busy)
    while busy:
        for pipe in wait(list(busy)):
            worker = next(each for each in workers if each.pipe is pipe)
            at = busy.pop(pipe)
            try:
                ended = worker.pipe.recv()
            except (EOFError, OSError):
                continue
            _give(worker, jobs, waiting, busy)
            yield at, ended


def _given_up(job: Job) -> Performed:
    command, seeds = run_command(job.run), run_seeds(job.run)
    return Performed(job.run, job.name, command, seeds, None, 0.0, failure=_DIED)


def _cores() -> list[int]:
    """The cores that this process may use; empty where the system does not tell."""
    known = hasattr(os, "sched_getaffinity")  # on Linux
    return sorted(os.sched_getaffinity(0)) if known else []


@contextmanager
def _workers(cores: Sequence[list[int]], *given: Any) -> Iterator[list[_Worker]]:
    """Processes, one for each list of cores; ended also where one is interrupted."""
    workers = [_start(own, *given) for own in cores]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.process.terminate()
            worker.process.join()
            worker.pipe.close()


def _start(
    cores: list[int],
    programs: str,
    experiments: Mapping[str, Experiment],
    root: Path,
    options: dict[str, Any],
) -> _Worker:
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    arguments = (there, cores, programs, experiments, root, options)
    process = context.Process(target=_work, args=arguments, daemon=True)
    process.start()
    there.close()  # so that the pipe ends with the process
    return _Worker(process, here)


def _give(
    worker: _Worker, jobs: Sequence[Job], order: list[int], busy: dict[Any, int]
) -> None:
    """The next job, if there is one; a worker that has died gets none."""
    if not order:
        return
    try:
        worker.pipe.send(jobs[order[0]])
    except (BrokenPipeError, ConnectionResetError):
        return
    busy[worker.pipe] = order.pop(0)


def _work(
    pipe: Connection,
    cores: list[int],
    programs: str,
    experiments: Mapping[str, Experiment],
    root: Path,
    options: dict[str, Any],
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started it ends it
    if cores:  # before JAX starts as many threads; those of several would wait in turns
        os.sched_setaffinity(0, cores)
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        jax.config.update("jax_compilation_cache_dir", programs)
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    while True:
        try:
            job: Job = pipe.recv()
        except EOFError:  # whoever started it is gone
            return
        pipe.send(perform_planned(experiments, *job, root, **options))
