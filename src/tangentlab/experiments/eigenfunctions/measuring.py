"""Numbers of the eigenfunctions experiment with their intervals."""

import numpy as np

from ...analysis import (
    Estimate,
    Finding,
    Threshold,
    mean_gap,
    partial_spearman,
    spearman,
)
from ...data.catalog import EMBEDDED
from ..stages.judging import estimate, too_few_seeds, too_few_tasks
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
        Two findings.
    """
    use = used(results)
    estimates = [
        estimate(spearman, use, index_of(results), ended.accuracy)
        for ended in results.pair
    ]
    return held(NAMES, estimates, FALL, too_few_to_fall(results))


def agreement(results: Results) -> tuple[Finding, Finding]:
    """Rank correlation of both accuracies, beyond the common fall and raw.

    Args:
        results: Of a run.

    Returns:
        The partial one, to be judged, and the raw one.
    """
    use = used(results)
    pair = [ended.accuracy for ended in results.pair]
    raw = estimate(spearman, use, *pair)
    partial = estimate(partial_spearman, use, *pair, index_of(results))
    (found,) = held(["partial"], [partial], ZERO, too_few_to_agree(results))
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
    doubt = too_few_tasks(fewest(use), TASKS_TO_LEAD)
    (found,) = held(["linearization − network"], [gap], ZERO, doubt)
    return found._replace(percent=True)


def held(
    names: list[str] | tuple[str, ...],
    estimates: list[Estimate],
    threshold: Threshold,
    doubt: str,
) -> tuple[Finding, ...]:
    """Hold numbers of one claim against a threshold.

    Args:
        names: Of the numbers.
        estimates: The numbers.
        threshold: What they are compared with.
        doubt: Why there are too few tasks to tell; empty if there are enough.

    Returns:
        A finding for each, to be judged; not to be judged where there is doubt.
    """
    limit = None if doubt else threshold
    return tuple(
        Finding(name, number, threshold=limit)
        for name, number in zip(names, estimates, strict=True)
    )


def few_seeds(results: Results) -> str:
    """Why there are too few seeds for a verdict.

    Args:
        results: Of a run.

    Returns:
        The reason; empty if there are enough.
    """
    small = results.data == EMBEDDED
    return too_few_seeds(results.model, len(results.seeds), small=small)


def too_few_to_fall(results: Results) -> str:
    """Why a rank correlation with the index cannot be told.

    Args:
        results: Of a run.

    Returns:
        The reason; empty if there are enough tasks of each seed.
    """
    return too_few_tasks(fewest(used(results)), TASKS_TO_FALL)


def too_few_to_agree(results: Results) -> str:
    """Why a partial rank correlation cannot be told.

    Args:
        results: Of a run.

    Returns:
        The reason; empty if there are enough tasks of all seeds together.
    """
    return too_few_tasks(int(used(results).sum()), TASKS_TO_AGREE)


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
