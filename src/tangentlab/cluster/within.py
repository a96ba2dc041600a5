"""`local:1`: a scheduler and one worker in this process.

Nothing is started or imported a second time, no other process takes memory of a GPU,
and messages go from thread to thread. There is no dashboard, which would show no more
than the progress bar; what Dask listens with all the same is on loopback.
"""

import logging
from typing import Any

from .worker import forget


class OwnProcess:
    """A scheduler and its worker, which live and die with this process."""

    count = 1

    def __init__(self):
        """Start nothing yet."""
        self._cluster: Any = None

    def open(self) -> str:
        """Start both.

        Returns:
            The scheduler's address.
        """
        from distributed import Scheduler, SpecCluster, Worker

        quiet = {
            "protocol": "inproc://",
            "dashboard": False,
            "dashboard_address": "127.0.0.1:0",
        }
        alone = {"nthreads": 1, "memory_limit": 0, **quiet}
        nothing_said: Any = logging.CRITICAL  # declared as a flag, and used as a level
        self._cluster = SpecCluster(
            scheduler={"cls": Scheduler, "options": quiet},
            workers={0: {"cls": Worker, "options": alone}},
            silence_logs=nothing_said,
        )
        return self._cluster.scheduler_address

    def tend(self) -> None:
        """There is nobody who could have died alone."""

    def close(self) -> None:
        """Stop both, and leave the memory of what they worked on."""
        if self._cluster is not None:
            self._cluster.close()
        forget()


def is_here(cluster: Any) -> bool:
    """Whether the one worker is in this process.

    Args:
        cluster: What `started` or `linked` yielded.

    Returns:
        True for `local:1`.
    """
    return isinstance(getattr(cluster, "local", cluster), OwnProcess)
