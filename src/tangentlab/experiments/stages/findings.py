"""Numbers that are held against a threshold."""

from ...analysis import Estimate, Finding, Threshold

LEAST_DRAWS = 5
"""Fewer draws, or seeds, decide nothing."""


def held_against(
    name: str,
    estimate: Estimate,
    threshold: float | int,
    *,
    above: bool,
    percent: bool = False,
) -> Finding:
    """A number and what it is compared with; `with_verdict` judges it.

    Args:
        name: Of what, in a few words.
        estimate: The number.
        threshold: What it is compared with.
        above: The claim holds above it, else below.
        percent: Show it in points of percent.

    Returns:
        The finding.
    """
    limit = Threshold(float(threshold), above)
    return Finding(name, estimate, None, percent, limit)


def few_draws(num_draws: int) -> str:
    """A remark on too few draws.

    Args:
        num_draws: How many there are.

    Returns:
        The remark; empty if there are enough.
    """
    if num_draws >= LEAST_DRAWS:
        return ""
    return f"{num_draws} draws, a verdict takes {LEAST_DRAWS}"
