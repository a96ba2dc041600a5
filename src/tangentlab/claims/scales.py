"""How large a verification is, and what it runs."""

from typing import Any, Literal, NamedTuple, get_args

from ..models import ModelName

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
        seconds: About what it takes on a machine its scale is meant for; 0 where nobody
            knows.
        least_seeds: Initializations that a verdict takes. With fewer the numbers are
            told, and the claim is inconclusive.
        beside: Networks it looks at beside the `model` of its config.
    """

    experiment: str
    config: Any
    claims: tuple[str, ...] = ()
    seconds: int = 0
    least_seeds: int = 0
    beside: tuple[ModelName, ...] = ()

    @property
    def networks(self) -> set[str]:
        """The networks it looks at."""
        model = getattr(self.config, "model", None)
        return {*self.beside, *([model] if isinstance(model, str) else [])}


Runs = dict[Scale, tuple[Run, ...]]
"""What each scale runs; a scale without an entry measures nothing of it."""
