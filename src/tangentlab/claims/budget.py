"""Time that runs may take, so that none is begun that would be cut off."""

import time
from typing import NamedTuple

from .scales import Run


class Budget(NamedTuple):
    """When to be done.

    Attributes:
        end: On the clock of `time.monotonic`; None for whenever.
    """

    end: float | None = None

    @classmethod
    def of(cls, minutes: float | int | None) -> "Budget":
        """A budget that begins now.

        Args:
            minutes: How long it lasts; None for ever, 0 to begin nothing.

        Returns:
            The budget.

        Raises:
            ValueError: If it is negative.
        """
        if minutes is None:
            return cls()
        if minutes < 0:
            raise ValueError(
                f"minutes must be at least 0 (nothing is begun), got {minutes:g}."
            )
        return cls(time.monotonic() + 60 * minutes)

    def refuses(self, run: Run) -> str:
        """Why a run is not begun.

        Args:
            run: The run, with what it takes by estimate.

        Returns:
            The reason; empty if it may begin.
        """
        if self.end is None:
            return ""
        left = self.end - time.monotonic()
        if left <= 0:
            return "the time given was over"
        if run.seconds <= left:
            return ""
        return f"it takes about {run.seconds} s, and {left:.0f} s were left"
