"""Which runs measure which claims, one file for each group of experiments."""

from ..scales import Run, Runs, Scale
from . import (
    alignment,
    eigenfunctions,
    lectures_generalization,
    lectures_width,
    nads,
    paper_sizes,
    sizes,
)

PLANS: tuple[Runs, ...] = (
    paper_sizes.RUNS,
    eigenfunctions.RUNS,
    sizes.RUNS,
    alignment.RUNS,
    lectures_width.RUNS,
    lectures_generalization.RUNS,
    nads.RUNS,
)
"""Every plan; a new file adds itself here."""


def planned(scale: Scale) -> tuple[Run, ...]:
    """What a scale runs.

    Args:
        scale: The scale.

    Returns:
        Its runs; one that several plans ask for is there once, with all its claims.
    """
    runs: list[Run] = []
    for run in (run for plan in PLANS for run in plan.get(scale, ())):
        same = (at for at, old in enumerate(runs) if old[:2] == run[:2])
        at = next(same, None)
        if at is None:
            runs.append(run)
        else:
            claims = tuple(dict.fromkeys((*runs[at].claims, *run.claims)))
            runs[at] = run._replace(claims=claims)
    return tuple(runs)
