"""What an experiment is, and the one way to run it and to draw its report."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ..cluster import linked
from ..report.page import Report, shown
from ..store import ReportFiles, Run, RunFolder, create, open_run, write_report


class Compute(Protocol):
    """Computes a run and writes arrays and metrics into its folder.

    It may find there what it wrote before an interruption (`folder.has_arrays`), and
    use it. Metrics are logged anew.
    """

    def __call__(self, config: Any, folder: RunFolder, *, progress: bool) -> None:
        """Run the experiment."""
        ...


class Experiment(NamedTuple):
    """An experiment: its options, its computation and its report.

    Attributes:
        config: A frozen dataclass; its fields are the options, the saved config and,
            by their comments, the help text.
        run: `run(config, folder, progress=...)` computes and writes.
        report: `report(run)` draws from the finished folder alone.
        shares: Whether `run` takes `cluster`, and leaves long work to its workers.
    """

    config: type
    run: Compute
    report: Callable[[Run], Report]
    shares: bool = False


class Outcome(NamedTuple):
    """A finished run and what was drawn from it.

    Attributes:
        run: The run.
        report: The report as its page shows it, with its console table.
        files: The files of the report.
    """

    run: Run
    report: Report
    files: ReportFiles


def perform(
    experiments: Mapping[str, Experiment],
    name: str,
    config: Any,
    root: Path,
    *,
    progress: bool = False,
    command: str | None = None,
    resume: bool = False,
    cluster: Any = None,
) -> Outcome:
    """Run an experiment into a run folder and draw its report.

    Args:
        experiments: Every experiment, by name.
        name: The one to run.
        config: An instance of its config.
        root: Folder that holds the runs.
        progress: Show progress bars.
        command: The command line to record; the running program's by default.
        resume: Go on with the last unfinished run of an equal config, if there is one.
        cluster: Whose workers compute what takes long, see `tl.gram`; they see `root`
            at the same path.

    Returns:
        The finished run, its report and the files.

    Raises:
        ValueError: If the experiment has nothing to leave to a cluster.
    """
    if cluster is not None and not experiments[name].shares:
        able = [other for other, one in experiments.items() if one.shares]
        raise ValueError(
            f"{name} has nothing that it could leave to a cluster: run it without "
            f"`cluster`. These have: {', '.join(able) or 'none'}."
        )
    with ExitStack() as stack:
        shared = {}
        if cluster is not None:  # before the folder: an address may be wrong
            shared["cluster"] = stack.enter_context(linked(cluster))
        made = create(root, name, config, command=command, resume=resume)
        folder = stack.enter_context(made)
        experiments[name].run(config, folder, progress=progress, **shared)
    try:
        return _draw(experiments, folder.final)
    except BaseException as error:
        error.add_note(
            f"The run itself is finished, in {folder.final}; draw its report with "
            f"`tangentlab report {folder.final}`"
        )
        raise


def draw(experiments: Mapping[str, Experiment], path: Path) -> Outcome:
    """Draw the report of a finished run from its folder alone.

    Args:
        experiments: Every experiment, by name.
        path: The run folder.

    Returns:
        The run, its report and the files.

    Raises:
        ValueError: If the folder lacks numbers that the report shows.
    """
    try:
        return _draw(experiments, path)
    except LookupError as error:  # of a whole folder it would be ours, see `perform`
        raise ValueError(
            f"The report of {path} cannot be drawn, since its files lack what it shows "
            f"({error!r}). They were damaged or edited: restore them, or run the "
            "experiment again."
        ) from error


def _draw(experiments: Mapping[str, Experiment], path: Path) -> Outcome:
    configs = {name: experiment.config for name, experiment in experiments.items()}
    run = open_run(path, configs)
    report = experiments[run.experiment].report(run)
    seen = shown(report)
    return Outcome(run, seen, write_report(run, report, seen))
