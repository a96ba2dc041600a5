"""Numbers of the eigenfunctions experiment with their intervals."""

import numpy as np

from ...analysis import (
    Estimate,
    Finding,
    Threshold,
    Verdict,
    judge,
    mean_gap,
    partial_spearman,
    spearman,
)
from ..stages.judging import estimate, too_few
from .results import Results

NAMES = ("network", "linearization")
FALL = Threshold(-0.8, above=False)
ZERO = Threshold(0.0, above=True)
TASKS_TO_FALL, TASKS_TO_AGREE, TASKS_TO_LEAD = 20, 40, 5
FIRST_TO_LEAD = 10


def falls(results: Results) -> tuple[Finding, ...]:
    """Rank correlation of index and accuracy, of both models.

    Args:
        results: Of a run.

    Returns:
        Two findings, judged together.
    """
    use = used(results)
    estimates = [
        estimate(spearman, use, index_of(results), ended.accuracy)
        for ended in results.pair
    ]
    doubt = too_small(results, fewest(use), TASKS_TO_FALL)
    return judged(NAMES, estimates, FALL, doubt)


def agreement(results: Results) -> tuple[Finding, Finding]:
    """Rank correlation of both accuracies, beyond the common fall and raw.

    Args:
        results: Of a run.

    Returns:
        The partial one, judged, and the raw one.
    """
    use = used(results)
    pair = [ended.accuracy for ended in results.pair]
    raw = estimate(spearman, use, *pair)
    partial = estimate(partial_spearman, use, *pair, index_of(results))
    doubt = too_small(results, int(use.sum()), TASKS_TO_AGREE)
    (found,) = judged(["partial"], [partial], ZERO, doubt)
    return found, Finding("raw", raw)


def lead(results: Results) -> Finding:
    """How far the linearization is ahead.

    Args:
        results: Of a run.

    Returns:
        The mean paired gap in accuracy.
    """
    use = used(results, FIRST_TO_LEAD)
    network, linearized = (ended.accuracy for ended in results.pair)
    gap = estimate(mean_gap, use, linearized, network)
    doubt = too_small(results, fewest(use), TASKS_TO_LEAD)
    (found,) = judged(["linearization − network"], [gap], ZERO, doubt)
    return found._replace(percent=True)


def judged(
    names: list[str] | tuple[str, ...],
    estimates: list[Estimate],
    threshold: Threshold,
    doubt: str,
) -> tuple[Finding, ...]:
    """Compare the numbers of one claim with its threshold.

    Args:
        names: Of the numbers.
        estimates: The numbers.
        threshold: What they are compared with.
        doubt: Why the run is too small to tell; empty if it is not.

    Returns:
        A finding for each, without a verdict where there is doubt.
    """
    verdicts: list[Verdict | None] = [None] * len(estimates)
    if not doubt:
        verdicts = [*judge(estimates, threshold.value, above=threshold.above)]
    return tuple(
        Finding(name, number, verdict, threshold=threshold if verdict else None)
        for name, number, verdict in zip(names, estimates, verdicts, strict=True)
    )


def too_small(results: Results, num_tasks: int, least: int) -> str:
    """Why a run is too small to tell.

    Args:
        results: Of a run.
        num_tasks: How many tasks are of use.
        least: How many are needed.

    Returns:
        The reason; empty if it is not.
    """
    return too_few(results.model, len(results.seeds), num_tasks, least)


def used(results: Results, first: int = 1) -> np.ndarray:
    """Tasks that can be compared, from some index on.

    Args:
        results: Of a run.
        first: The smallest index; the leading eigenfunction is degenerate.

    Returns:
        A row per seed.
    """
    return results.usable & (results.index >= first)[None]


def fewest(use: np.ndarray) -> int:
    """Tasks of the seed that has the fewest.

    Args:
        use: Which tasks, a row per seed.

    Returns:
        Their number.
    """
    return int(use.sum(axis=1).min())


def index_of(results: Results) -> np.ndarray:
    """The index of each task, a row per seed.

    Args:
        results: Of a run.

    Returns:
        The same row for each seed.
    """
    return np.broadcast_to(results.index.astype(float), results.balance.shape)


def nothing() -> Estimate:
    """An estimate where there is nothing to measure.

    Returns:
        NaN.
    """
    return Estimate(np.nan, np.nan, np.nan, np.empty(0))
