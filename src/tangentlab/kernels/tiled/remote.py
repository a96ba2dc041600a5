"""A folder of tiles that workers of a cluster fill.

The client names the work and hears of it; workers read the inputs beside the tiles,
make sure that they mean the same computation, and write tiles themselves. The folder is
the truth: the client only asks for what is not there.
"""

import hashlib
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np

from ...cluster.units import Unfit
from ..planning import backend
from .folder import write_tile
from .manifest import versions
from .producing import Maker, keep_sound
from .resources import check_room, memory_limit
from .tiles import Place

_log = logging.getLogger(__name__)


@runtime_checkable
class Subject(Protocol):
    """What is computed, small enough to be sent: arrays are published beside it."""

    def prepare(self, folder: Path) -> Any:
        """Read it again on a worker.

        Args:
            folder: The folder of tiles.

        Returns:
            What `fingerprint` and `maker` take.
        """
        ...

    def fingerprint(self, prepared: Any) -> dict[str, str]:
        """Hash what it is computed of.

        Args:
            prepared: From `prepare`.

        Returns:
            Hashes by what they are of.
        """
        ...

    def maker(
        self, prepared: Any, hashes: dict[str, str], memory: int | None, folder: Path
    ) -> Maker:
        """Begin the folder, or go on with it.

        Args:
            prepared: From `prepare`.
            hashes: From `fingerprint`.
            memory: Bytes that may be used.
            folder: The folder of tiles.

        Returns:
            What computes tiles.
        """
        ...


class Greeting(NamedTuple):
    """What a worker says when it is ready.

    Attributes:
        kept: Panels along the rows that stay in memory.
    """

    kept: int


class Outcome(NamedTuple):
    """What came of a unit.

    Attributes:
        computed: Tiles that were computed.
        damaged: Those of them that were there, and damaged.
        there: Tiles that were there.
    """

    computed: tuple[tuple[int, int], ...]
    damaged: tuple[tuple[int, int], ...]
    there: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class FolderRecipe:
    """What a worker is told, once.

    Attributes:
        folder: The folder of tiles, at the same path everywhere.
        subject: What is computed.
        hashes: What the client's computation is of.
        versions: Of the client's libraries.
        backend: Kind of device that fills this folder.
        memory: Bytes that each worker may use.
        wide: Whether the client has 64-bit types switched on.
    """

    folder: str
    subject: Subject
    hashes: dict[str, str]
    versions: dict[str, str]
    backend: str
    memory: int
    wide: bool

    @property
    def key(self) -> str:
        """Names it."""
        rest = [self.folder, self.versions, self.backend, self.memory, self.wide]
        text = json.dumps([*rest, self.hashes], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def open(self) -> "OpenFolder":
        """Get ready on a worker.

        Returns:
            The folder, ready.

        Raises:
            Unfit: If this worker would compute something else, or cannot.
        """
        self._check_worker()
        folder = Path(self.folder)
        with jax.enable_x64(self.wide):
            try:
                prepared = self.subject.prepare(folder)
                found = self.subject.fingerprint(prepared)
            except (ImportError, AttributeError, FileNotFoundError) as error:
                raise Unfit(
                    f"it cannot read what is computed: {error}. Put the module on its "
                    "PYTHONPATH, and the folder where all see it"
                ) from error
            differ = [name for name in self.hashes if found[name] != self.hashes[name]]
            if differ:
                raise Unfit(
                    f"{', '.join(f'`{name}`' for name in differ)} is not the same "
                    "there as for the client; give it the same code and files"
                )
            maker = self.subject.maker(prepared, found, self.memory, folder)
        check_room(maker.manifest.plan.get("needed", 0), memory_limit())
        return OpenFolder(maker, folder, self.wide)

    def _check_worker(self) -> None:
        mine = versions()
        if mine != self.versions:
            raise Unfit(f"it has {mine}, the client {self.versions}; install the same")
        if backend() != self.backend:
            raise Unfit(f"it computes on a {backend()}, the others on a {self.backend}")
        if not Path(self.folder).is_dir():
            raise Unfit(
                f"it does not see {self.folder}: the folder must lie on a file system "
                "that all workers share, at the same path"
            )


class OpenFolder:
    """A folder of tiles, ready on a worker."""

    def __init__(self, maker: Maker, folder: Path, wide: bool):
        """Keep what computes tiles.

        Args:
            maker: Computes tiles.
            folder: Where to.
            wide: Whether 64-bit types are switched on.
        """
        self.greeting = Greeting(maker.kept)
        self._maker, self._wide = maker, wide
        self._grid = maker.manifest.grid(folder)

    def do(self, items: tuple[tuple[int, int, bool], ...]) -> Outcome:
        """Make some tiles right.

        Args:
            items: Number down and across of each, and whether to verify one that is
                there.

        Returns:
            What was done.
        """
        computed, damaged, there = [], [], []
        with jax.enable_x64(self._wide):
            for row, column, check in items:
                place = self._grid.place(row, column)
                existed = check and self._grid.path(place).exists()
                sound = keep_sound if check else type(self._grid).is_there
                if sound(self._grid, place):
                    there.append((row, column))
                    continue
                if existed:
                    damaged.append((row, column))
                self._make(place)
                computed.append((row, column))
        return Outcome(tuple(computed), tuple(damaged), tuple(there))

    def _make(self, place: Place) -> None:
        name = self._grid.path(place).name
        _log.info("begins %s", name)
        values: np.ndarray = self._maker.compute(place, lambda _: None)
        if not self._grid.is_there(place):  # nobody was faster
            write_tile(self._grid, place, values)
            _log.info("wrote %s", name)
