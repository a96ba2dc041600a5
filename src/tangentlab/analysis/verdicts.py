"""From estimates to what can be said of a claim.

>>> holm([0.01, 0.04, 0.03]).tolist()
[0.03, 0.06, 0.06]
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from .resampling import Estimate

Verdict = Literal["confirmed", "refuted", "inconclusive", "recorded"]
"""What numbers say of a claim; `recorded` of what is told and is no claim."""
Kind = Literal["number", "log p", "reading"]
"""How findings of several runs are joined: by their intervals; as base-10 logarithms of
p-values, without intervals, of which a large one decides nothing; or as the reading
that a run chose, which must have one name in all runs."""
Percent = Literal["share"] | bool
"""Whether a number is shown times 100: True for a difference of shares, in points."""

_LEVEL = 0.025  # one-sided, that of a 95 % interval


class Threshold(NamedTuple):
    """What an estimate is compared with.

    Attributes:
        value: The number.
        above: A claim holds above it, else below.
    """

    value: float
    above: bool


class Finding(NamedTuple):
    """One measured number of a claim.

    Attributes:
        name: Of what, in a few words.
        estimate: The number and its interval.
        verdict: Of this number alone; None where it is reported and not judged.
        percent: Show it in points of percent, as a difference; as a `"share"` in
            percent, a part of a whole.
        threshold: What it was compared with, so that several runs can be judged
            together; None where it is reported and not judged.
        kind: How several runs are joined.
    """

    name: str
    estimate: Estimate
    verdict: Verdict | None = None
    percent: Percent = False
    threshold: Threshold | None = None
    kind: Kind = "number"


class Claim(NamedTuple):
    """A claim, its measurement and what can be said.

    Attributes:
        id: Short name, such as `D1`.
        statement: What is claimed.
        criterion: When it holds, fixed before the run.
        findings: What was measured.
        verdict: From this run.
        remark: Why it is inconclusive, or what else to know.
        limit: The criterion in a few symbols, for figures.
        alone: What its numbers alone would have it, where too few seeds leave it open.
    """

    id: str
    statement: str
    criterion: str
    findings: tuple[Finding, ...]
    verdict: Verdict
    remark: str = ""
    limit: str = ""
    alone: "Claim | None" = None


def holm(p: ArrayLike) -> Float[np.ndarray, " k"]:
    """Holm's adjustment of p-values for several tests at once.

    Args:
        p: One p-value per test.

    Returns:
        Adjusted p-values, in the same order, to be compared with the level itself.

    Raises:
        ValueError: If a value is no probability.

    Reference:
        Holm, "A simple sequentially rejective multiple test procedure", 1979.
    """
    p = np.asarray(p, float)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p-values must be a list of numbers in [0, 1], got {p}.")
    order = np.argsort(p, stable=True)
    factors = len(p) - np.arange(len(p))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return adjusted


def judge(
    estimates: Sequence[Estimate], threshold: float | int, *, above: bool
) -> list[Verdict]:
    """Compare the models of one claim with its threshold, by Holm's procedure.

    A model holds if its interval lies beyond the threshold, and does not if it lies on
    the other side; else it is inconclusive.

    Args:
        estimates: One for each model.
        threshold: The threshold.
        above: Beyond means above it, else below.

    Returns:
        One verdict for each model.
    """
    known = [i for i, e in enumerate(estimates) if not np.isnan(e.doubt(0, above=True))]
    verdicts: list[Verdict] = ["inconclusive"] * len(estimates)
    sides: list[tuple[Verdict, bool]] = [("confirmed", above), ("refuted", not above)]
    for verdict, side in sides:
        doubts = [estimates[i].doubt(threshold, above=side) for i in known]
        for i, p in zip(known, holm(doubts), strict=True):
            if p <= _LEVEL:
                verdicts[i] = verdict
    return verdicts


def judge_together(findings: Sequence[Finding]) -> list[Finding]:
    """Judge the numbers of one claim, by Holm's procedure over all of them.

    Args:
        findings: Each with a threshold of its own, or with none.

    Returns:
        Those with a threshold have a verdict; the others are as they were. p-values are
        adjusted apart from the numbers with an interval, and a large one decides
        nothing.
    """
    found = list(findings)
    for is_p, rule in ((False, _by_intervals), (True, _by_p_values)):
        places = [
            at
            for at, each in enumerate(found)
            if each.threshold is not None and (each.kind == "log p") == is_p
        ]
        verdicts = rule([found[at] for at in places])
        for at, verdict in zip(places, verdicts, strict=True):
            found[at] = found[at]._replace(verdict=verdict)
    return found


def _by_intervals(findings: Sequence[Finding]) -> list[Verdict]:
    beyond = [
        each.estimate.beyond(each.threshold.value, above=each.threshold.above)
        for each in findings
        if each.threshold is not None
    ]
    return judge(beyond, 0.0, above=True)


def _by_p_values(findings: Sequence[Finding]) -> list[Verdict]:
    """Each adjusted p-value against its own level."""
    adjusted = np.log10(holm([10**each.estimate.value for each in findings]))
    return [
        "confirmed" if each.threshold and p < each.threshold.value else "inconclusive"
        for each, p in zip(findings, adjusted, strict=True)
    ]


def left_open(claim: Claim, why: str) -> Claim:
    """Leave a claim open, whatever its numbers say.

    Args:
        claim: As its numbers alone would have it.
        why: Too little was measured; empty if it was enough.

    Returns:
        The claim without a verdict, and with one in `alone`; as it is where enough was
        measured, or where there is nothing to judge.
    """
    if not why or claim.verdict == "recorded":
        return claim
    if claim.verdict != "inconclusive":
        why += f"; the numbers alone would have it {claim.verdict}"
    remark = "; ".join(filter(None, [why, claim.remark]))
    return claim._replace(verdict="inconclusive", remark=remark, alone=claim)


def all_of(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict of a claim about all models.

    Args:
        verdicts: One for each model.

    Returns:
        It holds if all hold, and does not if one does not; recorded if all are.
    """
    if "refuted" in verdicts:
        return "refuted"
    kinds = set(verdicts)
    return kinds.pop() if len(kinds) == 1 else "inconclusive"
