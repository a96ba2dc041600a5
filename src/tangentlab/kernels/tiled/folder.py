"""The folder of tiles: whether it can be filled, and what a full disk says."""

import shutil
import tempfile
import warnings
from os import PathLike
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import PyTree

from ..._aside import is_partial
from ...cluster.links import check_cluster
from ...cluster.published import ROOM
from .manifest import NAME, read_manifest
from .progress_note import NOTE
from .tiles import Grid, Place


def check_store(folder: Path, arguments: PyTree) -> None:
    """Refuse a folder that cannot be filled, before any work is done.

    Args:
        folder: The folder; made if it is not there.
        arguments: What `tl.gram` was called with.

    Raises:
        ValueError: If it holds something else, or arguments are traced.
        OSError: If it cannot be written to.
    """
    leaves = jax.tree.leaves(arguments)
    check_values(traced=any(isinstance(leaf, Tracer) for leaf in leaves))
    try:
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"`store` must be a folder, but {folder} is a file.")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(
            error.errno,
            f"`store` cannot be written to: {folder}: {error.strerror}. Choose a "
            "folder that can.",
        ) from error
    names = sorted(path.name for path in folder.iterdir() if not is_partial(path))
    names = [name for name in names if name not in (ROOM, NOTE)]
    if NAME in names:
        read_manifest(folder)
    elif names:
        raise ValueError(
            f"`store` must be an empty or new folder, or one that `tl.gram` has begun, "
            f"but {folder} has no {NAME} and holds {', '.join(names[:3])}"
            f"{' and more' if len(names) > 3 else ''}."
        )


def check_values(*, traced: bool) -> None:
    """Refuse what is traced: files hold values.

    Args:
        traced: Whether something is.

    Raises:
        ValueError: If so.
    """
    if traced:
        raise ValueError(
            "`store` writes files, which a traced function cannot do: call `tl.gram` "
            "outside of `jit`, `vmap` and `grad`, or leave `store` out."
        )


def warn_untold(folder: Path, *, told: bool) -> None:
    """Warn where a folder cannot tell whether a network is the one it was begun with.

    Args:
        folder: The folder.
        told: Whether the network's trace tells what it computes.
    """
    if not told and (folder / NAME).exists():
        warnings.warn(
            f"`apply` calls Python (a callback), and {folder} cannot tell whether that "
            "is what it was: the tiles in it are used. If it changed, choose another "
            "folder.",
            stacklevel=3,
        )


def check_shared(cluster: Any, store: str | PathLike[str] | None) -> None:
    """Refuse a cluster that cannot be used, before any work is done.

    Args:
        cluster: What was passed.
        store: Folder that its workers are to fill.

    Raises:
        ValueError: If there is no folder, or it is no cluster.
    """
    if store is None:
        raise ValueError(
            "`cluster` needs `store`: workers write tiles to a folder that all of them "
            'see, as in store="/shared/gram".'
        )
    check_cluster(cluster)


def check_space(grid: Grid, missing: list[Place]) -> None:
    """Refuse to begin what the disk cannot hold.

    Args:
        grid: The tiles.
        missing: Those to be written.

    Raises:
        OSError: If there is too little space; says how much.
    """
    needed = sum(map(grid.num_bytes, missing))
    free = shutil.disk_usage(grid.folder).free
    if needed > free:
        raise OSError(
            f"The tiles to be written to {grid.folder} take {needed:,} bytes, but only "
            f"{free:,} are free on that disk. Make room, or choose a folder on another."
        )


def write_tile(grid: Grid, place: Place, values: np.ndarray) -> None:
    """Write a tile.

    Args:
        grid: The tiles.
        place: Which one.
        values: Its entries.

    Raises:
        OSError: If the disk is full, or fails; says what is kept and how to go on.
    """
    try:
        grid.write(place, values)
    except OSError as error:
        places = list(grid.places())
        missing = [other for other in places if not grid.is_there(other)]
        raise OSError(
            error.errno,
            f"Tile {grid.path(place)} ({grid.num_bytes(place):,} bytes) cannot be "
            f"written: {error.strerror}. {len(places) - len(missing)} of {len(places)} "
            "tiles are finished and stay; the others take "
            f"{sum(map(grid.num_bytes, missing)):,} bytes. Make room, and call "
            "`tl.gram` again with the same `store`, or what else began it: it goes "
            "on from there.",
        ) from error
