"""Claims about how training went, and what binarizing keeps: D9, D20, D21 and D46."""

import numpy as np

from ...analysis import (
    Claim,
    Estimate,
    Finding,
    Threshold,
    bootstrap,
    distance,
    kendall,
    mean,
    mean_gap,
    over_draws,
    partial_spearman,
)
from ...report.claims import estimate_text
from ..stages.judging import estimate, largest_tau, too_few_tasks, with_verdict
from .measuring import (
    NAMES,
    TASKS_TO_AGREE,
    TASKS_TO_FALL,
    TASKS_TO_LEAD,
    ZERO,
    few_seeds,
    fewest,
    held,
    index_of,
    nothing,
    too_few_to_agree,
    too_few_to_fall,
    used,
)
from .results import Results

PUBLISHED_OVERLAP = 0.78

_GROWTH = Threshold(0.8, above=True)
_CLOSE = Threshold(0.02, above=False)
_MEASURES = {
    "steps to a loss of 0.01": "iterations",
    "distance": "distance",
    "cosine distance": "cosine",
}
_BY_BATCH = "steps to a batch loss of 0.01"
_SMALLEST = float(np.finfo(np.float32).tiny)  # a loss may round to zero


def trends(results: Results) -> tuple[Finding, ...]:
    """How steps to a small loss, and distances, grow with the index.

    Args:
        results: Of a run.

    Returns:
        Kendall's tau-b, network and linearization in turn, those of the network to be
        judged, but where ties alone keep one below the threshold. Steps by the loss of
        a batch, where there are some, come last and are not. Runs that never reached
        the loss are ties at the maximum.
    """
    doubt = too_few_to_fall(results)
    found = {}
    for model, ended in zip(NAMES, results.pair, strict=True):
        found[model] = []
        for name, field in _MEASURES.items():
            values = getattr(ended, field)
            judged = model == NAMES[0] and not doubt and not _is_tied(results, values)
            limit = _GROWTH if judged else None
            number = _tau(results, values)
            found[model].append(Finding(f"{model}, {name}", number, threshold=limit))
    pairs = zip(*found.values(), strict=True)
    return (*(each for pair in pairs for each in pair), *_by_batch(results))


def _by_batch(results: Results) -> list[Finding]:
    """Steps by the other loss that the paper may mean: that of a batch."""
    steps = [ended.iterations_by_batch for ended in results.pair]
    return [
        Finding(f"{model}, {_BY_BATCH}", _tau(results, each))
        for model, each in zip(NAMES, steps, strict=True)
        if each is not None
    ]


def _tau(results: Results, values: np.ndarray) -> Estimate:
    return estimate(kendall, used(results), index_of(results), values)


def _largest_tau(results: Results, values: np.ndarray) -> float:
    return largest_tau(used(results), index_of(results), values)


def _is_tied(results: Results, values: np.ndarray) -> bool:
    """Whether no order of these values could be called growing."""
    return _largest_tau(results, values) <= _GROWTH.value


def grows(results: Results) -> Claim:
    """D9: harder tasks take more steps and lead farther away.

    Args:
        results: Of a run.

    Returns:
        The claim.
    """
    use = used(results)
    never = [int((np.isinf(ended.iterations) & use).sum()) for ended in results.pair]
    remark = (
        f"ties at the maximum, never at the loss: {never[0]} of {int(use.sum())} runs "
        f"of the network, {never[1]} of the linearization"
    )
    steps = results.network.iterations
    part = ""
    if _is_tied(results, steps):
        largest = _largest_tau(results, steps)
        part = (
            f"with so many ties τ of its steps is at most {largest:.2f}, whatever "
            "their order, and decides nothing"
        )
    claim = Claim(
        "D9",
        "Steps to a small loss and both distances grow with the index",
        "Kendall's τ-b of index and each of the three, for the network, above 0.8 with "
        f"all of its interval; at least {TASKS_TO_FALL} tasks; runs that never reach "
        "the loss, the mean of an epoch, are ties at the maximum, and where ties alone "
        "keep τ at or below 0.8 it is not judged; steps to a batch at that loss are "
        "reported beside",
        trends(results),
        "inconclusive",
        remark,
        "τ above 0.8",
    )
    doubt = too_few_to_fall(results)
    return with_verdict(claim, doubt, part=part, few=few_seeds(results))


def keeps_signs(results: Results) -> Claim:
    """D20: what binarizing keeps of an eigenfunction.

    Args:
        results: Of a run.

    Returns:
        The claim.
    """
    least = min(map(len, results.overlaps))
    doubt = too_few_tasks(least, TASKS_TO_FALL)
    number = _mean_overlap(results) if least else nothing()
    off = distance(number, PUBLISHED_OVERLAP)
    claim = Claim(
        "D20",
        "Binarized eigenfunctions keep 0.78 of themselves",
        "the mean of ‖v‖₁/√n over eigenfunctions from index 1 on, up to 1,000 of them "
        "and as far as rounding resolves them, is within 0.02 of 0.78, with all of its "
        f"interval; at least {TASKS_TO_FALL} eigenfunctions",
        (
            *held(["distance from 0.78"], [off], _CLOSE, doubt),
            Finding("mean overlap", number),
        ),
        "inconclusive",
        f"over {least:,} eigenfunctions",
        "0.78 ± 0.02",
    )
    return with_verdict(claim, doubt, few=few_seeds(results))


def _mean_overlap(results: Results) -> Estimate:
    """Over eigenfunctions for one seed, over seeds for several."""
    overlaps = results.overlaps
    if len(overlaps) == 1:
        return bootstrap(mean, overlaps[0])
    return over_draws([float(each.mean()) for each in overlaps])


def converges_slower(results: Results) -> Claim:
    """D21: the training loss in the end, linearization over network.

    Args:
        results: Of a run.

    Returns:
        The claim.
    """
    use = used(results)
    network, linearized = (
        np.log(np.maximum(ended.loss, _SMALLEST)) for ended in results.pair
    )
    ratio = estimate(mean_gap, use, linearized, network)
    doubt = too_few_tasks(fewest(use), TASKS_TO_LEAD)
    claim = Claim(
        "D21",
        "Linearizations converge more slowly",
        "mean paired log ratio of training losses in the last epoch, linearization "
        "over network, above 0 with all of its interval; at least "
        f"{TASKS_TO_LEAD} tasks",
        held(["log loss ratio, linearization over network"], [ratio], ZERO, doubt),
        "inconclusive",
        limit="log ratio above 0",
    )
    return with_verdict(claim, doubt, few=few_seeds(results))


def strays(results: Results) -> Claim:
    """D46: the farther the weights go, the less the linearization tells.

    Args:
        results: Of a run.

    Returns:
        The claim.
    """
    use, went = used(results), results.network.distance
    probabilities, logits, labels = (
        _partial(results, use, gap, went)
        for gap in (results.probability_gap, results.logit_gap, results.disagreement)
    )
    doubt = too_few_to_agree(results)
    found = held(["partial ρ, probabilities"], [probabilities], ZERO, doubt)
    told = "" if doubt else opposite_text(probabilities, logits)
    claim = Claim(
        "D46",
        "The linearization is closest where weights stay near initialization",
        "partial Spearman's ρ, given the logarithm of the index, of the distance the "
        "network's weights went and the root mean square difference of its test "
        "probabilities from the linearization's, above 0 with all of its interval; at "
        f"least {TASKS_TO_AGREE} tasks over all seeds",
        (*found, Finding("logits", logits), Finding("share of other labels", labels)),
        "inconclusive",
        told,
        "partial ρ above 0",
    )
    return with_verdict(claim, doubt, few=few_seeds(results))


def opposite_text(probabilities: Estimate, logits: Estimate) -> str:
    """Whether logits say the opposite of probabilities.

    Args:
        probabilities: Partial rank correlation of the gap in probabilities.
        logits: Of the gap in logits.

    Returns:
        A remark where all of the interval of logits lies on the other side of 0; else
        empty.
    """
    other = probabilities.value * logits.value < 0
    if not other or logits.low <= 0 <= logits.high:
        return ""
    return f"of logits the opposite holds: partial ρ {estimate_text(logits)}"


def _partial(
    results: Results, use: np.ndarray, gap: np.ndarray, went: np.ndarray
) -> Estimate:
    return estimate(partial_spearman, use, gap, went, index_of(results))
