"""Performing the runs of a plan one after the other, as far as the time goes."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import experiments
from .._progress import progress_bar
from ..cluster import linked
from ..cluster.links import check_cluster
from ..experiments.stages.sharing import open_shared
from .budget import Budget
from .choosing import chosen_runs, wanted_claims
from .naming import names_by_experiment
from .performing import perform_planned
from .records import Performed
from .scales import Run, Scale
from .side_by_side import Job, perform_side_by_side

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
    processes: int = 1,
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
        processes: Runs side by side, see `verify`.

    Returns:
        The runs.
    """
    check_processes(processes, cluster)
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
            processes=processes,
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
    processes: int = 1,
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
        processes: Runs side by side.

    Returns:
        The runs, in the order of the plan.
    """
    shared = open_shared(root)
    jobs = list(map(Job, chosen, names_by_experiment(chosen)))
    options = {"budget": budget, "drawn": drawn}
    if processes == 1 or len(jobs) < 2:
        options |= {"progress": progress, "cluster": cluster}
        ending = _one_by_one(jobs, root, options)
    else:
        ending = _together(jobs, root, processes, options, progress=progress)
    ended: dict[int, Performed] = {}
    for at, performed in ending:
        ended[at] = performed
        if watch is not None:
            watch(performed, len(ended), len(jobs))
    if drawn and all(each.path is not None for each in ended.values()):
        shutil.rmtree(shared)
    return tuple(ended[at] for at in range(len(jobs)))


def check_processes(processes: int, cluster: Any) -> None:
    """Refuse numbers of processes that make no sense.

    Args:
        processes: Runs side by side.
        cluster: Whose workers share work.

    Raises:
        ValueError: If there is to be none, or a cluster beside several.
    """
    if processes < 1:
        raise ValueError(f"processes must be at least 1, got {processes}.")
    if processes > 1 and cluster is not None:
        raise ValueError(
            f"Workers of a cluster share the work of one run after the other, got "
            f"processes = {processes} beside `cluster`: leave out one of them."
        )


def _one_by_one(
    jobs: Sequence[Job], root: Path, options: dict[str, Any]
) -> Iterator[tuple[int, Performed]]:
    for at, job in enumerate(jobs):
        yield at, perform_planned(experiments.EXPERIMENTS, *job, root, **options)


def _together(
    jobs: Sequence[Job],
    root: Path,
    processes: int,
    options: dict[str, Any],
    *,
    progress: bool,
) -> Iterator[tuple[int, Performed]]:
    options = {**options, "progress": False}  # bars of several would mix
    known, count = experiments.EXPERIMENTS, min(processes, len(jobs))
    with progress_bar("Runs", len(jobs), show=progress, unit="runs") as advance:
        for each in perform_side_by_side(known, jobs, root, count, **options):
            advance(1)
            yield each
