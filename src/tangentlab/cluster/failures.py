"""Which errors mean that work was lost, and which that it cannot be done."""

import asyncio
import errno
from typing import Any

from .._checks import is_out_of_memory

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES}


def is_lost_work(error: Any) -> bool:
    """Whether another worker may have better luck.

    Args:
        error: What a unit ended with.

    Returns:
        True if its worker died, was cut off, or had too little memory; False if the
        work itself is wrong, or a disk is full.
    """
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    lost = CancelledError, KilledWorker, CommClosedError, TimeoutError, MemoryError
    if isinstance(error, (*lost, asyncio.CancelledError)) or is_out_of_memory(error):
        return True
    return isinstance(error, OSError) and error.errno not in {None, *_FULL}
