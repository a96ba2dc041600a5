"""Units of work, who has them, and in which order they are handed out.

Units of a strip share what a worker keeps in memory. A worker stays with its strip;
when that is done it takes one that nobody has begun, and then helps where most is left,
from the far end.
"""

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple


class Unfit(ValueError):
    """Raised by a worker that must not take part; says why. Others go on."""


class Unit(NamedTuple):
    """A unit of work.

    Attributes:
        number: Its own.
        strip: Units of one strip share what a worker keeps.
        items: What is to be done, as plain numbers.
    """

    number: int
    strip: int
    items: tuple[tuple[Any, ...], ...]


class Queue:
    """Units that nobody is at."""

    def __init__(self, units: Iterable[Unit]):
        """Sort units by strip.

        Args:
            units: All of them, in their best order.
        """
        self._strips: dict[int, deque[Unit]] = {}
        for unit in units:
            self._strips.setdefault(unit.strip, deque()).append(unit)
        self._at: dict[str, int] = {}

    def __len__(self) -> int:
        return sum(map(len, self._strips.values()))

    def take(self, worker: str) -> Unit | None:
        """Hand out a unit.

        Args:
            worker: Who asks.

        Returns:
            One that suits it; None if none is left.
        """
        left = {strip: len(units) for strip, units in self._strips.items() if units}
        if not left:
            return None
        mine = self._at.get(worker)
        if mine in left:
            alone = list(self._at.values()).count(mine) == 1
            units = self._strips[mine]
            return units.popleft() if alone or self._is_first(worker) else units.pop()
        begun = set(self._at.values())
        fresh = [strip for strip in left if strip not in begun]
        chosen = max(fresh or left, key=lambda strip: left[strip])
        self._at[worker] = chosen
        units = self._strips[chosen]
        return units.popleft() if fresh else units.pop()

    def give_back(self, unit: Unit) -> None:
        """Take a unit back that was lost.

        Args:
            unit: The unit, which comes next.
        """
        self._strips[unit.strip].appendleft(unit)

    def forget(self, worker: str) -> None:
        """Forget where a worker was.

        Args:
            worker: One that is gone.
        """
        self._at.pop(worker, None)

    def _is_first(self, worker: str) -> bool:
        mine = self._at[worker]
        return next(w for w, strip in self._at.items() if strip == mine) == worker
