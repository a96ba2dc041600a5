"""What the eigenfunctions experiment says about the paper's claims.

Tasks that are degenerate, or on which training diverged, are left out, and so is the
leading eigenfunction. A run with Adam speaks about D4 and one on MNIST about D5; every
other run about the rest.
"""

import numpy as np

from ...analysis import Claim
from ...tasks.record import DEGENERATE
from ..stages.judging import (
    telling_diverged,
    too_few_tasks,
    with_verdict,
)
from .crossing import ON_MNIST, crosses
from .dynamics import converges_slower, grows, keeps_signs, strays
from .measuring import (
    FIRST_TO_LEAD,
    TASKS_TO_AGREE,
    TASKS_TO_FALL,
    TASKS_TO_LEAD,
    agreement,
    falls,
    few_seeds,
    fewest,
    lead,
    too_few_to_agree,
    too_few_to_fall,
    used,
)
from .results import Results

_FALLS = "Spearman's ρ of index and accuracy below −0.8, with all of its interval"
_AGREES = (
    "partial Spearman's ρ of the two accuracies, given the logarithm of the index, "
    "above 0, with all of its interval"
)
_LEADS = (
    f"mean paired gap in accuracy over indices from {FIRST_TO_LEAD} on above 0, with "
    "all of its interval"
)


def claims(results: Results) -> tuple[Claim, ...]:
    """Measure what a run can tell.

    Args:
        results: Of a run.

    Returns:
        The claims with their verdicts.
    """
    diverged = results.network.diverged | results.linearized.diverged
    return telling_diverged(_made(results), diverged)


def _made(results: Results) -> tuple[Claim, ...]:
    if results.optimizer == "adam":
        return (_same_under_adam(results),)
    if results.data == "mnist":
        return (_on_mnist(results),)
    return (
        _falls(results),
        _agrees(results),
        _leads(results),
        grows(results),
        keeps_signs(results),
        converges_slower(results),
        strays(results),
        _leading(results),
    )


def about_accuracy(judged: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """Claims that the main figure shows.

    Args:
        judged: All claims of a run.

    Returns:
        Those that follow from accuracies and class balance.
    """
    shown = ("D1", "D2", "D3", "D4", "D5", "D47")
    return tuple(claim for claim in judged if claim.id in shown)


def _falls(results: Results) -> Claim:
    claim = Claim(
        "D1",
        "Accuracy falls with the index, for both models",
        f"{_FALLS}; at least {TASKS_TO_FALL} tasks",
        falls(results),
        "inconclusive",
        limit="ρ below −0.8",
    )
    return with_verdict(claim, too_few_to_fall(results), few=few_seeds(results))


def _agrees(results: Results) -> Claim:
    claim = Claim(
        "D2",
        "Both models rank tasks alike, beyond the common fall",
        f"{_AGREES}; at least {TASKS_TO_AGREE} tasks over all seeds",
        agreement(results),
        "inconclusive",
        limit="partial ρ above 0",
    )
    return with_verdict(claim, too_few_to_agree(results), few=few_seeds(results))


def _leads(results: Results) -> Claim:
    claim = Claim(
        "D3",
        "The linearization is ahead of the network",
        f"{_LEADS}; at least {TASKS_TO_LEAD} tasks",
        (lead(results),),
        "inconclusive",
        limit="mean gap above 0",
    )
    doubt = too_few_tasks(fewest(used(results, FIRST_TO_LEAD)), TASKS_TO_LEAD)
    return with_verdict(claim, doubt, few=few_seeds(results))


def _same_under_adam(results: Results) -> Claim:
    """D1, D2 and D3 at once: the claim is that all three stay."""
    partial, raw = agreement(results)
    found = tuple(each._replace(name=f"fall, {each.name}") for each in falls(results))
    found += partial._replace(name="agreement, partial"), lead(results)
    doubts = too_few_to_fall(results), too_few_to_agree(results)
    claim = Claim(
        "D4",
        "Fall, agreement and lead are the same under Adam",
        f"D1, D2 and D3 under Adam: {_FALLS}; {_AGREES}; {_LEADS}. At least "
        f"{TASKS_TO_FALL} tasks for the first, {TASKS_TO_AGREE} over all seeds for the "
        "second",
        (*found, raw._replace(name="agreement, raw")),
        "inconclusive",
        limit="D1, D2 and D3 hold",
    )
    part = "; ".join(dict.fromkeys(filter(None, doubts)))
    return with_verdict(claim, part=part, few=few_seeds(results))


def _on_mnist(results: Results) -> Claim:
    found = tuple(each._replace(name=f"fall, {each.name}") for each in falls(results))
    doubts, remark = [too_few_to_fall(results)], ""
    criterion = f"{_FALLS}; at least {TASKS_TO_FALL} tasks"
    if results.model == "lenet":
        crossing = crosses(results)
        found += crossing.findings
        doubts.append(crossing.doubt)
        remark = crossing.told
        criterion += f"; {ON_MNIST}"
    claim = Claim(
        "D5",
        "On MNIST accuracy falls as well, and the curves of LeNet cross near 500",
        criterion,
        found,
        "inconclusive",
        remark,
        "ρ below −0.8" + (", a crossing" if results.model == "lenet" else ""),
    )
    part = "; ".join(filter(None, doubts))
    return with_verdict(claim, part=part, few=few_seeds(results))


def _leading(results: Results) -> Claim:
    larger = np.maximum(results.balance, 1 - results.balance)
    leading = larger[:, results.index == 0]
    remark = "index 0 is not among the tasks; "
    if leading.size:
        share = f"{100 * leading.min():.1f}"
        if np.ptp(leading) > 5e-4:
            share += f" to {100 * leading.max():.1f}"
        one = "is" if (leading > DEGENERATE).all() else "is not"
        remark = f"index 0 has {share} % in its larger class and {one} degenerate; "
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
        "none: whether the larger class of index 0 has over 95 % of the samples, and "
        "the balance of all tasks, are recorded",
        (),
        "recorded",
        remark,
    )
