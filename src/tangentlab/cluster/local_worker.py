"""A worker on this machine: `python -m tangentlab.cluster.local_worker`.

Its words are the scheduler's address, the number of the process that it dies with, and
the cores that it may use. These are set before JAX is imported, which starts as many
threads as there are cores: sums are then cut alike wherever workers have as many.
"""

import asyncio
import logging
import os
import sys
import threading
import time


def main(address: str, parent: int, cores: list[int]) -> None:
    """Work until the scheduler, or the parent, is gone.

    Args:
        address: Of the scheduler.
        parent: Number of the process that started this one.
        cores: Those that this process may use.
    """
    os.sched_setaffinity(0, cores)
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()
    asyncio.run(_serve(address))
    os._exit(0)  # a unit in progress, which nobody waits for, ends here


async def _serve(address: str) -> None:
    from dask.config import set as configure
    from distributed import Worker

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    configure({"distributed.worker.memory.spill": False})
    async with Worker(
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


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), [int(core) for core in sys.argv[3].split(",")])
