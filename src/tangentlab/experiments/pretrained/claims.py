"""What the comparison with the pretrained kernel says about the paper's claims."""

import numpy as np
from jaxtyping import Float

from ...analysis import Claim, Estimate, Finding, Threshold, mean, mean_gap
from ...data.catalog import EMBEDDED
from ..stages.judging import (
    estimate,
    telling_diverged,
    too_few_seeds,
    too_few_tasks,
    with_verdict,
)
from .results import OTHER_LOSSES, Results, agreement

_TASKS = 5
_BELOW = Threshold(0.0, above=False)


def claims(results: Results) -> tuple[Claim, ...]:
    """Measure D12 and D13.

    Args:
        results: Of a run.

    Returns:
        The claims with their verdicts.
    """
    small = results.data == EMBEDDED
    few = too_few_seeds(results.model, len(results.seeds), small=small)
    doubt = too_few_tasks(int(results.usable.sum(axis=1).min()), _TASKS)
    made = (
        with_verdict(_faster(results), doubt, few=few),
        with_verdict(_overfits(results), doubt, few=few),
    )
    diverged = np.any([each.diverged for each in results.models], axis=0)
    return telling_diverged(made, diverged)


def _faster(results: Results) -> Claim:
    use, models = results.usable, (results.pretrained, results.initial)
    never = [np.isinf(results.steps(each)[use]) for each in models]
    remark = ""
    if np.any(never):
        counts = [int(each.sum()) for each in (*never, np.logical_and(*never))]
        neither = f", and by neither in {counts[2]}, whose ratio is then 1"
        remark = (
            f"the loss was never reached in {counts[0]} runs with the trained and "
            f"{counts[1]} with the initial kernel, which count as the last step"
            f"{neither if counts[2] else ''}; {_bound(*counts[:2])}"
        )
    target = results.target_loss
    judged = estimate(mean, use, _log_ratio(results, target))
    others = [
        Finding(f"to {loss:g}", estimate(mean, use, _log_ratio(results, loss)))
        for loss in OTHER_LOSSES
        if loss != target
    ]
    return Claim(
        "D12",
        "The linear model of the trained kernel learns faster",
        f"mean log ratio of the steps to a training loss of {target:g}, trained over "
        f"initial kernel, below 0, with all of its interval; at least {_TASKS} tasks",
        (
            Finding(f"log ratio of steps to {target:g}", judged, None, False, _BELOW),
            *others,
        ),
        "inconclusive",
        remark,
        "log ratio below 0",
    )


def _bound(trained: int, initial: int) -> str:
    """Where the mean ratio lies if some runs count as the last step."""
    if trained and initial:
        return "the true mean ratio may lie on either side of the one given"
    return f"the true mean ratio is at {'least' if trained else 'most'} the one given"


def _log_ratio(results: Results, target: float) -> Float[np.ndarray, "s t"]:
    """Of the steps to a loss; those never taken are the last one."""
    after, before = (
        np.minimum(results.steps(each, target), results.num_steps)
        for each in (results.pretrained, results.initial)
    )
    return np.log(after / before)


def _overfits(results: Results) -> Claim:
    use, network = results.usable, results.network
    initial, pretrained = results.initial, results.pretrained
    gap = estimate(mean_gap, use, pretrained.accuracy, initial.accuracy)
    same, alike = (
        estimate(mean_gap, use, after, before)
        for after, before in zip(
            agreement(pretrained, network), agreement(initial, network), strict=True
        )
    )
    ahead = estimate(mean_gap, use, network.accuracy, pretrained.accuracy)
    return Claim(
        "D13",
        "The kernel that a network adapts generalizes worse on eigenfunctions",
        "mean paired gap in accuracy, trained less initial kernel, below 0, with all "
        f"of its interval; at least {_TASKS} tasks; which of the two answers more like "
        "the network is reported",
        (
            Finding("accuracy, trained − initial", gap, None, True, _BELOW),
            Finding("answers as the network's, trained − initial", same, percent=True),
            Finding("correlation with the network, trained − initial", alike),
            Finding("accuracy, network − trained", ahead, percent=True),
        ),
        "inconclusive",
        _closer(same),
        "gap below 0",
    )


def _closer(same: Estimate) -> str:
    if np.isnan(same.value):
        return ""
    if same.low <= 0 <= same.high:
        return "neither kernel is clearly closer to the network"
    which = "trained" if same.value > 0 else "initial"
    return f"the {which} kernel is closer to the network"
