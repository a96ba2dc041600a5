"""What the eigenfunctions experiment says about the paper's claims.

Tasks that are degenerate, or on which training diverged, are left out, and so is the
leading eigenfunction. A run with Adam speaks about D4 and one on MNIST about D5; every
other run about the rest.
"""

import numpy as np

from ...analysis import Claim, Finding, Verdict, all_of
from ...tasks.record import DEGENERATE
from .crossing import ON_MNIST, crosses
from .dynamics import converges_slower, grows, keeps_signs, strays
from .measuring import (
    FIRST_TO_LEAD,
    TASKS_TO_AGREE,
    TASKS_TO_FALL,
    TASKS_TO_LEAD,
    agreement,
    falls,
    fewest,
    lead,
    too_small,
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
    found = falls(results)
    return Claim(
        "D1",
        "Accuracy falls with the index, for both models",
        f"{_FALLS}; at least {TASKS_TO_FALL} tasks",
        found,
        _together(found),
        _doubt_of_fall(results),
        "ρ below −0.8",
    )


def _agrees(results: Results) -> Claim:
    partial, raw = agreement(results)
    return Claim(
        "D2",
        "Both models rank tasks alike, beyond the common fall",
        f"{_AGREES}; at least {TASKS_TO_AGREE} tasks over all seeds",
        (partial, raw),
        _together((partial,)),
        too_small(results, int(used(results).sum()), TASKS_TO_AGREE),
        "partial ρ above 0",
    )


def _leads(results: Results) -> Claim:
    found = lead(results)
    use = used(results, FIRST_TO_LEAD)
    return Claim(
        "D3",
        "The linearization is ahead of the network",
        f"{_LEADS}; at least {TASKS_TO_LEAD} tasks",
        (found,),
        _together((found,)),
        too_small(results, fewest(use), TASKS_TO_LEAD),
        "mean gap above 0",
    )


def _same_under_adam(results: Results) -> Claim:
    """D1, D2 and D3 at once: the claim is that all three stay."""
    partial, raw = agreement(results)
    found = tuple(each._replace(name=f"fall, {each.name}") for each in falls(results))
    found += partial._replace(name="agreement, partial"), lead(results)
    use = used(results)
    doubts = (
        _doubt_of_fall(results),
        too_small(results, int(use.sum()), TASKS_TO_AGREE),
    )
    return Claim(
        "D4",
        "Fall, agreement and lead are the same under Adam",
        f"D1, D2 and D3 under Adam: {_FALLS}; {_AGREES}; {_LEADS}. At least "
        f"{TASKS_TO_FALL} tasks for the first, {TASKS_TO_AGREE} over all seeds for the "
        "second",
        (*found, raw._replace(name="agreement, raw")),
        _together(found),
        "; ".join(dict.fromkeys(filter(None, doubts))),
        "D1, D2 and D3 hold",
    )


def _on_mnist(results: Results) -> Claim:
    found = tuple(each._replace(name=f"fall, {each.name}") for each in falls(results))
    verdict = _together(found)
    remark = _doubt_of_fall(results)
    criterion = f"{_FALLS}; at least {TASKS_TO_FALL} tasks"
    if results.model == "lenet":
        more, crossed, why = crosses(results)
        found, verdict = (*found, *more), all_of([verdict, crossed])
        remark = "; ".join(filter(None, [remark, why]))
        criterion += f"; {ON_MNIST}"
    return Claim(
        "D5",
        "On MNIST accuracy falls as well, and the curves of LeNet cross near 500",
        criterion,
        found,
        verdict,
        remark,
        "ρ below −0.8" + (", a crossing" if results.model == "lenet" else ""),
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


def _together(found: tuple[Finding, ...]) -> Verdict:
    return all_of([each.verdict or "inconclusive" for each in found])


def _doubt_of_fall(results: Results) -> str:
    return too_small(results, fewest(used(results)), TASKS_TO_FALL)
