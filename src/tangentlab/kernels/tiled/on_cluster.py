"""The client's side of a folder that workers fill: units, progress, what to report."""

import logging
import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import jax.numpy as jnp

from ..._aside import remove_leftovers
from ..._linalg import blocks
from ..._progress import Advance, progress_bar
from ...cluster.fitness import versions
from ...cluster.links import Link
from ...cluster.running import run_work
from ...cluster.units import Unit
from ...cluster.work import State
from ..request import Request
from .folder import check_space
from .manifest import read_manifest
from .progress_note import ProgressNote, write_note
from .remote import FolderRecipe, Greeting, Outcome, Subject
from .resources import backend_of, idle_gpus, look, memory_of
from .shared_features import is_worth_sharing, open_room, remove_room
from .tiled_gram import TiledGram, open_gram
from .tiles import Grid, Place
from .units import even, in_order

_log = logging.getLogger(__name__)
_MOST = 16  # tiles of a unit
_TURNS = 8  # units of each worker, at least, so that all end at the same time
_NOTE_EVERY = 2.0  # seconds


def fill_on_cluster(
    subject: Subject,
    hashes: dict[str, str],
    request: Request,
    folder: Path,
    link: Link,
    verified: Callable[[], None] = lambda: None,
) -> TiledGram:
    """Let workers compute a Gram matrix into a folder, or what is missing there.

    Args:
        subject: What is computed, published.
        hashes: Its fingerprint.
        request: Memory of each worker, and progress.
        folder: Where to, checked.
        link: Their cluster.
        verified: Returns when it is known that tiles will be right, or raises. Workers
            get ready meanwhile.

    Returns:
        The Gram matrix on disk.
    """
    remove_leftovers(folder)
    with ExitStack() as stack:
        stack.callback(remove_room, folder)
        task = FolderWork(subject, hashes, request, folder, stack, verified)
        run_work(link, task)
        task.leave_note(finished=True)
    return open_gram(folder)


class FolderWork:
    """A folder of tiles, as the client sees it."""

    look = staticmethod(look)

    def __init__(
        self,
        subject: Subject,
        hashes: dict[str, str],
        request: Request,
        folder: Path,
        bar: ExitStack,
        verified: Callable[[], None],
    ):
        """Keep what is asked.

        Args:
            subject: What is computed.
            hashes: Its fingerprint.
            request: Memory of each worker.
            folder: Where to.
            bar: Closes the progress bar, which is drawn when the tiles are known.
            verified: Returns when tiles may be computed.
        """
        self._subject, self._hashes = subject, hashes
        self._request, self._folder = request, folder
        self._state = State(0, 0, "")
        self._bar = bar
        self._verified = verified
        self._advance: Advance = lambda _: None
        self._damaged = 0
        self._noted = 0.0
        self._sharing = False  # of features, once several workers are there

    def recipe(self, seen: dict[str, dict[str, Any]]) -> FolderRecipe:
        """Decide what workers are told.

        Args:
            seen: What they have, by address.

        Returns:
            The recipe.
        """
        for line in idle_gpus(seen):
            _log.warning("%s", line)
        kind, memory = backend_of(self._folder, seen), self._request.memory
        return FolderRecipe(
            str(self._folder),
            self._subject,
            self._hashes,
            versions(),
            kind,
            memory_of(kind, seen) if memory is None else memory,
            wide=self._request.precision == "float64"
            or jnp.result_type(float) == jnp.float64,
        )

    def units(self, greeting: Greeting, workers: int) -> list[Unit]:
        """Cut the tiles into units: some rows of tiles, a column or a part of it.

        Args:
            greeting: What the first worker said.
            workers: How many there are.

        Returns:
            The units; tiles that are there are in them, to be verified.
        """
        self._verified()
        grid = read_manifest(self._folder).grid(self._folder)
        places = list(grid.places())
        missing = [place for place in places if not grid.is_there(place)]
        check_space(grid, missing)
        panels = math.ceil(grid.shape[0] / grid.side)
        kept = max(1, min(greeting.kept, math.ceil(panels / workers), _MOST))
        tile_bytes = sum(map(grid.num_bytes, missing))
        self._sharing = is_worth_sharing(
            greeting.feature_bytes, self._folder, tile_bytes
        )
        self._share(workers)
        self._advance = self._bar.enter_context(
            progress_bar(
                "Gram matrix",
                len(places),
                show=self._request.progress,
                done=len(places) - len(missing),
                unit="tiles",
                note=lambda: self._state.describe(),
            )
        )
        turns = _TURNS * workers if workers > 1 else 1
        most = min(_MOST, math.ceil(len(places) / turns))
        return cut_units(grid, kept, missing, most)

    def _share(self, workers: int) -> None:
        if self._sharing and workers > 1:
            open_room(self._folder)

    def finish(self, unit: Unit, outcome: Outcome) -> None:
        """Count what is done, and report what was damaged.

        Args:
            unit: The unit.
            outcome: What came of it.
        """
        for row, column in outcome.damaged:
            self._damaged += 1
            name = f"tile-{row:05d}-{column:05d}.npy"
            _log.warning("%s was damaged and is computed again", self._folder / name)
        self._advance(sum(not check for _, _, check in unit.items))

    def tell(self, state: State) -> None:
        """Leave a note, now and then.

        Args:
            state: How far it is.
        """
        self._state = state
        self._share(state.workers)
        self._advance(0)
        if time.monotonic() > self._noted + _NOTE_EVERY:
            self._noted = time.monotonic()
            self.leave_note(finished=False)

    def leave_note(self, *, finished: bool) -> None:
        """Leave a note for other shells.

        Args:
            finished: Whether all is done.
        """
        workers, retries, dashboard = self._state
        said = workers, retries, self._damaged, dashboard, time.time(), finished
        write_note(self._folder, ProgressNote(*said))


def cut_units(
    grid: Grid, kept: int, missing: list[Place], most: int = _MOST
) -> list[Unit]:
    """Units of tiles, of which those of a strip share panels along the rows.

    Args:
        grid: The tiles.
        kept: Panels along the rows of a strip.
        missing: Tiles that are not there; the others are to be verified.
        most: Tiles of a unit: long columns are cut, and short ones go together.

    Returns:
        The units.
    """
    starts = {(place.rows.start, place.columns.start) for place in missing}
    columns: dict[tuple[int, int], list[tuple[int, int, bool]]] = {}
    for place in in_order(grid.places(), grid.side, kept):
        row, column = (part.start // grid.side for part in place)
        items = columns.setdefault((row // kept, column), [])
        check = (place.rows.start, place.columns.start) not in starts
        items.append((row, column, check))
    # A strip begins at the diagonal, where columns are among its rows. Who joins later
    # begins at the other end, with columns that were rows of the strips before.
    ordered = sorted(columns.items(), key=lambda unit: (unit[0][0], -unit[0][1]))
    units: list[Unit] = []
    for (strip, _), items in ordered:
        for part in blocks(len(items), even(len(items), most)):
            fresh, last = tuple(items[part]), units[-1] if units else None
            if last and last.strip == strip and len(last.items + fresh) <= most:
                units[-1] = last._replace(items=last.items + fresh)
            else:
                units.append(Unit(len(units), strip, fresh))
    return units
