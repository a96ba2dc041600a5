"""Taking the claims one by one: run what measures them, and say where each stands."""

import time
from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..analysis import Claim
from ..store.manifest import now
from . import plans
from .budget import Budget
from .catalog import CATALOG
from .choosing import chosen_runs, fitting, wanted_claims
from .doubting import Plan, by_numbers, doubt_of, not_kept_of, tells
from .entries import Entry
from .joining import join, lost_together
from .kept import not_kept, read_kept
from .naming import run_names
from .records import Performed, Standing, Verification, Verified
from .running import RUNS, Watch, check_processes, linked_for, perform_all
from .scales import SCALES, Scale
from .writing import write


def verify(
    scale: Scale,
    folder: Path,
    *,
    claims: Sequence[str] | None = None,
    only: Sequence[str] | None = None,
    seeds: int | None = None,
    minutes: float | int | None = None,
    progress: bool = False,
    watch: Watch | None = None,
    cluster: Any = None,
    processes: int = 1,
    kept: Path | None = None,
) -> Verification:
    """Verify claims, and write verdicts and a page.

    Runs that are in the folder, finished, are used; unfinished ones go on. A run that
    fails, or is left out, leaves its claims unmeasured, and the others go on.

    Args:
        scale: Which runs to perform.
        folder: Where runs, tables, figures and the page go.
        claims: Ids of the claims to verify; all by default.
        only: Runs of these experiments, networks or data sets alone.
        seeds: The least number of initializations of each run; those planned by
            default.
        minutes: Time to spend: a run that would not fit what is left is not begun. 0
            judges what is there.
        progress: Show progress bars.
        watch: Called after each run.
        cluster: Whose workers share the work of runs that can leave some to them, see
            `tl.gram`; they see the folder at the same path.
        processes: Runs side by side, each in a process of its own. They are started
            anew: a script that asks for several needs `if __name__ == "__main__":`.
        kept: Judge the numbers that `claims.write_numbers` left in this folder, and
            perform no runs: those of several days and machines together. What the
            scale plans beside them was not measured.

    Returns:
        A verdict on every claim of the catalog, `not measured` where there is none.
    """
    check_processes(processes, cluster)
    wanted, budget = wanted_claims(claims), Budget.of(minutes)
    started, start = now().isoformat(timespec="seconds"), time.monotonic()
    if kept is not None:
        _check_performs_none(seeds=seeds, minutes=minutes, cluster=cluster)
        runs, plan = _from_kept(kept, scale, wanted, only)
    else:
        chosen = chosen_runs(scale, wanted, only, seeds)
        plan = Plan(chosen_runs(scale, wanted, None, seeds))
        root = folder / RUNS
        with linked_for(chosen, cluster) as link:
            runs = perform_all(
                chosen,
                root,
                budget,
                progress=progress,
                watch=watch,
                cluster=link,
                processes=processes,
            )
    verification = Verification(
        scale=scale,
        folder=folder,
        started=started,
        seconds=time.monotonic() - start,
        wanted=wanted,
        named=tuple(claims or ()),
        only=tuple(only or ()),
        seeds=seeds,
        kept=kept,
        verdicts=tuple(
            _verified(each, scale, wanted, runs, plan) for each in CATALOG.values()
        ),
        runs=runs,
    )
    write(verification)
    return verification


def _check_performs_none(**options: Any) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ValueError(
            f"{' and '.join(given)} say how runs are performed, and with kept= none "
            "is: leave them out."
        )


def _from_kept(
    folder: Path, scale: Scale, wanted: Sequence[str], only: Sequence[str] | None
) -> tuple[tuple[Performed, ...], Plan]:
    """The runs that are asked for, and all there should be."""
    there = read_kept(folder, scale)
    lost = not_kept(plans.planned(scale), [each.run for each in there])
    every = (*(each.run for each in there), *lost)
    chosen = fitting(every, wanted, only)
    runs = tuple(each for each in there if any(each.run is run for run in chosen))
    asked = tuple(run for run in lost if any(run is one for one in chosen))
    return runs, Plan(every, tuple(lost), asked)


def _verified(
    entry: Entry,
    scale: Scale,
    wanted: Sequence[str],
    performed: Sequence[Performed],
    plan: Plan,
) -> Verified:
    if entry.id not in wanted:
        return Verified(entry, "not measured", None, "not asked for", ())
    runs = tuple(each for each in performed if entry.id in each.run.claims)
    if not runs and any(entry.id in run.claims for run in plan.asked):
        reason = "no numbers are kept"
        return Verified(entry, "not measured", None, reason, (), expected=True)
    if not runs:
        reason = _elsewhere(entry.id, scale)
        return Verified(entry, "not measured", None, reason, ())
    joined = _joined(entry, runs, plan)
    reason = _missing(entry.id, runs)
    if reason or joined is None:
        claim = joined.claim if joined else None
        return Verified(entry, "not measured", claim, reason, runs)
    standing: Standing = joined.claim.verdict if entry.judged else "recorded"
    return Verified(
        entry, standing, joined.claim, "", runs, joined.doubt, joined.leaning
    )


class _Joined(NamedTuple):
    """What runs say together, and why it is open where their numbers are not."""

    claim: Claim
    doubt: str = ""
    leaning: Literal["confirmed", "refuted"] | None = None


def _joined(entry: Entry, runs: Sequence[Performed], plan: Plan) -> _Joined | None:
    there = [(each, c) for each in runs if (c := each.claim(entry.id)) is not None]
    if not there:
        return None
    names = run_names([each.run for each, _ in there])
    telling = [tells(*pair) for pair in there]
    telling = telling if any(telling) else [True] * len(there)
    enough = [not each.has_too_few_seeds for each, _ in there]
    both = [a and b for a, b in zip(telling, enough, strict=True)]
    counted = both if any(both) else telling
    found = [by_numbers(*pair) for pair in there]
    claim = join(found, names, counted)
    if not entry.judged or claim.verdict == "recorded":
        return _Joined(claim)
    if claim.verdict == "inconclusive":
        judged, about = compress(found, counted), compress(names, counted)
        remark = "; ".join(filter(None, [not_kept_of(entry.id, plan), claim.remark]))
        claim = claim._replace(remark=remark)
        return _Joined(claim, lost_together([*judged], [*about]))
    doubt = doubt_of(claim, runs, plan)
    if not doubt:
        return _Joined(claim)
    remark = "; ".join(filter(None, [doubt, claim.remark]))
    left_open = claim._replace(verdict="inconclusive", remark=remark)
    return _Joined(left_open, doubt, claim.verdict)


def _missing(name: str, runs: Sequence[Performed]) -> str:
    """Why some of the runs behind a claim say nothing of it; empty if all do."""
    parts = []
    for each in runs:
        if each.failure:
            parts.append(f"{each.name} failed ({each.failure})")
        elif each.left_out:
            parts.append(f"{each.name} was not begun ({each.left_out})")
        elif each.claim(name) is None:
            parts.append(f"{each.name} reported nothing of it")
    return "; ".join(parts)


def _elsewhere(name: str, here: Scale) -> str:
    scales = [
        scale
        for scale in SCALES
        if any(name in run.claims for run in plans.planned(scale))
    ]
    if here in scales:
        return "its runs were not asked for"
    if not scales:
        return "not measured at any scale"
    return f"not measured at this scale, but at {' and '.join(scales)}"
