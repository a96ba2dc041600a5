"""Hands units to workers until all are done, whoever dies meanwhile.

Dask carries messages and knows who is alive; which worker does what is decided here,
because units that share what a worker keeps in memory should stay with it. Nothing that
is lost matters: a unit that did not come back is handed out again.
"""

import logging
import queue
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .failures import is_lost_work
from .links import PATIENCE, Link
from .surveying import survey_workers
from .units import Queue, Unit
from .work import State, Work
from .worker import Answer, Recipe, greet, work

_log = logging.getLogger(__name__)
_TICK = 0.25  # seconds that an answer is waited for, before others are looked at
_LOOK = 1.0  # seconds between looks at who is alive
_LOSSES = 4  # of one unit, or greeting, after which something is wrong with it
_DEATHS = 20  # of workers at one unit: others may have killed them
_SLOW = 3.0  # times the median of a unit's seconds, until another worker tries it too
_HASTE = 5.0  # seconds that no unit is called slow in
_GRACE = 5.0  # seconds in which another worker may come when all are unfit


@dataclass
class _Hand:
    """A worker: the units that it has, and since when it is at the first of them."""

    greeting: Any  # the future of its greeting
    ready: bool = False
    units: dict[Any, Unit] = field(default_factory=dict)  # by future
    since: float = 0.0


class _Run:
    """The state of a piece of work that is being done."""

    def __init__(self, link: Link, task: Work, recipe: Recipe):
        self.link, self.task, self.recipe = link, task, recipe
        self.hands: dict[str, _Hand] = {}
        self.unfit: dict[str, str] = {}
        self.waiting: Queue | None = None
        self.left: set[int] = set()
        self.losses: Counter[int | str] = Counter()  # by unit, or worker that greets
        self.deaths: Counter[int] = Counter()  # by unit
        self.retries = 0
        self.seconds: list[float] = []
        self.heard: queue.Queue[tuple[str, Any, Answer | BaseException]] = queue.Queue()
        self.last_worker = time.monotonic()

    def go(self) -> None:
        """Until all units are done."""
        look = 0.0
        while self.waiting is None or self.left:
            if time.monotonic() > look:
                self._look_around()
                look = time.monotonic() + _LOOK
            self._hand_out()
            try:
                self._hear(*self.heard.get(timeout=_TICK))
            except queue.Empty:
                pass
        self._tell()

    def _tell(self) -> None:
        ready = sum(hand.ready for hand in self.hands.values())
        self.task.tell(State(ready, self.retries, self.link.dashboard))

    def _look_around(self) -> None:
        """Who is there, who is new, who is gone."""
        if self.link.is_lost:
            _log.warning("The scheduler is gone; waiting for it")
            for address in list(self.hands):
                self._lose(address)
            self.link.reconnect()
            self.last_worker = time.monotonic()
        there = self.link.workers()
        for address in set(self.hands) - there:
            _log.warning("Worker %s is gone", address)
            at = next(iter(self.hands[address].units.values()), None)
            self._lose(address)
            if at is not None:
                self._count(self.deaths, at, _DEATHS, "its worker died")
        for address in there - set(self.hands) - set(self.unfit):
            self._greet(address)
        if self.hands:
            self.last_worker = time.monotonic()
        self._check_anyone(there)
        self._tell()

    def _check_anyone(self, there: set[str]) -> None:
        alone = time.monotonic() - self.last_worker
        if there and there <= set(self.unfit) and alone > _GRACE:
            reasons = "; ".join(f"{a}: {self.unfit[a]}" for a in sorted(there))
            raise ValueError(f"No worker is fit for this work: {reasons}")
        if alone > PATIENCE:
            raise OSError(self.link.nobody())

    def _greet(self, address: str) -> None:
        self.hands[address] = _Hand(self._submit(address, greet, self.recipe))

    def _lose(self, address: str) -> None:
        hand = self.hands.pop(address, None)
        if hand is None:
            return
        if self.waiting is not None:
            self.waiting.forget(address)
        for future, unit in hand.units.items():
            self._lose_unit(future, unit)

    def _lose_unit(self, future: Any, unit: Unit) -> None:
        future.cancel()
        if unit.number not in self.left or self.waiting is None:
            return
        if any(unit in hand.units.values() for hand in self.hands.values()):
            return  # another worker is at it
        self.retries += 1
        self.waiting.give_back(unit)

    def _hand_out(self) -> None:
        if self.waiting is None:
            return
        ready = {a: hand for a, hand in self.hands.items() if hand.ready}
        for address, hand in ready.items():
            # A second unit hides the way of the message; not when few are left.
            most = 2 if len(self.waiting) > 2 * len(ready) else 1
            while len(hand.units) < most:
                unit = self.waiting.take(address) or self._slow(address)
                if unit is None:
                    break
                if not hand.units:
                    hand.since = time.monotonic()
                future = self._submit(address, work, self.recipe.key, unit.items)
                hand.units[future] = unit

    def _slow(self, asking: str) -> Unit | None:
        """A unit that takes another worker too long, for one that has nothing to do."""
        if self.hands[asking].units or not self.seconds:
            return None
        limit = max(_HASTE, _SLOW * statistics.median(self.seconds))
        now = time.monotonic()
        busy = [unit for hand in self.hands.values() for unit in hand.units.values()]
        for hand in self.hands.values():
            if now - hand.since > limit:
                for unit in hand.units.values():
                    if unit.number in self.left and busy.count(unit) == 1:
                        return unit
        return None

    def _submit(self, address: str, function: Callable[..., Any], *args: Any) -> Any:
        future = self.link.client.submit(
            function, *args, workers=[address], pure=False, retries=0
        )
        # An answer is fetched from its worker, which may hang by then: a thread waits.
        future.add_done_callback(
            lambda done: threading.Thread(
                target=self._fetch, args=(address, done), daemon=True
            ).start()
        )
        return future

    def _fetch(self, address: str, future: Any) -> None:
        try:
            self.heard.put((address, future, future.result()))
        except BaseException as error:
            self.heard.put((address, future, error))

    def _hear(self, address: str, future: Any, answer: Answer | BaseException) -> None:
        hand = self.hands.get(address)
        if hand is None or not (future is hand.greeting or future in hand.units):
            return  # of a worker that was lost, or of another at the same address
        unit = hand.units.pop(future, None)
        took, hand.since = time.monotonic() - hand.since, time.monotonic()
        if isinstance(answer, BaseException):
            self._fail(address, unit, future, answer)
        elif answer.kind == "unfit":
            self._leave_out(address, answer.value)
        elif answer.kind == "unknown":  # it was started again in between
            if unit is not None:
                self._lose_unit(future, unit)
            self._lose(address)
        elif unit is None:
            hand.ready = True
            self._begin(answer.value)
        elif unit.number in self.left:
            self.left.discard(unit.number)
            self.seconds.append(took)
            self.task.finish(unit, answer.value)
            self._tell()

    def _begin(self, greeting: Any) -> None:
        if self.waiting is None:
            units = self.task.units(greeting, len(self.hands))
            self.waiting, self.left = Queue(units), {unit.number for unit in units}

    def _fail(self, address: str, unit: Unit | None, future: Any, error: Any) -> None:
        if not is_lost_work(error):
            raise error
        if unit is not None:
            _log.warning("Worker %s lost a unit: %r", address, error)
            self._count(self.losses, unit, _LOSSES, repr(error))
            self._lose_unit(future, unit)
            return
        self._lose(address)
        self.losses[address] += 1
        if self.losses[address] >= _LOSSES:
            self._leave_out(address, f"it cannot get ready: {error!r}")

    def _leave_out(self, address: str, reason: str) -> None:
        _log.warning("Worker %s takes no part: %s", address, reason)
        self.unfit[address] = reason
        self._lose(address)

    def _count(self, lost: Counter[Any], unit: Unit, most: int, reason: str) -> None:
        """Do not give a unit to one worker after the other that dies of it."""
        lost[unit.number] += 1
        if unit.number in self.left and lost[unit.number] >= most:
            raise ChildProcessError(
                f"A unit of work was lost {most} times, at last since {reason}. If "
                "workers die of it, they want memory, most likely: give them more, or "
                "pass a smaller `memory`, in bytes a worker, with a new folder. What "
                "is finished stays; the same call goes on from there."
            )


def run_work(link: Link, task: Work) -> None:
    """Do a piece of work on a cluster.

    Args:
        link: The connection.
        task: The work.
    """
    recipe = task.recipe(survey_workers(link, task.look))
    run = _Run(link, task, recipe)
    try:
        run.go()
    finally:
        for hand in run.hands.values():
            for future in hand.units:
                future.cancel()
