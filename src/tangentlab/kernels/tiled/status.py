"""How far a folder of tiles is, told from the folder alone."""

import time
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from .manifest import Manifest, check_there, read_manifest
from .progress_note import ProgressNote, read_note

_WINDOW = 600.0  # seconds over which speed is estimated


class GramStatus(NamedTuple):
    """How far a Gram matrix on disk is.

    Attributes:
        folder: Where it is.
        manifest: What it is.
        done: Tiles that are there.
        total: All tiles.
        bytes_done: Bytes that are there.
        bytes_total: Bytes of all tiles.
        rate: Tiles a second, over the last ten minutes of work.
        idle: Seconds since the last tile was written; None if none is there.
        damaged: Names of tiles with a wrong checksum; None if that was not asked.
        note: What the last client on a cluster said, if there was one.
    """

    folder: Path
    manifest: Manifest
    done: int
    total: int
    bytes_done: int
    bytes_total: int
    rate: float
    idle: float | None
    damaged: tuple[str, ...] | None
    note: ProgressNote | None

    @property
    def remaining(self) -> float | None:
        """Seconds that are left at that rate; None if nothing moves."""
        left = self.total - self.done
        return left / self.rate if self.rate and left else (None if left else 0.0)


def gram_status(folder: str | PathLike[str], *, check: bool = False) -> GramStatus:
    """Look how far a Gram matrix on disk is, while others fill it or not.

    Args:
        folder: What was passed as `store`.
        check: Whether to verify the checksums of all tiles, which reads them.

    Returns:
        The status.

    Raises:
        FileNotFoundError: If there is no Gram matrix in that folder.
    """
    folder = Path(folder)
    check_there(folder)
    manifest = read_manifest(folder)
    grid = manifest.grid(folder)
    places = list(grid.places())
    there = [place for place in places if grid.is_there(place)]
    times = sorted(grid.path(place).stat().st_mtime for place in there)
    damaged = None
    if check:
        bad = (grid.path(p).name for p in there if not grid.is_sound(p))
        damaged = tuple(bad)
    return GramStatus(
        folder,
        manifest,
        len(there),
        len(places),
        sum(map(grid.num_bytes, there)),
        sum(map(grid.num_bytes, places)),
        _rate(times),
        max(0.0, time.time() - times[-1]) if times else None,
        damaged,
        read_note(folder),
    )


def _rate(times: list[float]) -> float:
    """Tiles a second in the last minutes of work."""
    if len(times) < 2:
        return 0.0
    last = [at for at in times if at > times[-1] - _WINDOW]
    first = last[0] if len(last) > 1 else times[-2]
    count = max(1, len(last) - 1)
    return count / max(times[-1] - first, 1e-3)
