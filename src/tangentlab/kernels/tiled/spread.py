"""A Gram matrix on disk whose products are computed by the workers of a cluster.

Each worker multiplies whole rows of tiles, and of mirror images, so that only the
vectors go one way and their products the other; rows are added up in one order, and the
result does not depend on who did what.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ...cluster.failures import is_lost_work
from ...cluster.links import Link, linked
from .tiled_gram import TiledGram, open_gram

_TRIES = 5  # of a product, each after a scheduler or all workers were lost
_LOOK = 1.0  # seconds between looks at who is alive


@dataclass(frozen=True, eq=False, repr=False)
class SpreadGram(TiledGram):
    """A Gram matrix on disk that is multiplied on a cluster; all else is read here."""

    _link: Link | None = None

    def _product(self, v: np.ndarray, *, transposed: bool) -> np.ndarray:
        side = self._grid.side
        flat = (v.T if transposed else v).reshape(self.shape[not transposed], -1)
        count = -(-self.shape[transposed] // side)
        total = np.concatenate(self._parts(flat, count, transposed))
        if v.ndim == 1:
            return total[:, 0]
        return total.T if transposed else total

    def _parts(self, flat: np.ndarray, count: int, transposed: bool) -> list[Any]:
        link = self._link
        assert link is not None, "made by `spread`"
        folder = str(self.folder.resolve())
        for attempt in range(_TRIES):
            try:
                # To one worker, from whom others take it: one that dies while Dask
                # sends it to all would never be given up.
                [there] = link.client.scatter([flat], hash=False)
                futures = [
                    link.client.submit(
                        multiply_part,
                        folder,
                        self._grid.seal,
                        part,
                        transposed,
                        there,
                        pure=False,
                        retries=_TRIES,
                    )
                    for part in range(count)
                ]
                _wait_for(futures, link)
                return link.client.gather(futures)
            except Exception as error:
                if attempt == _TRIES - 1 or not is_lost_work(error):
                    raise
                if link.is_lost:
                    link.reconnect()
                link.wait_for_worker()
        raise AssertionError("the last attempt returns or raises")


def _wait_for(futures: list[Any], link: Link) -> None:
    """Wait for products; local workers that die meanwhile are started again."""
    from distributed import wait

    while True:
        try:
            with link.client.as_current():
                wait(futures, timeout=_LOOK)
            return
        except TimeoutError:
            link.wait_for_worker()


@lru_cache(maxsize=2)
def _opened(folder: str, seal: str) -> TiledGram:
    return open_gram(folder)


def multiply_part(
    folder: str, seal: str, part: int, transposed: bool, V: np.ndarray
) -> np.ndarray:
    """Multiply some rows of a Gram matrix, on a worker.

    Args:
        folder: The folder of tiles.
        seal: Of its manifest.
        part: Number of the row of tiles, or column if transposed.
        transposed: Whether columns are wanted.
        V: Vectors, as columns.

    Returns:
        The products.
    """
    return _opened(folder, seal).multiply_part(part, V, transposed=transposed)


@contextmanager
def spread(K: TiledGram, cluster: Any) -> Iterator[TiledGram]:
    """Let the workers of a cluster multiply with a Gram matrix on disk.

    What needs products (`tl.spectrum`, `tl.predict.conjugate_gradients`,
    `tl.analysis.gram_alignment`) takes it as it takes the matrix itself.

    Args:
        K: The Gram matrix, finished, in a folder that all workers see.
        cluster: See `tl.gram`.

    Yields:
        The same matrix, multiplied there.
    """
    with linked(cluster) as link:
        link.wait_for_worker()
        yield SpreadGram(K._grid, K._verified, link)
