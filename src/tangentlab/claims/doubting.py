"""Why a claim stays open although its numbers are clear: not enough was measured."""

from collections.abc import Sequence
from typing import NamedTuple

from ..analysis import Claim, left_open
from ..experiments.stages.judging import fewer_seeds
from .catalog import CATALOG
from .naming import run_names, written
from .records import Performed
from .scales import Run


class Plan(NamedTuple):
    """The runs that a verdict takes.

    Attributes:
        runs: All of the scale, also those that were not asked for.
        lost: Those of them that were performed elsewhere, or never, and of whose
            numbers nothing was kept.
        asked: Those of the lost ones that were asked for.
    """

    runs: Sequence[Run]
    lost: Sequence[Run] = ()
    asked: Sequence[Run] = ()


def told_by(run: Performed, claim: Claim) -> Claim:
    """What a run alone tells of a claim.

    Args:
        run: The run.
        claim: Of its report.

    Returns:
        The claim, which is open where there are fewer initializations than a verdict
        takes, and recorded where it is none.
    """
    if not CATALOG[claim.id].judged:
        return claim._replace(verdict="recorded")
    if claim.alone is not None:
        return claim
    return left_open(claim, fewer_seeds(len(run.seeds), run.run.least_seeds))


def by_numbers(run: Performed, claim: Claim) -> Claim:
    """A claim to be judged with those of other runs.

    Args:
        run: The run.
        claim: Of its report.

    Returns:
        The claim as its numbers alone would have it, where `doubt_of` will say that
        there are too few initializations; else as it is.
    """
    return claim.alone or claim if run.has_too_few_seeds else claim


def tells(run: Performed, claim: Claim) -> bool:
    """Whether a run says anything of a claim, or has too little to be judged at all.

    Args:
        run: The run.
        claim: Of its report.

    Returns:
        False if none of the numbers that decide the claim could be judged, for want of
        tasks, say, whatever their number of initializations.
    """
    deciding = [each for each in by_numbers(run, claim).findings if each.threshold]
    return not deciding or any(each.verdict for each in deciding)


def doubt_of(claim: Claim, runs: Sequence[Performed], plan: Plan) -> str:
    """What keeps a claim from the verdict of its numbers.

    Nothing is decided by fewer initializations than a verdict takes, or by part of the
    planned runs, with which its numbers would be judged together; nothing is confirmed
    of networks that were not measured, or with too few of them. One network for which
    it fails refutes it.

    Args:
        claim: What the runs say together.
        runs: The runs behind it.
        plan: The runs that there should be.

    Returns:
        The reason, with what its numbers alone would have it; empty if it is decided,
        or open by its numbers.
    """
    if claim.verdict == "inconclusive":
        return ""
    told, _ = _told(claim, runs)
    few = [each for each in told if each.has_too_few_seeds]
    part = _part(claim, runs, plan)
    if len(few) < len(told):
        return part
    return f"{_too_few(few)}; the numbers alone would have it {part or claim.verdict}"


def not_kept_of(name: str, plan: Plan) -> str:
    """The runs of a claim of whose numbers nothing was kept.

    Args:
        name: The claim's id.
        plan: The runs that there should be.

    Returns:
        What is missing; empty if nothing is.
    """
    about = [run for run in plan.runs if name in run.claims]
    named = zip(about, run_names(about), strict=True)
    lost = [each for run, each in named if run in plan.lost]
    return f"no numbers of {_listed(lost)} are kept" if lost else ""


def _told(
    claim: Claim, runs: Sequence[Performed]
) -> tuple[list[Performed], list[Performed]]:
    """The runs that say something of a claim, and those that could not be judged."""
    there = [(each, c) for each in runs if (c := each.claim(claim.id)) is not None]
    told = [each for each, own in there if tells(each, own)]
    return told, [each for each, own in there if not tells(each, own)]


def _too_few(few: Sequence[Performed]) -> str:
    names = " and ".join(f"{each.name} ({len(each.seeds)})" for each in few)
    least = max(each.run.least_seeds for each in few)
    return f"too few initializations of {names}, a verdict takes {least}"


def _part(claim: Claim, runs: Sequence[Performed], plan: Plan) -> str:
    """What it was decided for, and what not; empty if that is enough for a verdict."""
    entry, confirmed = CATALOG[claim.id], claim.verdict == "confirmed"
    told, silent = _told(claim, runs)
    few = [each for each in (*told, *silent) if each.has_too_few_seeds]
    few = few if len(few) < len(told) + len(silent) else []
    silent = [each for each in silent if each not in few]
    measured = [each.run for each in told if each not in few]
    chosen = [each.run for each in runs]
    about = [run for run in plan.runs if entry.id in run.claims]
    named = list(zip(about, run_names(about), strict=True))
    lost = [run for run in about if run in plan.lost]
    left = [run for run in about if run not in (*chosen, *lost)]
    shown = (*measured, *left, *lost, *(each.run for each in (*few, *silent)))
    known = {network for run in shown for network in run.networks}
    missing = [written(network) for network in entry.networks if network not in known]
    absent = missing if confirmed else []
    untold = [*few, *silent] if confirmed else []
    if not (left or lost or absent or untold):
        return ""
    names = [name for run, name in named if run in measured]
    parts = [f"{claim.verdict} for {_listed(names)}"]
    if left:
        names = [name for run, name in named if run in left]
        parts.append(f"{_were(names)} left out by --only")
    if lost:
        names = [name for run, name in named if run in lost]
        parts.append(f"no numbers of {_listed(names)} are kept")
    if absent:
        parts.append(f"{_were(absent)} not measured")
    if few and confirmed:
        parts.append(_too_few(few))
    if silent and confirmed:
        names = [each.name for each in silent]
        parts.append(f"nothing could be judged of {_listed(names)}")
    return "; ".join(parts)


def _were(names: Sequence[str]) -> str:
    return f"{_listed(names)} {'were' if len(names) > 1 else 'was'}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
