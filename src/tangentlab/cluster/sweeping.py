"""One function of many things, each a unit: tasks, seeds, learning rates.

Samples that tasks share are a file that each worker maps once, not a part of every
message.
"""

import hashlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._progress import progress_bar
from .fitness import all_found, check_versions, versions
from .links import check_cluster, linked
from .references import Known, Reference, refer
from .running import run_work
from .units import Unit
from .work import State


def sweep(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    cluster: Any,
    store: str | PathLike[str] | None = None,
    progress: bool | str = False,
) -> list[Any]:
    """Apply a function to many things on the workers of a cluster.

    What a worker that died was at is done again by another. Results live in this
    process: a sweep whose client dies begins again, and goes on from what the function
    itself left on disk, such as `checkpoint` of `tl.train`.

    Args:
        function: Of one thing, such as a task; returns what can be sent, such as a
            `tl.History`. It travels by its import path, or saved. A Gram matrix on
            disk travels as the name of its folder.
        items: The things.
        cluster: See `tl.gram`.
        store: Folder that all workers see, for the arrays that function and things
            carry: each is written once, and mapped into the memory of each worker.
            Without it, 16 MB at most are sent with either.
        progress: Show a progress bar; a string is its title.

    Returns:
        One result a thing, in their order.
    """
    check_cluster(cluster)
    folder = None if store is None else Path(store).resolve()
    known: Known = {}
    sent = [refer("items", item, folder, known) for item in items]
    made = _Sweep(refer("function", function, folder, known), sent)
    with linked(cluster) as link, ExitStack() as bar:
        made.advance = bar.enter_context(
            progress_bar(
                progress if isinstance(progress, str) else "Sweep",
                len(made.items),
                show=bool(progress),
                unit="units",
                note=lambda: made.state.describe(),
            )
        )
        run_work(link, made)
    return [made.results[number] for number in range(len(made.items))]


def look() -> dict[str, Any]:
    """Look at what a worker has; a function needs nothing.

    Returns:
        Nothing.
    """
    return {}


@dataclass(frozen=True)
class SweepRecipe:
    """What a worker is told, once.

    Attributes:
        function: What is applied.
        wide: Whether the client has 64-bit types switched on.
        versions: Of the client's libraries.
    """

    function: Reference
    wide: bool
    versions: dict[str, str]

    @property
    def key(self) -> str:
        """Names it."""
        sent = self.function
        facts = f"{sent.path} {sent.folder} {self.wide} {self.versions} "
        return hashlib.sha256(facts.encode() + sent.saved).hexdigest()[:32]

    def open(self) -> "OpenSweep":
        """Get ready on a worker.

        Returns:
            The function, ready.
        """
        check_versions(self.versions)
        with jax.enable_x64(self.wide), all_found():
            return OpenSweep(self.function.resolve(), self.wide)


class OpenSweep(NamedTuple):
    """A function, ready on a worker.

    Attributes:
        function: What is applied.
        wide: Whether 64-bit types are switched on.
        greeting: Nothing.
    """

    function: Callable[[Any], Any]
    wide: bool
    greeting: None = None

    def do(self, items: tuple[tuple[Any, ...], ...]) -> Any:
        """Apply it.

        Args:
            items: A reference to one thing.

        Returns:
            What came of it.
        """
        with jax.enable_x64(self.wide):
            return self.function(items[0][0].resolve())


class _Sweep:
    """A sweep, as the client sees it."""

    look = staticmethod(look)

    def __init__(self, function: Reference, items: list[Reference]):
        self.function, self.items = function, items
        self.results: dict[int, Any] = {}
        self.state = State(0, 0, "")
        self.advance: Callable[[int], None] = lambda _: None

    def recipe(self, seen: dict[str, dict[str, Any]]) -> SweepRecipe:
        wide = bool(jnp.result_type(float) == jnp.float64)
        return SweepRecipe(self.function, wide, versions())

    def units(self, greeting: Any, workers: int) -> list[Unit]:
        return [Unit(i, i, ((item,),)) for i, item in enumerate(self.items)]

    def finish(self, unit: Unit, outcome: Any) -> None:
        self.results[unit.number] = outcome
        self.advance(1)

    def tell(self, state: State) -> None:
        self.state = state
        self.advance(0)
