"""Performing one planned run: found finished, resumed, or run from the start."""

import dataclasses
import time
import traceback
from collections.abc import Mapping
from pathlib import Path

from .. import store
from ..experiments.base import Experiment, draw, perform
from ..report.page import Report
from ..store.config import config_hash
from ..store.report import PAGE
from .naming import run_command, run_seeds
from .records import Performed
from .scales import Run


def perform_planned(
    experiments: Mapping[str, Experiment],
    run: Run,
    name: str,
    root: Path,
    *,
    progress: bool,
) -> Performed:
    """Perform a run, unless it is there; a failure is recorded and not raised.

    Args:
        experiments: Every experiment, by name.
        run: What to run.
        name: What to call it.
        root: Folder that holds the runs.
        progress: Show progress bars.

    Returns:
        The run with its report, or with the reason why there is none.
    """
    start = time.monotonic()
    planned = Performed(run, name, run_command(run), run_seeds(run), None, 0.0)
    try:
        finished = find_finished(experiments, run, root)
        if finished is not None:
            return _performed(planned, *_read(experiments, finished), reused=True)
        outcome = perform(
            experiments,
            run.experiment,
            run.config,
            root,
            progress=progress,
            command=planned.command,
            resume=True,
        )
    except Exception as error:  # the other claims must still be verified
        return dataclasses.replace(
            planned,
            seconds=time.monotonic() - start,
            failure=_reason(error),
            traceback="".join(traceback.format_exception(error)),
        )
    return _performed(planned, outcome.run, outcome.report, reused=False)


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


def _read(
    experiments: Mapping[str, Experiment], finished: store.Run
) -> tuple[store.Run, Report]:
    """A finished run and its report; its files are written if they are not there."""
    if not (finished.path / PAGE).is_file():
        outcome = draw(experiments, finished.path)
        return outcome.run, outcome.report
    return finished, experiments[finished.experiment].report(finished)


def _performed(
    planned: Performed, run: store.Run, report: Report, *, reused: bool
) -> Performed:
    return dataclasses.replace(
        planned,
        path=run.path,
        seconds=float(run.manifest["wall_seconds"]),
        reused=reused,
        report=report,
    )


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
