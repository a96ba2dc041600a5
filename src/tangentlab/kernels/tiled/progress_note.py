"""A note beside the tiles: how far a client on a cluster is, for other shells to read.

It says nothing about the tiles, which speak for themselves.
"""

import contextlib
import json
import time
from pathlib import Path
from typing import NamedTuple

from ..._aside import write_aside

NOTE = "progress.json"


class ProgressNote(NamedTuple):
    """What a client on a cluster says.

    Attributes:
        workers: Workers that take part.
        retries: Units that were lost and handed out again.
        damaged: Tiles that were damaged and computed again.
        dashboard: Where Dask shows what its workers do.
        time: When it was said, in seconds since 1970.
        finished: Whether that client is done.
    """

    workers: int
    retries: int
    damaged: int
    dashboard: str
    time: float
    finished: bool


def write_note(folder: Path, note: ProgressNote) -> None:
    """Leave a note, or none where the disk is full: the work does not end of it.

    Args:
        folder: The folder of tiles.
        note: What to say.
    """
    with contextlib.suppress(OSError):
        write_aside(folder / NOTE, (json.dumps(note._asdict()) + "\n").encode())


def read_note(folder: Path) -> ProgressNote | None:
    """Read the note of a client.

    Args:
        folder: The folder of tiles.

    Returns:
        The note; None if nobody left one that can be read.
    """
    if (folder / NOTE).is_symlink():
        return None
    try:
        content = json.loads((folder / NOTE).read_bytes())
        kinds = ProgressNote.__annotations__  # of anything else nothing is believed
        return ProgressNote(**{name: kinds[name](content[name]) for name in kinds})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def age(note: ProgressNote) -> float:
    """Seconds since a note was left.

    Args:
        note: The note.

    Returns:
        The number of seconds.
    """
    return max(0.0, time.time() - note.time)
