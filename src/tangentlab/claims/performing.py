"""Performing one planned run: found finished, resumed, or run from the start."""

import dataclasses
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import store
from ..experiments.base import Experiment, draw, perform
from ..report.page import Report, shown
from ..store.config import config_hash
from ..store.report import PAGE
from .budget import Budget
from .naming import run_command, run_seeds
from .origins import origin_of
from .records import Performed
from .scales import Run

NO_LIMIT = Budget()


def perform_planned(
    experiments: Mapping[str, Experiment],
    run: Run,
    name: str,
    root: Path,
    *,
    progress: bool,
    budget: Budget = NO_LIMIT,
    drawn: bool = True,
    cluster: Any = None,
) -> Performed:
    """Perform a run, unless it is there; a failure is recorded and not raised.

    Args:
        experiments: Every experiment, by name.
        run: What to run.
        name: What to call it.
        root: Folder that holds the runs.
        progress: Show progress bars.
        budget: Time that may be spent.
        drawn: Draw its report; else it is computed alone.
        cluster: Whose workers share its work, if it can leave some to them.

    Returns:
        The run with its report, or with the reason why there is none.
    """
    start = time.monotonic()
    planned = Performed(run, name, run_command(run), run_seeds(run), None, 0.0)
    try:
        finished = find_finished(experiments, run, root)
        if finished is None and (reason := budget.refuses(run)):
            return dataclasses.replace(planned, left_out=reason)
        reused = finished is not None
        options = _options(experiments, planned, progress, cluster)
        if finished is not None:
            report = _read(experiments, finished) if drawn else None
        elif drawn:
            order = (run.experiment, run.config, root)
            finished, report, _ = perform(experiments, *order, **options)
        else:
            finished, report = _compute(experiments, run, root, **options), None
    except Exception as error:  # the other claims must still be verified
        return dataclasses.replace(
            planned,
            seconds=time.monotonic() - start,
            failure=_reason(error),
            traceback="".join(traceback.format_exception(error)),
        )
    return dataclasses.replace(
        planned,
        path=finished.path,
        seconds=float(finished.manifest["wall_seconds"]),
        reused=reused,
        report=report,
        origin=origin_of(finished.manifest),
    )


def _options(
    experiments: Mapping[str, Experiment],
    planned: Performed,
    progress: bool,
    cluster: Any,
) -> dict[str, Any]:
    """How to perform a run; with the cluster, if it can leave work to it."""
    options = {"progress": progress, "resume": True, "command": planned.command}
    if cluster is not None and experiments[planned.run.experiment].shares:
        options["cluster"] = cluster
    return options


def find_finished(
    experiments: Mapping[str, Experiment], run: Run, root: Path
) -> store.Run | None:
    """The last finished run of an equal config.

    Args:
        experiments: Every experiment, by name.
        run: What is planned.
        root: Folder that holds the runs.

    Returns:
        The run; None if there is none.
    """
    configs = {name: experiment.config for name, experiment in experiments.items()}
    label = f"{run.experiment}-{config_hash(run.experiment, run.config)}"
    for path in sorted(root.glob(f"[!.]*-{label}*"), reverse=True):
        try:
            found = store.open_run(path, configs)
        except (ValueError, OSError):  # damaged: it is run again
            continue
        if (found.experiment, found.config) == (run.experiment, run.config):
            return found
    return None


def _compute(
    experiments: Mapping[str, Experiment],
    run: Run,
    root: Path,
    *,
    progress: bool,
    cluster: Any = None,
    **options: Any,
) -> store.Run:
    """A run without its report."""
    experiment = experiments[run.experiment]
    shared = {} if cluster is None else {"cluster": cluster}
    with store.create(root, run.experiment, run.config, **options) as folder:
        experiment.run(run.config, folder, progress=progress, **shared)
    return store.open_run(folder.final, {run.experiment: experiment.config})


def _read(experiments: Mapping[str, Experiment], finished: store.Run) -> Report:
    """The report of a finished run; its files are written if they are not there."""
    if not (finished.path / PAGE).is_file():
        return draw(experiments, finished.path).report
    return shown(experiments[finished.experiment].report(finished))


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
