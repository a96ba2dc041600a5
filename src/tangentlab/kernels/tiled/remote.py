"""A folder of tiles that workers of a cluster fill.

The client names the work and hears of it; workers read the inputs beside the tiles,
make sure that they mean the same computation, and write tiles themselves. The folder is
the truth: the client only asks for what is not there.
"""

import hashlib
import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np

from ...cluster.fitness import all_found, check_versions
from ...cluster.units import Unfit
from ..planning import backend
from .folder import write_tile
from .producing import Maker, keep_sound
from .resources import check_room, room
from .tiles import Place
from .writing import written_meanwhile

_log = logging.getLogger(__name__)


@runtime_checkable
class Subject(Protocol):
    """What is computed, small enough to be sent: arrays are published beside it."""

    def check(self, folder: Path) -> None:
        """Verify the arrays that were published; raises if they are others.

        Args:
            folder: The folder of tiles.
        """
        ...

    def prepare(self, folder: Path) -> Any:
        """Read it again on a worker; of its arrays `check` says what they are.

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
        feature_bytes: Of all examples, if workers may share them; else 0.
    """

    kept: int
    feature_bytes: int


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
            with all_found():
                prepared, found = self._read(folder)
            differ = [name for name in self.hashes if found[name] != self.hashes[name]]
            if differ:
                raise Unfit(
                    f"{', '.join(f'`{name}`' for name in differ)} is not the same "
                    "there as for the client; give it the same code and files"
                )
            maker = self.subject.maker(prepared, found, self.memory, folder)
        check_room(maker.manifest.plan.get("needed", 0), room())
        return OpenFolder(maker, folder, self.wide)

    def _read(self, folder: Path) -> tuple[Any, dict[str, str]]:
        """What is computed, and its fingerprint; its arrays are verified meanwhile."""
        with ThreadPoolExecutor(1) as aside:
            checking = aside.submit(self._check_arrays, folder)
            prepared = self.subject.prepare(folder)
            found = self.subject.fingerprint(prepared)
            checking.result()
        return prepared, found

    def _check_arrays(self, folder: Path) -> None:
        with jax.enable_x64(self.wide):  # which each thread has its own of
            self.subject.check(folder)

    def _check_worker(self) -> None:
        check_versions(self.versions)
        if backend() != self.backend:
            raise Unfit(f"it computes on a {backend()}, the others on a {self.backend}")
        if not Path(self.folder).is_dir():
            raise Unfit(
                f"it does not see {self.folder}: the folder must lie on a file system "
                "that all workers share, at the same path"
            )
        if not os.access(self.folder, os.W_OK):
            raise Unfit(
                f"it may not write to {self.folder}: mount the folder for writing, and "
                "give the worker's user the right to"
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
        self.greeting = Greeting(maker.kept, maker.feature_bytes)
        self._maker, self._wide = maker, wide
        self._grid = maker.manifest.grid(folder)

    def do(self, items: tuple[tuple[int, int, bool], ...]) -> Outcome:
        """Make some tiles right; each is written while the next is computed.

        Args:
            items: Number down and across of each, and whether to verify one that is
                there.

        Returns:
            What was done; all of it is on the disk.
        """
        computed, damaged, there = [], [], []
        _log.info("takes unit-%05d-%05d", *items[0][:2])
        with jax.enable_x64(self._wide), written_meanwhile(self._write) as write:
            for row, column, check in items:
                place = self._grid.place(row, column)
                existed = check and self._grid.path(place).exists()
                sound = keep_sound if check else type(self._grid).is_there
                if sound(self._grid, place):
                    there.append((row, column))
                    continue
                if existed:
                    damaged.append((row, column))
                _log.info("begins %s", self._grid.path(place).name)
                write(place, self._maker.compute(place, lambda _: None))
                computed.append((row, column))
        return Outcome(tuple(computed), tuple(damaged), tuple(there))

    def _write(self, place: Place, values: np.ndarray) -> None:
        if not self._grid.is_there(place):  # nobody was faster
            write_tile(self._grid, place, values)
            _log.info("wrote %s", self._grid.path(place).name)
