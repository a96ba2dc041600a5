"""Performing the runs of a plan one after the other, as far as the time goes."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import experiments
from ..cluster import linked
from ..cluster.links import check_cluster
from ..experiments.stages.sharing import open_shared
from .budget import Budget
from .choosing import chosen_runs, wanted_claims
from .naming import names_by_experiment
from .performing import perform_planned
from .records import Performed
from .scales import Run, Scale

RUNS = "runs"
"""Folder of the runs, beside tables and page."""

Watch = Callable[[Performed, int, int], None]
"""Called with each run once it ended, its place from 1 on, and how many there are."""


def compute(
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
) -> tuple[Performed, ...]:
    """Perform the runs of a verification, and leave reports and verdicts for later.

    For a machine whose time is dear: `verify` on the same folder, wherever it was
    copied, draws and judges what is there.

    Args:
        scale: Which runs to perform.
        folder: Where the runs go.
        claims: Ids of the claims whose runs are performed; all by default.
        only: Runs of these experiments, networks or data sets alone.
        seeds: The least number of initializations of each run; those planned by
            default.
        minutes: Time to spend: a run that would not fit what is left is not begun.
        progress: Show progress bars.
        watch: Called after each run.
        cluster: Whose workers share the work of runs that can leave some to them, see
            `tl.gram`; they see the folder at the same path.

    Returns:
        The runs.
    """
    budget = Budget.of(minutes)
    chosen = chosen_runs(scale, wanted_claims(claims), only, seeds)
    root = folder / RUNS
    with linked_for(chosen, cluster) as link:
        return perform_all(
            chosen,
            root,
            budget,
            progress=progress,
            watch=watch,
            drawn=False,
            cluster=link,
        )


@contextmanager
def linked_for(chosen: Sequence[Run], cluster: Any) -> Iterator[Any]:
    """Connect to a cluster once, if one of the runs has work for it.

    Args:
        chosen: The runs.
        cluster: What was passed; None for no cluster.

    Yields:
        The connection; None if there is none, or nothing to do for it.
    """
    if cluster is not None:
        check_cluster(cluster)
    known = experiments.EXPERIMENTS
    if cluster is None or not any(known[run.experiment].shares for run in chosen):
        yield None
        return
    with linked(cluster) as link:
        yield link


def perform_all(
    chosen: Sequence[Run],
    root: Path,
    budget: Budget,
    *,
    progress: bool,
    watch: Watch | None,
    drawn: bool = True,
    cluster: Any = None,
) -> tuple[Performed, ...]:
    """Perform runs that share their work.

    What they share is removed when all of them are finished and drawn.

    Args:
        chosen: The runs.
        root: Folder that holds them.
        budget: Time that may be spent.
        progress: Show progress bars.
        watch: Called after each run.
        drawn: Draw reports.
        cluster: For runs that can share work; the others are performed here.

    Returns:
        The runs, as they ended.
    """
    performed = []
    shared = open_shared(root)
    names = names_by_experiment(chosen)
    for place, (run, name) in enumerate(zip(chosen, names, strict=True), start=1):
        ended = perform_planned(
            experiments.EXPERIMENTS,
            run,
            name,
            root,
            progress=progress,
            budget=budget,
            drawn=drawn,
            cluster=cluster,
        )
        performed.append(ended)
        if watch is not None:
            watch(ended, place, len(chosen))
    if drawn and all(each.path is not None for each in performed):
        shutil.rmtree(shared)
    return tuple(performed)
