"""`local:N`: a scheduler in this process and workers beside it, all on loopback.

Each worker has its own share of the cores, or its own GPU, and dies with its parent.
One that dies alone is started again. Workers import what they need while the scheduler
starts, and are told its address then.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FRACTION = "XLA_PYTHON_CLIENT_MEM_FRACTION"  # of a GPU's memory, taken by JAX
_USUAL_FRACTION, _MOST_FRACTION, _LEAST_FRACTION = 0.75, 0.95, 0.02
_MOST_STARTS = 100  # of workers that die at once, again and again
# Cores come first: numpy and JAX start as many threads as there are when imported.
_START = """
import os, sys
if sys.argv[2]:
    os.sched_setaffinity(0, [int(core) for core in sys.argv[2].split(",")])
from tangentlab.cluster.local_worker import main
main(int(sys.argv[1]))
"""


class LocalCluster:
    """A scheduler and its workers."""

    def __init__(self, count: int):
        """Start workers, which wait for a scheduler.

        Args:
            count: Number of workers.
        """
        self.count = count
        self._starts = 0
        self._workers: dict[int, subprocess.Popen[bytes]] = {}
        self._scheduler: Any = None
        self.tend()

    def open(self) -> str:
        """Start the scheduler.

        Returns:
            Its address.
        """
        self._scheduler = _scheduler()
        for worker in self._workers.values():
            self._tell(worker)
        return self.address

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return self._scheduler.scheduler_address

    def tend(self) -> None:
        """Start workers, and those again that died.

        Raises:
            ChildProcessError: If they die again and again.
        """
        for number in range(self.count):
            worker = self._workers.get(number)
            if worker is not None and worker.poll() is None:
                continue
            self._starts += 1
            if self._starts > self.count + _MOST_STARTS:
                raise ChildProcessError(
                    f"Local workers died {_MOST_STARTS} times, the last with status "
                    f"{worker.returncode if worker else None}: look for the reason in "
                    "what they printed. If memory ran out, start fewer, or pass a "
                    "smaller `memory`, in bytes a worker."
                )
            self._workers[number] = _start(number, self.count)
            if self._scheduler is not None:
                self._tell(self._workers[number])

    def _tell(self, worker: "subprocess.Popen[bytes]") -> None:
        assert worker.stdin is not None, "opened by `_start`"
        try:
            with worker.stdin as line:
                line.write(f"{self.address}\n".encode())
        except OSError:  # it died meanwhile, and is started again
            pass

    def close(self) -> None:
        """Stop everything."""
        try:
            if self._scheduler is not None:
                self._scheduler.close()
        finally:
            for worker in self._workers.values():
                worker.kill()
            for worker in self._workers.values():
                worker.wait()
                if worker.stdin is not None and not worker.stdin.closed:
                    worker.stdin.close()


def _scheduler() -> Any:
    from distributed import LocalCluster as Scheduler

    return Scheduler(
        n_workers=0,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    )


def _start(number: int, count: int) -> "subprocess.Popen[bytes]":
    found = len(list(Path("/dev").glob("nvidia[0-9]*")))
    environment = {**os.environ, **gpu_of(number, count, found, os.environ)}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    known = hasattr(os, "sched_getaffinity")  # on Linux
    cores = cores_of(number, count, sorted(os.sched_getaffinity(0)) if known else [])
    words = [str(os.getpid()), ",".join(map(str, cores))]
    return subprocess.Popen(
        [sys.executable, "-c", _START, *words], env=environment, stdin=subprocess.PIPE
    )


def cores_of(number: int, count: int, cores: list[int]) -> list[int]:
    """The cores of a worker: as many as the others have.

    Args:
        number: Of the worker, from 0.
        count: How many workers there are.
        cores: Those that they share.

    Returns:
        Its own, as far as there are enough.
    """
    each = min(len(cores), max(1, len(cores) // count))
    return [cores[(number * each + i) % len(cores)] for i in range(each)]


def gpu_of(
    number: int, count: int, found: int, environment: Mapping[str, str]
) -> dict[str, str]:
    """What a worker is told of this machine's GPUs: to use one, and how much of it.

    This process has a share of every GPU: JAX takes it at the first array.

    Args:
        number: Of the worker, from 0.
        count: How many workers there are.
        found: How many GPUs there are.
        environment: Variables of this process.

    Returns:
        Variables of its environment; workers share what this process leaves.

    Raises:
        ValueError: If it leaves nothing.
    """
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    named = [str(i) for i in range(found)] if visible is None else visible.split(",")
    if not found or not named[0] or environment.get("JAX_PLATFORMS") == "cpu":
        return {}
    own = float(environment.get(_FRACTION, _USUAL_FRACTION))
    share = (_MOST_FRACTION - own) / -(-count // len(named))
    if share < _LEAST_FRACTION:
        raise ValueError(
            f"This process may take {own:.0%} of a GPU's memory, and its workers find "
            f"no room beside it: start it with {_FRACTION}=.1, with fewer workers, or "
            "with `local:1`, which has all of it."
        )
    gpu = named[number % len(named)]
    return {"CUDA_VISIBLE_DEVICES": gpu, _FRACTION: f"{share:.3f}"}
