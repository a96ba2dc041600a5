"""How large a verification is, and what it runs."""

from typing import Any, Literal, NamedTuple, get_args

Scale = Literal["smoke", "laptop", "gpu"]
"""Embedded data in minutes; subsets of real data in hours; the paper's own sizes."""

SCALES: tuple[Scale, ...] = get_args(Scale)


class Run(NamedTuple):
    """One run of an experiment that a verification needs.

    Attributes:
        experiment: Its name.
        config: An instance of its config.
        claims: The claims its report judges, such as `("D1", "D2")`; known before it
            runs, so that one claim can be verified without the rest.
    """

    experiment: str
    config: Any
    claims: tuple[str, ...] = ()


Runs = dict[Scale, tuple[Run, ...]]
"""What each scale runs; a scale without an entry measures nothing of it."""
