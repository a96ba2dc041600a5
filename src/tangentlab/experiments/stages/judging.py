"""From numbers per seed and task to estimates and verdicts: what claims share.

With one seed intervals are over tasks: they say what other tasks would have given, and
nothing about other initializations. With several seeds they are Student's intervals
over seeds. On real data a verdict takes five. Data that come with the package, or are
made up, show that the machinery works: there any number of seeds may decide.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from ...analysis import (
    Claim,
    Estimate,
    Finding,
    Verdict,
    all_of,
    bootstrap,
    judge_together,
    largest_kendall,
    left_open,
    over_draws,
)
from ...analysis.resampling import Statistic

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
    return over_draws([float(statistic(*each)) for each in chosen])


def largest_tau(
    use: Bool[np.ndarray, "s t"],
    first: Float[np.ndarray, "s t"],
    second: Float[np.ndarray, "s t"],
) -> float:
    """The largest of Kendall's tau-b that ties allow.

    Args:
        use: Tasks that count.
        first: Numbers for each seed and task.
        second: Likewise.

    Returns:
        The mean over seeds; NaN where a seed has all tasks tied, or too few.
    """
    if not use.any(axis=1).all():
        return float("nan")
    rows = zip(use, first, second, strict=True)
    return float(np.mean([largest_kendall(a[some], b[some]) for some, a, b in rows]))


def too_few_tasks(num_tasks: int, least: int) -> str:
    """Why a run has too few tasks to tell.

    Args:
        num_tasks: Tasks of use there are, for each seed.
        least: That are needed.

    Returns:
        The reason; empty if there are enough.
    """
    if num_tasks >= least:
        return ""
    return f"{num_tasks} tasks of use, at least {least} are needed"


def too_few_seeds(model: str, num_seeds: int, *, small: bool) -> str:
    """Why a run has too few seeds for a verdict, whatever its numbers say.

    Args:
        model: Name of the network.
        num_seeds: Seeds there are.
        small: Its data come with the package, or are made up: any number may decide.

    Returns:
        The reason; empty if there are enough.
    """
    return "" if small else fewer_seeds(num_seeds, least_seeds(model))


def least_seeds(model: str) -> int:
    """How many initializations of a network a verdict takes.

    Args:
        model: Its name.

    Returns:
        Their number.
    """
    resnet = model.lower().startswith("resnet")
    return _LEAST_SEEDS_RESNET if resnet else _LEAST_SEEDS


def fewer_seeds(num_seeds: int, least: int) -> str:
    """That there are fewer seeds than a verdict takes.

    Args:
        num_seeds: Seeds there are.
        least: That it takes.

    Returns:
        Such as `one seed, a verdict takes 5`; empty if there are enough.
    """
    if num_seeds >= least:
        return ""
    count = f"{num_seeds} seeds" if num_seeds > 1 else "one seed"
    return f"{count}, a verdict takes {least}"


def with_verdict(
    claim: Claim, doubt: str = "", *, part: str = "", few: str = ""
) -> Claim:
    """Judge a claim by its findings, those with a threshold by Holm's procedure.

    Args:
        claim: With findings that are not judged yet; its verdict is not looked at.
        doubt: Why nothing can be said; empty where something can.
        part: Why part of it cannot be told, so that it is not confirmed.
        few: Why numbers are too few for a verdict: findings have one, the claim has
            none.

    Returns:
        The claim with a verdict for each of these findings and for all of them.
    """
    remark = "; ".join(filter(None, [doubt or part, claim.remark]))
    claim = claim._replace(verdict="inconclusive", remark=remark)
    if not doubt:
        findings = tuple(judge_together(claim.findings))
        verdict = verdict_of(findings)
        if part and verdict == "confirmed":
            verdict = "inconclusive"
        claim = claim._replace(findings=findings, verdict=verdict)
    return left_open(claim, few)


def telling_diverged(
    claims: Sequence[Claim], diverged: Bool[np.ndarray, "..."]
) -> tuple[Claim, ...]:
    """Add to claims how many trainings diverged, whose tasks are left out of them.

    Args:
        claims: Of a run.
        diverged: For each task, whether a training of it did.

    Returns:
        The claims; as they were where none did.
    """
    if not diverged.any():
        return tuple(claims)
    told = f"training of {diverged.sum()} of {diverged.size} diverged, left out"
    return tuple(_with_remark(claim, told) for claim in claims)


def _with_remark(claim: Claim, told: str) -> Claim:
    """A claim that tells more, also where its numbers stand alone."""
    alone = claim.alone and _with_remark(claim.alone, told)
    remark = "; ".join(filter(None, [claim.remark, told]))
    return claim._replace(remark=remark, alone=alone)


def verdict_of(findings: Sequence[Finding]) -> Verdict:
    """What all judged findings of a claim say together.

    Args:
        findings: Those without a verdict are reported only.

    Returns:
        `confirmed` if all are, `refuted` if one is, `inconclusive` else.
    """
    return all_of([each.verdict for each in findings if each.verdict is not None])
