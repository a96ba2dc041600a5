"""Filling a folder with tiles, whoever computes them, and going on where that stopped.

The tiles in the folder are the truth: whoever comes computes what is missing, by the
plan in the manifest. Nothing is shared between units but the folder, so that several
processes may fill it; two that write the same tile write the same bytes.
"""

import logging
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..._progress import Advance, progress_bar
from .folder import check_space, write_tile
from .manifest import NAME, Manifest, check_same, read_manifest
from .shared_features import remove_room
from .tiled_gram import TiledGram, open_gram
from .tiles import Grid, Place
from .units import in_order
from .writing import written_meanwhile

_log = logging.getLogger(__name__)


@runtime_checkable
class Maker(Protocol):
    """Computes the tiles of one folder, whichever kernel that is."""

    @property
    def manifest(self) -> Manifest:
        """What the folder holds."""
        ...

    @property
    def passes(self) -> int:
        """How often each pair of examples is gone through."""
        ...

    @property
    def kept(self) -> int:
        """Panels along the rows that stay in memory while others go by."""
        ...

    @property
    def feature_bytes(self) -> int:
        """Bytes of features of all examples that workers may share; 0 if none."""
        ...

    def compute(self, place: Place, advance: Advance) -> np.ndarray:
        """Compute a tile.

        Args:
            place: Which one.
            advance: Told the number of pairs of examples done, times passes.

        Returns:
            Its final entries.
        """
        ...


def fill_folder(maker: Maker, folder: Path, *, progress: bool) -> TiledGram:
    """Compute a Gram matrix into a folder tile by tile, or what is missing there.

    Args:
        maker: Computes tiles.
        folder: Where to, begun.
        progress: Show a progress bar.

    Returns:
        The Gram matrix on disk.
    """
    grid = maker.manifest.grid(folder)
    missing = missing_places(grid)
    check_space(grid, missing)
    with (
        tile_bar(grid, missing, maker.passes, show=progress) as advance,
        written_meanwhile(partial(write_tile, grid)) as write,
    ):
        ordered = in_order(missing, grid.side, maker.kept)
        units = not_there(grid, ordered, lambda num: advance(num * maker.passes))
        for place in units:
            write(place, maker.compute(place, advance))
    remove_room(folder)
    return open_gram(folder)


def begin(
    folder: Path,
    manifest: Callable[[dict[str, Any]], Manifest],
    plan: Callable[[], dict[str, Any]],
) -> Manifest:
    """Write the manifest, or read the one that is there.

    Args:
        folder: The folder of tiles.
        manifest: What it will hold, computed by a given plan.
        plan: Makes a plan, for a new folder.

    Returns:
        The manifest in the folder, of the same computation.
    """
    if not (folder / NAME).exists():
        made = manifest(plan())
        check_space(made.grid(folder), list(made.grid(folder).places()))
        made.write(folder)
    found = read_manifest(folder)
    check_same(found, manifest(found.plan), folder)
    return found


def missing_places(grid: Grid) -> list[Place]:
    """Tiles that are not there, or damaged; the latter are reported and removed.

    Args:
        grid: The tiles.

    Returns:
        Those to be computed.
    """
    return [place for place in grid.places() if not keep_sound(grid, place)]


def keep_sound(grid: Grid, place: Place) -> bool:
    """Verify a tile, and remove it if it is not what was written.

    Args:
        grid: The tiles.
        place: Which one.

    Returns:
        Whether it is there, and whole to the last bit.
    """
    path = grid.path(place)
    if grid.is_sound(place):
        return True
    if path.exists() or path.is_symlink():
        what = "has a wrong checksum" if grid.is_there(place) else "is not whole"
        _log.warning("%s %s and is computed again", path, what)
        path.unlink(missing_ok=True)
    return False


@contextmanager
def tile_bar(
    grid: Grid, missing: list[Place], passes: int, *, show: bool
) -> Iterator[Advance]:
    """A bar that starts at what is done already.

    Args:
        grid: The tiles.
        missing: Those to be computed.
        passes: How often each pair of examples is gone through.
        show: Draw it.

    Yields:
        The function that advances the bar, by pairs of examples.
    """
    total, rest = (
        passes * sum(math.prod(place.shape) for place in places)
        for places in (grid.places(), missing)
    )
    with progress_bar(
        "Gram matrix", total, show=show, done=total - rest, unit="pairs"
    ) as advance:
        yield advance


def not_there(grid: Grid, places: Iterable[Place], passed: Advance) -> Iterator[Place]:
    """Leave out what another process has finished meanwhile.

    Args:
        grid: The tiles.
        places: Those to be computed.
        passed: Told the number of pairs of examples in what is left out.

    Yields:
        Those that are still to be computed when their turn comes.
    """
    for place in places:
        if not grid.is_there(place):
            yield place
        else:
            passed(math.prod(place.shape))
