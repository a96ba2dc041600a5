"""Numbers held against a threshold, and the claim that follows from them."""

from collections.abc import Sequence

from ...analysis import (
    Estimate,
    Finding,
    Threshold,
    Verdict,
    all_of,
    bootstrap,
    judge,
    mean,
)

LEAST_DRAWS = 5
"""An interval over fewer draws or seeds decides nothing."""


def judged(
    name: str,
    estimate: Estimate,
    threshold: float | int,
    *,
    above: bool,
    percent: bool = False,
) -> Finding:
    """A number and whether it lies beyond a threshold, with all of its interval.

    Args:
        name: Of what, in a few words.
        estimate: The number.
        threshold: What it is compared with.
        above: The claim holds above it, else below.
        percent: Show it in points of percent.

    Returns:
        The finding with its verdict.
    """
    (verdict,) = judge([estimate], threshold, above=above)
    limit = Threshold(float(threshold), above)
    return Finding(name, estimate, verdict, percent, limit)


def over_draws(values: Sequence[float | int]) -> Estimate:
    """The mean over independent draws, or seeds, with its bootstrap interval.

    Args:
        values: One number a draw.

    Returns:
        The estimate.
    """
    return bootstrap(mean, [float(value) for value in values])


def verdict_of(findings: Sequence[Finding], num_draws: int | None = None) -> Verdict:
    """What all judged findings of a claim say together.

    Args:
        findings: Those without a verdict are reported only.
        num_draws: How many draws stand behind their intervals; None where there is no
            chance in them.

    Returns:
        `confirmed` if all are, `refuted` if one is, `inconclusive` else, and whenever
        there are too few draws.
    """
    if num_draws is not None and num_draws < LEAST_DRAWS:
        return "inconclusive"
    return all_of([each.verdict for each in findings if each.verdict is not None])


def few_draws(num_draws: int) -> str:
    """A remark on too few draws.

    Args:
        num_draws: How many there are.

    Returns:
        The remark; empty if there are enough.
    """
    if num_draws >= LEAST_DRAWS:
        return ""
    return f"{num_draws} draws, an interval needs at least {LEAST_DRAWS}"
