"""A worker on this machine, which `local.py` starts.

It reads the scheduler's address from its standard input, and dies with the process that
started it.
"""

import asyncio
import logging
import os
import sys
import threading
import time
from typing import Any


def main(parent: int) -> None:
    """Work until the scheduler, or the parent, is gone.

    Args:
        parent: Number of the process that started this one.
    """
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    from distributed import Worker  # while the scheduler starts

    address = sys.stdin.readline().strip()
    if address:
        asyncio.run(_serve(Worker, address))
    os._exit(0)  # a unit in progress, which nobody waits for, ends here


async def _serve(worker_type: Any, address: str) -> None:
    from dask.config import set as configure

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    configure({"distributed.worker.memory.spill": False})
    async with worker_type(
        address,
        nthreads=1,
        host="127.0.0.1",
        memory_limit=0,
        dashboard=False,
        death_timeout=30,
        validate=False,
    ) as worker:
        await worker.finished()


def _die_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
