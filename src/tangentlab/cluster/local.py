"""A scheduler in this process and workers beside it, all on the loopback interface.

Each worker has its own share of the cores, or its own GPU, and dies with its parent.
One that dies alone is started again.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_MOST_STARTS = 100  # of workers that die at once, again and again


class LocalCluster:
    """A scheduler and its workers."""

    def __init__(self, count: int):
        """Start them; workers come when they are ready.

        Args:
            count: Number of workers.
        """
        from distributed import LocalCluster as Scheduler

        self._scheduler = Scheduler(
            n_workers=0,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        )
        self._count = count
        self._starts = 0
        self._workers: dict[int, subprocess.Popen[bytes]] = {}
        self.tend()

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return self._scheduler.scheduler_address

    def tend(self) -> None:
        """Start workers, and those again that died.

        Raises:
            RuntimeError: If they die again and again.
        """
        for number in range(self._count):
            worker = self._workers.get(number)
            if worker is not None and worker.poll() is None:
                continue
            self._starts += 1
            if self._starts > self._count + _MOST_STARTS:
                raise RuntimeError(
                    f"Local workers died {_MOST_STARTS} times, the last with status "
                    f"{worker.returncode if worker else None}: look for the reason in "
                    "what they printed, and give them more `memory`."
                )
            self._workers[number] = _start(self.address, number, self._count)

    def close(self) -> None:
        """Stop everything."""
        for worker in self._workers.values():
            worker.kill()
        for worker in self._workers.values():
            worker.wait()
        self._scheduler.close()

    def __enter__(self) -> "LocalCluster":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def _start(address: str, number: int, count: int) -> "subprocess.Popen[bytes]":
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    gpus = sorted(Path("/dev").glob("nvidia[0-9]*"))
    if gpus:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        mine = visible if visible[0] else [str(i) for i in range(len(gpus))]
        environment["CUDA_VISIBLE_DEVICES"] = mine[number % len(mine)]
        sharing = -(-count // len(mine))
        if sharing > 1:
            environment["XLA_PYTHON_CLIENT_MEM_FRACTION"] = f"{0.8 / sharing:.2f}"
    cores = sorted(os.sched_getaffinity(0))
    each = max(1, len(cores) // count)
    mine = [cores[(number * each + i) % len(cores)] for i in range(each)]
    module = "tangentlab.cluster.local_worker"
    words = [address, str(os.getpid()), ",".join(map(str, mine))]
    return subprocess.Popen(
        [sys.executable, "-m", module, *words],
        env=environment,
        stdin=subprocess.DEVNULL,
    )
