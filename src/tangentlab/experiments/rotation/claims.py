"""What the rotation experiment says about the paper's claims."""

import numpy as np
from jaxtyping import Bool, Float

from ...analysis import Claim, Estimate, Finding, Threshold, bootstrap, mean
from ...data.catalog import EMBEDDED
from ..stages.judging import (
    telling_diverged,
    too_few_seeds,
    too_few_tasks,
    with_verdict,
)
from .results import Results

_TOP = 0.05
_TASKS = 5


def claims(results: Results) -> tuple[Claim, ...]:
    """Measure D10.

    Args:
        results: Of a run.

    Returns:
        The claim with its verdict.
    """
    use = results.used
    # At most, not below: one of twenty is in the top 5 %.
    limit = Threshold(float(np.nextafter(_TOP, 1)), above=False)
    found = {
        part: _largest(each.exceeded_by, use) for part, each in results.turned.items()
    }
    judged_on_all = Finding(_named("all"), found.pop("all"), None, "share", limit)
    others = [
        Finding(_named(part), each, None, "share") for part, each in found.items()
    ]
    claim = Claim(
        "D10",
        "The kernel grows most along the eigenfunction that was learned",
        "for every task at most 5 % of the neighbors of its eigenfunction, from "
        "j / 1.25 to 1.25 j, grew as much: the largest such share over tasks, with all "
        f"of its interval, on all samples; at least {_TASKS} tasks",
        (judged_on_all, *others),
        "inconclusive",
        _scores(results, use),
        "largest share at most 0.05",
    )
    small = results.data == EMBEDDED
    few = too_few_seeds(results.model, len(results.seeds), small=small)
    judged = with_verdict(claim, too_few_tasks(int(use.sum()), _TASKS), few=few)
    return telling_diverged((judged,), results.diverged)


def _named(part: str) -> str:
    return f"largest share of neighbors, {part} samples"


def _largest(shares: Float[np.ndarray, "s t"], use: Bool[np.ndarray, " t"]) -> Estimate:
    """The largest share over tasks, of means over seeds where there are several."""
    shares = shares[:, use]
    if not shares.size or np.isnan(shares).any():
        return Estimate(np.nan, np.nan, np.nan, np.empty(0))
    if len(shares) == 1:
        return bootstrap(lambda values: np.asarray(values.max(axis=-1)), shares[0])

    def worst(*tasks: np.ndarray) -> np.ndarray:
        return np.asarray(np.max([mean(each) for each in tasks], axis=0))

    return bootstrap(worst, *shares.T)


def _scores(results: Results, use: Bool[np.ndarray, " t"]) -> str:
    if not use.any():
        return ""
    turned = results.turned["all"]
    first = turned.rank[:, use] == 1
    scores = turned.neighbor_score[:, use]
    return (
        f"first among its neighbors in {int(first.sum())} of {first.size} cases; it "
        f"grew {_times(np.median(scores))} times as much as its median neighbor in the "
        f"median case, {_times(scores.min())} to {_times(scores.max())} times in all"
    )


def _times(factor: float) -> str:
    return f"{factor:.1f}" if factor < 10 else f"{factor:,.0f}"
