"""What follows about self-reference, E12.

The paper makes no such claim: it is a question to its benchmark. The criterion was
fixed before any run.
"""

import numpy as np

from ...analysis import Claim, Estimate, Finding, Threshold, mean, mean_gap
from ...data.catalog import EMBEDDED
from ..stages.judging import (
    estimate,
    telling_diverged,
    too_few_seeds,
    too_few_tasks,
    with_verdict,
)
from .results import Results
from .sources import SOURCES

FIRST = 10
"""The smallest index that counts, as in D3."""

_AHEAD = Threshold(0.0, above=True)
_LEAST_TASKS = 3


def claims(results: Results) -> tuple[Claim, ...]:
    """Judge a run.

    Args:
        results: Of a run.

    Returns:
        E12 alone.
    """
    use = counted(results)
    doubt = too_few_tasks(int(use.sum(axis=1).min()), _LEAST_TASKS)
    small = results.data == EMBEDDED
    few = too_few_seeds(results.model, len(results.seeds), small=small)
    findings = [
        Finding(f"labels of {name}", advantage(results, place), percent=True)
        for place, name in enumerate(results.names)
    ]
    at = SOURCES.index("seed")
    judged = findings.pop(at)._replace(threshold=None if doubt else _AHEAD)
    own = SOURCES.index("own")
    lost = estimate(mean_gap, use, results.advantage[:, own], results.advantage[:, at])
    extra = Finding("its own less another initialization's", lost, percent=True)
    claim = Claim(
        "E12",
        "The linearization is ahead without labels from its own kernel",
        "the mean paired lead of the linearization over the network, on indices "
        f"from {FIRST} on that every source has, is above 0 with all of its "
        "interval when labels come from another initialization's kernel; at least "
        f"{_LEAST_TASKS} indices",
        (judged, *findings, extra),
        "inconclusive",
        "" if doubt else _agreement(results),
        "lead above 0",
    )
    judged = with_verdict(claim, doubt, few=few)
    return telling_diverged((judged,), results.diverged)


def advantage(results: Results, place: int) -> Estimate:
    """Mean lead of the linearization with one source of labels.

    Args:
        results: Of a run.
        place: Of the source.

    Returns:
        Over indices for one seed, over seeds for several.
    """
    return estimate(mean, counted(results), results.advantage[:, place])


def counted(results: Results) -> np.ndarray:
    """Indices that count: the same with every source.

    Args:
        results: Of a run.

    Returns:
        A row per seed.
    """
    return results.shared & (results.index >= FIRST)[None]


def _agreement(results: Results) -> str:
    """How much the other labels have in common with the network's own."""
    use = counted(results)
    shares = [
        f"{100 * results.agreement[:, place][use].mean():.0f} % ({name})"
        for place, name in enumerate(results.names)
        if place != SOURCES.index("own")
    ]
    return f"labels equal to the own kernel's: {', '.join(shares)}"
