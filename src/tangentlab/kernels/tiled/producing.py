"""Filling a folder with tiles, whoever computes them, and going on where that stopped.

The tiles in the folder are the truth: whoever comes computes what is missing, by the
plan in the manifest. Nothing is shared between units but the folder, so that several
processes may fill it; two that write the same tile write the same bytes.
"""

import logging
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..._aside import remove_leftovers
from ..._progress import Advance, progress_bar
from .folder import check_space, write_tile
from .manifest import NAME, Manifest, check_same, read_manifest
from .tiled_gram import TiledGram, open_gram
from .tiles import Grid, Place

_log = logging.getLogger(__name__)


def store_tiles(
    folder: Path,
    manifest: Callable[[dict[str, Any]], Manifest],
    plan: Callable[[], dict[str, Any]],
    compute: Callable[[dict[str, Any], Place, Advance], np.ndarray],
    *,
    progress: bool,
) -> TiledGram:
    """Compute a Gram matrix into a folder tile by tile, or what is missing there.

    Args:
        folder: Where to, checked.
        manifest: What the folder will hold, computed by a given plan.
        plan: Makes a plan, of which `panel`, the side of a tile, is a part. Called for
            a new folder alone.
        compute: Entries of a tile by a plan; told of the pairs of examples done.
        progress: Show a progress bar.

    Returns:
        The Gram matrix on disk.
    """
    remove_leftovers(folder)
    begun = begin(folder, manifest, plan)
    grid = begun.grid(folder)
    missing = missing_places(grid)
    check_space(grid, missing)
    with tile_bar(grid, missing, 1, show=progress) as advance:
        for place in not_there(grid, missing, advance):
            write_tile(grid, place, compute(begun.plan, place, advance))
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
    """Tiles that are not there, or not whole.

    Args:
        grid: The tiles.

    Returns:
        Those to be computed.
    """
    missing = [place for place in grid.places() if not grid.is_there(place)]
    for place in missing:
        if grid.path(place).exists():
            _log.warning("%s is not whole and is computed again", grid.path(place))
    return missing


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
