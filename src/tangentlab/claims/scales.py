"""How large a verification is, and what it runs."""

from typing import Any, Literal, NamedTuple

Scale = Literal["smoke", "laptop", "gpu"]
"""Embedded data in minutes; subsets of real data in hours; the paper's own sizes."""


class Run(NamedTuple):
    """One run of an experiment that a verification needs.

    Attributes:
        experiment: Its name.
        config: An instance of its config.
    """

    experiment: str
    config: Any


Runs = dict[Scale, tuple[Run, ...]]
"""What each scale runs; a scale without an entry measures nothing of it."""
