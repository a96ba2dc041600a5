"""Which of the planned runs are performed: by claim, experiment, network, and seeds."""

import dataclasses
from collections.abc import Sequence

from .._checks import check_known
from . import plans
from .catalog import CATALOG
from .scales import SCALES, Run, Scale


def wanted_claims(claims: Sequence[str] | None) -> tuple[str, ...]:
    """The claims to verify.

    Args:
        claims: Their ids; None for all.

    Returns:
        Each id once.
    """
    wanted = tuple(CATALOG) if claims is None else tuple(dict.fromkeys(claims))
    for name in wanted:
        check_known("claim", name, CATALOG)
    return wanted


def chosen_runs(
    scale: Scale,
    claims: Sequence[str],
    only: Sequence[str] | None,
    seeds: int | None = None,
) -> list[Run]:
    """The runs of a scale that are asked for, in the order of the plan.

    Args:
        scale: The scale.
        claims: Ids of claims: runs that measure one of them.
        only: Experiments, networks and data sets: runs that every one of these words
            fits, where words of one kind are alternatives; None for all.
        seeds: The least number of initializations of each; None for those planned.

    Returns:
        The runs.

    Raises:
        ValueError: If there is to be none.
    """
    if seeds is not None and seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {seeds}.")
    check_known("scale", scale, SCALES)
    chosen = fitting(plans.planned(scale), claims, only)
    return [_with_seeds(run, seeds or 1) for run in chosen]


def fitting(
    runs: Sequence[Run], claims: Sequence[str], only: Sequence[str] | None
) -> list[Run]:
    """Those of some runs that are asked for.

    Args:
        runs: All there are.
        claims: Ids of claims: runs that measure one of them.
        only: As in `chosen_runs`.

    Returns:
        The runs.
    """
    chosen = [run for run in runs if set(run.claims) & set(claims)]
    for kind in _kinds(runs, only or ()):
        chosen = [run for run in chosen if _facts(run) & kind]
    return chosen


def _with_seeds(run: Run, least: int) -> Run:
    """The run with at least this many initializations, where it has several at all."""
    planned = getattr(run.config, "seeds", None)
    if not isinstance(planned, int) or planned >= least:
        return run
    more = dataclasses.replace(run.config, seeds=least)
    return run._replace(config=more, seconds=run.seconds * least // planned)


def _kinds(planned: Sequence[Run], only: Sequence[str]) -> list[set[str]]:
    """The words by what they name."""
    known = [{fact for run in planned if (fact := _fact(run, at))} for at in range(3)]
    for word in only:
        check_known("run", word, set().union(*known))
    return [kind for names in known if (kind := names & set(only))]


def _facts(run: Run) -> set[str]:
    return {_fact(run, at) for at in range(3)}


def _fact(run: Run, at: int) -> str:
    """Experiment, network or data set; empty where there is none."""
    model, data = (getattr(run.config, name, "") for name in ("model", "data"))
    return (run.experiment, model, data)[at]
