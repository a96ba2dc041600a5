"""Tiles go to the disk while others are computed."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from .tiles import Place

Write = Callable[[Place, np.ndarray], None]
"""Writes a tile."""


@contextmanager
def written_meanwhile(write: Write) -> Iterator[Write]:
    """Write each tile in a thread while the next is computed, one at a time.

    Args:
        write: Writes a tile.

    Yields:
        What takes a tile; raises what the one before ended with. At the end of the
        context all tiles are written, or it raises.
    """
    with ThreadPoolExecutor(1) as thread:
        last: Future[None] | None = None

        def take(place: Place, values: np.ndarray) -> None:
            nonlocal last
            if last is not None:
                last.result()
            last = thread.submit(write, place, values)

        yield take
        if last is not None:
            last.result()
