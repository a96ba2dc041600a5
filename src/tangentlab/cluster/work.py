"""What the client knows of a piece of work, whatever it is."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

from .units import Unit
from .worker import Recipe


class State(NamedTuple):
    """How far it is.

    Attributes:
        workers: Those alive that take part.
        retries: Units that were lost and handed out again.
        dashboard: Where Dask shows what its workers do.
    """

    workers: int
    retries: int
    dashboard: str

    def describe(self) -> str:
        """What a progress bar says of the cluster.

        Returns:
            One line, with a link to Dask's own page.
        """
        text = f"{self.workers} workers, {self.retries} retries"
        if not self.dashboard or "[" in self.dashboard:  # IPv6, which ends a link
            return text
        return f"{text}, [link={self.dashboard}]dashboard[/link]"


@runtime_checkable
class Work(Protocol):
    """A piece of work, as the client sees it."""

    look: Callable[[], dict[str, Any]]
    """Looks at what a worker has; importable there."""

    def recipe(self, seen: dict[str, dict[str, Any]]) -> Recipe:
        """Decide what workers are told, of what they have.

        Args:
            seen: What was seen, by address.

        Returns:
            The recipe.
        """
        ...

    def units(self, greeting: Any, workers: int) -> list[Unit]:
        """Cut the work into units.

        Args:
            greeting: What the first worker said.
            workers: How many there are.

        Returns:
            The units.
        """
        ...

    def finish(self, unit: Unit, outcome: Any) -> None:
        """Hear of a unit that is done.

        Args:
            unit: The unit.
            outcome: What came of it.
        """
        ...

    def tell(self, state: State) -> None:
        """Hear how far it is, now and then.

        Args:
            state: How far.
        """
        ...
