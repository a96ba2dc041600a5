"""Why a claim stays open although its numbers are clear: not enough was measured."""

from collections.abc import Sequence

from ..analysis import Claim, left_open
from ..experiments.stages.judging import fewer_seeds
from .catalog import CATALOG
from .entries import Entry
from .naming import run_names, written
from .records import Performed
from .scales import Run


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


def doubt_of(
    claim: Claim, entry: Entry, runs: Sequence[Performed], planned: Sequence[Run]
) -> str:
    """What keeps a claim from the verdict of its numbers.

    Nothing is decided by fewer initializations than a verdict takes, and nothing is
    confirmed of networks that were not measured, or with too few of them, or by part of
    the planned runs; one network for which it fails refutes it.

    Args:
        claim: What the runs say together.
        entry: What is claimed.
        runs: The runs behind it.
        planned: All runs of the scale, also those that were not asked for.

    Returns:
        The reason, with what its numbers alone would have it; empty if it is decided,
        or open by its numbers.
    """
    if claim.verdict == "inconclusive":
        return ""
    told = [each for each in runs if each.claim(entry.id) is not None]
    few = [each for each in told if each.has_too_few_seeds]
    part = ""
    if claim.verdict == "confirmed":
        part = _part(entry, runs, planned)
    if len(few) < len(told):
        return part
    return f"{_too_few(few)}; the numbers alone would have it {part or claim.verdict}"


def _too_few(few: Sequence[Performed]) -> str:
    names = " and ".join(f"{each.name} ({len(each.seeds)})" for each in few)
    least = max(each.run.least_seeds for each in few)
    return f"too few initializations of {names}, a verdict takes {least}"


def _part(entry: Entry, runs: Sequence[Performed], planned: Sequence[Run]) -> str:
    """What it was confirmed for, and what it was not; empty if it was for all."""
    told = [each for each in runs if each.claim(entry.id) is not None]
    few = [each for each in told if each.has_too_few_seeds]
    few = few if len(few) < len(told) else []
    measured = [each.run for each in told if each not in few]
    chosen = [each.run for each in runs]
    about = [run for run in planned if entry.id in run.claims]
    named = list(zip(about, run_names(about), strict=True))
    left = [run for run in about if run not in chosen]
    shown = (*measured, *left, *(each.run for each in few))
    known = {network for run in shown for network in run.networks}
    absent = [written(network) for network in entry.networks if network not in known]
    if not left and not absent and not few:
        return ""
    parts = [f"confirmed for {_listed([n for run, n in named if run in measured])}"]
    if left:
        names = [name for run, name in named if run in left]
        parts.append(f"{_were(names)} left out by --only")
    if absent:
        parts.append(f"{_were(absent)} not measured")
    if few:
        parts.append(_too_few(few))
    return "; ".join(parts)


def _were(names: Sequence[str]) -> str:
    return f"{_listed(names)} {'were' if len(names) > 1 else 'was'}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
