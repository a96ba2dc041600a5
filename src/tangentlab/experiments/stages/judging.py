"""From numbers per seed and task to estimates: what experiments' claims share.

With one seed intervals are over tasks: they say what other tasks would have given, and
nothing about other initializations. With several they are over seeds.
"""

import numpy as np
from jaxtyping import Bool, Float

from ...analysis import (
    Claim,
    Estimate,
    Finding,
    bootstrap,
    judge,
    mean,
)
from ...analysis.resampling import Statistic
from .findings import verdict_of

_LEAST_SEEDS = 5
_LEAST_SEEDS_RESNET = 3


def estimate(
    statistic: Statistic,
    use: Bool[np.ndarray, "s t"],
    *columns: Float[np.ndarray, "s t"],
) -> Estimate:
    """A statistic of the tasks of each seed, with its interval.

    Args:
        statistic: Of columns of one number for each task, as in `bootstrap`.
        use: Tasks that count.
        *columns: Numbers for each seed and task.

    Returns:
        Over tasks for one seed; for several the mean over seeds. NaN where a seed has
        no task that counts.
    """
    rows = zip(use, *columns, strict=True)
    chosen = [[column[some] for column in each] for some, *each in rows]
    if min(len(each[0]) for each in chosen) == 0:
        return Estimate(np.nan, np.nan, np.nan, np.empty(0))
    if len(chosen) == 1:
        return bootstrap(statistic, *chosen[0])
    return bootstrap(mean, [float(statistic(*each)) for each in chosen])


def too_few(model: str, num_seeds: int, num_tasks: int, least_tasks: int) -> str:
    """Why a run is too small to tell.

    Args:
        model: Name of the network.
        num_seeds: Seeds there are.
        num_tasks: Tasks of use there are, for each seed.
        least_tasks: That are needed.

    Returns:
        The reason; empty if it is not too small.
    """
    if num_tasks < least_tasks:
        return f"{num_tasks} tasks of use, at least {least_tasks} are needed"
    return too_few_seeds(model, num_seeds) if num_seeds > 1 else ""


def too_few_seeds(model: str, num_seeds: int) -> str:
    """Why an interval over seeds says too little.

    Args:
        model: Name of the network.
        num_seeds: Seeds there are.

    Returns:
        The reason; empty if there are enough.
    """
    resnet = model.lower().startswith("resnet")
    least = _LEAST_SEEDS_RESNET if resnet else _LEAST_SEEDS
    if num_seeds >= least:
        return ""
    count = f"{num_seeds} seeds" if num_seeds > 1 else "one seed"
    return f"{count}, an interval over seeds needs at least {least}"


def with_verdict(claim: Claim, doubt: str = "") -> Claim:
    """Judge a claim by those of its findings that have a threshold.

    Args:
        claim: With findings that are not judged yet; its verdict is not looked at.
        doubt: Why nothing can be said; empty where something can.

    Returns:
        The claim with a verdict for each of these findings and for all of them.
    """
    remark = "; ".join(filter(None, [doubt, claim.remark]))
    if doubt:
        return claim._replace(verdict="inconclusive", remark=remark)
    findings = tuple(_judged(finding) for finding in claim.findings)
    return claim._replace(findings=findings, verdict=verdict_of(findings))


def _judged(finding: Finding) -> Finding:
    if finding.threshold is None:
        return finding
    value, above = finding.threshold
    (verdict,) = judge([finding.estimate], value, above=above)
    return finding._replace(verdict=verdict)
