"""What runs inside a worker: one piece of work stays open, and units of it are done.

A worker is told what it works on once. Units after that name it by its key. Whatever
the number of a worker's threads, it does one unit at a time.
"""

import threading
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from .units import Unfit


@runtime_checkable
class Opened(Protocol):
    """A piece of work, ready on a worker."""

    @property
    def greeting(self) -> Any:
        """What the client wants to know of it."""
        ...

    def do(self, items: tuple[tuple[Any, ...], ...]) -> Any:
        """Do a unit.

        Args:
            items: Those of the unit.

        Returns:
            What came of it.
        """
        ...


@runtime_checkable
class Recipe(Protocol):
    """Everything a worker has to know; sent once to each."""

    @property
    def key(self) -> str:
        """Names it; equal for equal work."""
        ...

    def open(self) -> Opened:
        """Get ready, or raise `Unfit`.

        Returns:
            The work, ready.
        """
        ...


class Answer(NamedTuple):
    """What a worker says.

    Attributes:
        kind: `done`; `unknown`, if it must be told the recipe again; `unfit`.
        value: What came of the unit, or why the worker must not take part.
    """

    kind: Literal["done", "unknown", "unfit"]
    value: Any = None


_open: dict[str, Opened] = {}  # at most one: its arrays fill the memory
_one_at_a_time = threading.RLock()


def greet(recipe: Recipe) -> Answer:
    """Get ready for work.

    Args:
        recipe: The work.

    Returns:
        Its greeting, or why this worker must not take part.
    """
    with _one_at_a_time:
        try:
            if recipe.key not in _open:
                _open.clear()
                _open[recipe.key] = recipe.open()
            return Answer("done", _open[recipe.key].greeting)
        except Unfit as error:
            return Answer("unfit", str(error))


def work(key: str, items: tuple[tuple[Any, ...], ...]) -> Answer:
    """Do a unit.

    Args:
        key: Of the recipe.
        items: Those of the unit.

    Returns:
        What came of it.
    """
    with _one_at_a_time:
        if key not in _open:
            return Answer("unknown")
        return Answer("done", _open[key].do(items))


def forget() -> None:
    """Close the work that is open, and free its memory."""
    with _one_at_a_time:
        _open.clear()


def survey(look: Callable[[], dict[str, Any]]) -> Answer:
    """Look at what a worker has.

    Args:
        look: Looks, on the worker.

    Returns:
        What it saw.
    """
    return Answer("done", look())
