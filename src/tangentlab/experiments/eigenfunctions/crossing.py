"""Where the curves of network and linearization cross (D5).

The gap is put into the step with one change of sign that fits it best: the crossing is
where the sum of all gaps before it, less all after it, is largest.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ...analysis import Estimate, Finding, Verdict, bootstrap, exactly
from ..stages.judging import too_few_tasks
from .measuring import fewest, nothing, used
from .results import Results

NEAR = 200.0, 1000.0
ON_MNIST = (
    "for LeNet the mean gap of the 4 tasks at each end has opposite signs, each beyond "
    "2 standard errors, and the bootstrap interval of the crossing meets 200 to 1,000"
)

_LEAD = "lead of the linearization, "
_AT_AN_END = 4
_ERRORS = 2.0


class Crossing(NamedTuple):
    """What is known of a crossing.

    Attributes:
        findings: With their verdicts; empty where nothing can be told.
        doubt: Why there are none; empty if there are some.
        told: What they say, in words.
    """

    findings: tuple[Finding, ...]
    doubt: str = ""
    told: str = ""


def crosses(results: Results) -> Crossing:
    """Judge whether the curves cross, and where.

    Args:
        results: Of a run.

    Returns:
        Findings, with what they say. Same signs at both ends, each beyond its standard
        error, refute a crossing; so does an interval elsewhere.
    """
    use = used(results)
    doubt = too_few_tasks(fewest(use), 2 * _AT_AN_END)
    shared = use.all(axis=0)
    gap = (results.linearized.accuracy - results.network.accuracy)[:, shared]
    index = results.index[shared]
    if doubt or len(index) < 2 * _AT_AN_END:
        return Crossing((), doubt or "the seeds share too few tasks")
    ends = [_end(gap[:, :_AT_AN_END]), _end(gap[:, -_AT_AN_END:])]
    signs = _signs(*ends)
    where = _crossing(gap, index)
    near = _meets(where) if signs == "confirmed" else None
    names = (
        f"{_LEAD}indices {index[0]} to {index[_AT_AN_END - 1]}",
        f"{_LEAD}indices {index[-_AT_AN_END]} to {index[-1]}",
    )
    first, last = (
        Finding(name, _interval(*end), signs, percent=True)
        for name, end in zip(names, ends, strict=True)
    )
    found = first, last, Finding("crossing", where, near)
    return Crossing(found, told=crossing_text(*found))


def crossing_text(first: Finding, last: Finding, where: Finding) -> str:
    """What the findings of a crossing say, in words.

    Args:
        first: Lead of the linearization at the low end.
        last: At the high end.
        where: The crossing.

    Returns:
        Who is ahead at the ends, and where the curves cross, if they do.
    """
    places = [each.name.removeprefix(_LEAD) for each in (first, last)]
    leaders = [_leader(each.estimate) for each in (first, last)]
    if "" in leaders:
        open_ends = [p for p, leader in zip(places, leaders, strict=True) if not leader]
        ends = " and at ".join(open_ends)
        return (
            f"neither is clearly ahead at {ends}, so whether the curves cross is open"
        )
    if leaders[0] == leaders[1]:
        return f"{leaders[0]} is ahead at both ends, so the curves do not cross"
    ahead = " and ".join(
        f"{leader} is ahead at {place}"
        for leader, place in zip(leaders, places, strict=True)
    )
    at, low, high = where.estimate.value, where.estimate.low, where.estimate.high
    if np.isnan(at):
        return f"{ahead}, but one sign fits the gaps best, without a crossing"
    spread = f" [{low:.0f}, {high:.0f}]" if low < high else ""
    return f"{ahead}: the curves cross near index {at:.0f}{spread}"


def _leader(gap: Estimate) -> str:
    """Who is clearly ahead; empty if neither is."""
    if gap.low <= 0 <= gap.high:
        return ""
    return "the linearization" if gap.value > 0 else "the network"


def crossing(
    gap: Float[np.ndarray, "*r t"], index: Int[np.ndarray, "*r t"]
) -> Float[np.ndarray, "*r"]:
    """Where a gap changes its sign for good.

    Args:
        gap: Of each task, tasks in the order of their indices.
        index: Index of each task's eigenfunction, likewise.

    Returns:
        Halfway, on a log scale, between the two tasks around the change; infinite where
        one sign fits all best.

    Example:
        >>> float(crossing(np.array([2.0, 1.0, -1.0]), np.array([0, 8, 99])))
        29.0
    """
    total = np.cumsum(gap, axis=-1)
    # Sums before each place less those after it; the last place is no change at all.
    score = np.abs(2 * total - total[..., -1:])
    at = score.argmax(axis=-1)[..., None]
    last = gap.shape[-1] - 1
    pair = [
        np.take_along_axis(index, np.minimum(place, last), axis=-1)[..., 0] + 1.0
        for place in (at, at + 1)
    ]
    return np.where(at[..., 0] == last, np.inf, np.sqrt(pair[0] * pair[1]) - 1)


def _crossing(gap: np.ndarray, index: np.ndarray) -> Estimate:
    """Over tasks for one seed, over seeds for several."""

    def of_tasks(rows: np.ndarray) -> np.ndarray:
        places = np.sort(rows.astype(int), axis=-1)
        return _finite(crossing(gap[0][places], index[places]))

    def of_seeds(rows: np.ndarray) -> np.ndarray:
        drawn = gap[rows.astype(int)].mean(axis=-2)
        return _finite(crossing(drawn, np.broadcast_to(index, drawn.shape)))

    single = len(gap) == 1
    statistic, num = (of_tasks, len(index)) if single else (of_seeds, len(gap))
    found = bootstrap(statistic, np.arange(num))
    return found if np.isfinite(found.value) else nothing()


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, np.nan)


def _end(gap: np.ndarray) -> tuple[float, float]:
    """Mean gap and its standard error, over tasks for one seed, over seeds for more."""
    rows = gap[0] if len(gap) == 1 else gap.mean(axis=1)
    return float(rows.mean()), float(rows.std(ddof=1) / np.sqrt(len(rows)))


def _signs(first: tuple[float, float], last: tuple[float, float]) -> Verdict:
    clear = all(abs(value) > _ERRORS * error for value, error in (first, last))
    if not clear:
        return "inconclusive"
    return "confirmed" if first[0] * last[0] < 0 else "refuted"


def _meets(where: Estimate) -> Verdict:
    if np.isnan(where.value):
        return "refuted"
    return "confirmed" if where.low <= NEAR[1] and where.high >= NEAR[0] else "refuted"


def _interval(value: float, error: float) -> Estimate:
    """Two standard errors either way, as the criterion says."""
    low, high = value - _ERRORS * error, value + _ERRORS * error
    return Estimate(value, low, high, exactly(value).replicates)
