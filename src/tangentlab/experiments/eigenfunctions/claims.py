"""What the eigenfunctions experiment says about the paper's claims.

Tasks that are degenerate, or on which training diverged, are left out, and so is the
leading eigenfunction. With one seed intervals are over tasks: they say what other
indices would have given, and nothing about other initializations. With several they are
over seeds.
"""

from collections.abc import Callable

import numpy as np

from ...analysis import (
    Claim,
    Estimate,
    Finding,
    Verdict,
    all_of,
    bootstrap,
    judge,
    kendall,
    mean,
    mean_gap,
    partial_spearman,
    spearman,
)
from ...tasks.record import DEGENERATE
from .results import Results

_LEAST_SEEDS = 5
_LEAST_SEEDS_RESNET = 3
_FALL = -0.8
_TASKS_TO_FALL, _TASKS_TO_AGREE, _TASKS_TO_LEAD = 20, 40, 5
_FIRST_TO_LEAD = 10


def claims(results: Results) -> tuple[Claim, ...]:
    """Measure D1, D2, D3 and D47.

    Args:
        results: Of a run.

    Returns:
        The claims with their verdicts.
    """
    return (_falls(results), _agrees(results), _leads(results), _leading(results))


def trends(results: Results) -> tuple[Finding, ...]:
    """How steps to a small loss, and distances, grow with the index (D9).

    Args:
        results: Of a run.

    Returns:
        Kendall's tau-b for both models. Runs that never reached the loss are ties at
        the maximum.
    """
    index, use = _index(results), _used(results)
    measures = {
        "steps to a loss of 0.01": "iterations",
        "distance": "distance",
        "cosine distance": "cosine",
    }
    return tuple(
        Finding(
            f"{model}, {name}",
            _estimate(results, kendall, use, index, getattr(ended, field)),
        )
        for name, field in measures.items()
        for model, ended in zip(("network", "linearization"), results.pair, strict=True)
    )


def _falls(results: Results) -> Claim:
    index, use = _index(results), _used(results)
    estimates = [
        _estimate(results, spearman, use, index, ended.accuracy)
        for ended in results.pair
    ]
    doubt = _doubt(results, int(use.sum(axis=1).min()), _TASKS_TO_FALL)
    verdicts = _verdicts(doubt, estimates, _FALL, above=False)
    return Claim(
        "D1",
        "Accuracy falls with the index, for both models",
        "Spearman's ρ of index and accuracy below −0.8, with all of its interval; "
        f"at least {_TASKS_TO_FALL} tasks",
        tuple(map(Finding, ("network", "linearization"), estimates, verdicts)),
        all_of([each or "inconclusive" for each in verdicts]),
        doubt,
        "ρ below −0.8",
    )


def _agrees(results: Results) -> Claim:
    index, use = _index(results), _used(results)
    pair = [ended.accuracy for ended in results.pair]
    raw = _estimate(results, spearman, use, *pair)
    partial = _estimate(results, partial_spearman, use, *pair, index)
    doubt = _doubt(results, int(use.sum()), _TASKS_TO_AGREE)
    (verdict,) = _verdicts(doubt, [partial], 0.0, above=True)
    return Claim(
        "D2",
        "Both models rank tasks alike, beyond the common fall",
        "partial Spearman's ρ of the two accuracies, given the logarithm of the index, "
        f"above 0, with all of its interval; at least {_TASKS_TO_AGREE} tasks",
        (Finding("partial", partial, verdict), Finding("raw", raw)),
        verdict or "inconclusive",
        doubt,
        "partial ρ above 0",
    )


def _leads(results: Results) -> Claim:
    use = _used(results) & (_index(results) >= _FIRST_TO_LEAD)
    network, linearized = (ended.accuracy for ended in results.pair)
    gap = _estimate(results, mean_gap, use, linearized, network)
    doubt = _doubt(results, int(use.sum(axis=1).min()), _TASKS_TO_LEAD)
    (verdict,) = _verdicts(doubt, [gap], 0.0, above=True)
    return Claim(
        "D3",
        "The linearization is ahead of the network",
        f"mean paired gap in accuracy over indices from {_FIRST_TO_LEAD} on above 0, "
        f"with all of its interval; at least {_TASKS_TO_LEAD} tasks",
        (Finding("linearization − network", gap, verdict, percent=True),),
        verdict or "inconclusive",
        doubt,
        "mean gap above 0",
    )


def _leading(results: Results) -> Claim:
    larger = np.maximum(results.balance, 1 - results.balance)
    leading = larger[:, results.index == 0]
    verdict: Verdict = "inconclusive"
    remark = "index 0 is not among the tasks; "
    if leading.size:
        verdict = "confirmed" if (leading > DEGENERATE).all() else "refuted"
        share = f"{100 * leading.min():.1f}"
        if np.ptp(leading) > 5e-4:
            share += f" to {100 * leading.max():.1f}"
        remark = f"index 0 has {share} % in its larger class; "
    later = results.index > 0
    count, total = int(results.degenerate[:, later].sum()), int(later.sum())
    remark += f"{count} of {total * len(results.seeds)} later tasks are degenerate"
    if total:
        ends = results.balance[:, later].min(), results.balance[:, later].max()
        remark += ", class 1 has {:.0f} to {:.0f} % there".format(
            *(100 * end for end in ends)
        )
    return Claim(
        "D47",
        "The leading task is degenerate",
        "the larger class of index 0 has over 95 % of the samples; the balance of all "
        "tasks is recorded",
        (),
        verdict,
        remark,
    )


def _estimate(
    results: Results,
    statistic: Callable[..., np.ndarray],
    use: np.ndarray,
    *columns: np.ndarray,
) -> Estimate:
    """Over tasks for one seed, over seeds for several."""
    rows = zip(use, *columns, strict=True)
    chosen = [[column[some] for column in each] for some, *each in rows]
    if min(len(each[0]) for each in chosen) == 0:
        return Estimate(np.nan, np.nan, np.nan, np.empty(0))
    if len(results.seeds) == 1:
        return bootstrap(statistic, *chosen[0])
    return bootstrap(mean, [float(statistic(*each)) for each in chosen])


def _verdicts(
    doubt: str, estimates: list[Estimate], threshold: float, *, above: bool
) -> list[Verdict | None]:
    if doubt:
        return [None] * len(estimates)
    return [*judge(estimates, threshold, above=above)]


def _doubt(results: Results, num_tasks: int, least: int) -> str:
    """Why a run is too small to tell; empty if it is not."""
    if num_tasks < least:
        return f"{num_tasks} tasks of use, at least {least} are needed"
    resnet = results.model.lower().startswith("resnet")
    seeds = _LEAST_SEEDS_RESNET if resnet else _LEAST_SEEDS
    if 1 < len(results.seeds) < seeds:
        return (
            f"{len(results.seeds)} seeds, an interval over seeds needs at least {seeds}"
        )
    return ""


def _used(results: Results) -> np.ndarray:
    return results.usable & (results.index > 0)[None]


def _index(results: Results) -> np.ndarray:
    return np.broadcast_to(results.index, results.balance.shape)
