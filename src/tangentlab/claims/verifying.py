"""Taking the claims one by one: run what measures them, and say where each stands."""

import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from .. import experiments
from .._checks import check_known
from ..store.manifest import now
from . import plans
from .catalog import CATALOG
from .entries import Entry
from .joining import join
from .naming import names_by_experiment, run_names
from .performing import perform_planned
from .records import Performed, Standing, Verification, Verified
from .scales import SCALES, Run, Scale
from .writing import write

RUNS = "runs"
"""Folder of the runs, beside tables and page."""

Watch = Callable[[Performed, int, int], None]
"""Called with each run once it ended, its place from 1 on, and how many there are."""


def verify(
    scale: Scale,
    folder: Path,
    *,
    claims: Sequence[str] | None = None,
    progress: bool = False,
    watch: Watch | None = None,
) -> Verification:
    """Verify claims, and write verdicts and a page.

    Runs that are in the folder, finished, are used; unfinished ones go on. A run that
    fails leaves its claims unmeasured, and the others go on.

    Args:
        scale: Which runs to perform.
        folder: Where runs, tables, figures and the page go.
        claims: Ids of the claims to verify; all by default.
        progress: Show progress bars.
        watch: Called after each run.

    Returns:
        A verdict on every claim of the catalog, `not measured` where there is none.
    """
    check_known("scale", scale, SCALES)
    wanted = tuple(CATALOG) if claims is None else tuple(dict.fromkeys(claims))
    for name in wanted:
        check_known("claim", name, CATALOG)
    started, start = now().isoformat(timespec="seconds"), time.monotonic()
    chosen = [run for run in plans.planned(scale) if set(run.claims) & set(wanted)]
    runs = _perform(chosen, folder / RUNS, progress=progress, watch=watch)
    verification = Verification(
        scale=scale,
        folder=folder,
        command=_command(scale, folder, claims),
        started=started,
        seconds=time.monotonic() - start,
        wanted=wanted,
        verdicts=tuple(_verified(CATALOG[name], wanted, runs) for name in CATALOG),
        runs=runs,
    )
    write(verification)
    return verification


def _perform(
    chosen: Sequence[Run], root: Path, *, progress: bool, watch: Watch | None
) -> tuple[Performed, ...]:
    performed = []
    names = names_by_experiment(chosen)
    for place, (run, name) in enumerate(zip(chosen, names, strict=True), start=1):
        performed.append(
            perform_planned(experiments.EXPERIMENTS, run, name, root, progress=progress)
        )
        if watch is not None:
            watch(performed[-1], place, len(chosen))
    return tuple(performed)


def _verified(
    entry: Entry, wanted: Sequence[str], performed: Sequence[Performed]
) -> Verified:
    if entry.id not in wanted:
        return Verified(entry, "not measured", None, "not asked for", ())
    runs = tuple(each for each in performed if entry.id in each.run.claims)
    if not runs:
        return Verified(entry, "not measured", None, _elsewhere(entry.id), ())
    claims = [each.claim(entry.id) for each in runs]
    there = [(c, r.run) for c, r in zip(claims, runs, strict=True) if c is not None]
    found = [claim for claim, _ in there]
    joined = join(found, run_names([run for _, run in there])) if found else None
    reason = _missing(entry.id, runs)
    standing: Standing = "recorded"
    if reason or joined is None:
        standing = "not measured"
    elif entry.judged:
        standing = joined.verdict
    return Verified(entry, standing, joined, reason, runs)


def _missing(name: str, runs: Sequence[Performed]) -> str:
    """Why some of the runs behind a claim say nothing of it; empty if all do."""
    parts = []
    for each in runs:
        if each.failure:
            parts.append(f"{each.name} failed ({each.failure})")
        elif each.claim(name) is None:
            parts.append(f"{each.name} reported nothing of it")
    return "; ".join(parts)


def _elsewhere(name: str) -> str:
    scales = [
        scale
        for scale in SCALES
        if any(name in run.claims for run in plans.planned(scale))
    ]
    if not scales:
        return "not measured at any scale"
    return f"not measured at this scale, but at {' and '.join(scales)}"


def _command(scale: Scale, folder: Path, claims: Sequence[str] | None) -> str:
    words = ["tangentlab", "verify", "--scale", scale, "--output", str(folder)]
    return shlex.join(words + (["--claim", *claims] if claims else []))
