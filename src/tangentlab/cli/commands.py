"""The commands as records: their fields are the options, their comments the help."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union

import tyro

from ..claims.scales import Scale
from ..experiments.base import Experiment
from .gram import ClusterExample, RunGram, ShowGram
from .helps import as_written, rewrapped
from .refusals import PROGRAM, explained_refusals

DESCRIPTION = """What can a linearized network say about the real one?

Start with `tangentlab demo`, then see `tangentlab run EXPERIMENT --help`.
`--version` prints the version; `--debug`, anywhere, shows the traceback of an error."""


Output = Annotated[Path, tyro.conf.arg(help="Folder that holds the runs.")]
Progress = Annotated[bool, tyro.conf.arg(help="Show progress bars.")]
Resume = Annotated[
    bool,
    tyro.conf.arg(help="Go on with the last unfinished run of the same options."),
]
Cluster = Annotated[
    str | None,
    tyro.conf.arg(
        help="Whose workers compute Gram matrices and share tasks: a scheduler's "
        "address such as tcp://127.0.0.1:8786, or local:2. They see OUTPUT too."
    ),
]
PutDirectory = Annotated[
    Path | None,
    tyro.conf.arg(help="Where to put it; else $TANGENTLAB_DATA, then the user cache."),
]
SearchDirectory = Annotated[
    Path | None,
    tyro.conf.arg(help="Searched before $TANGENTLAB_DATA and the user cache."),
]


@dataclass(frozen=True)
class Demo:
    """The whole pipeline on real digits: a table, figures and a report."""

    output: Output = Path("runs")
    progress: Progress = True


@dataclass(frozen=True)
class RunExperiment:
    """Run an experiment: a run folder with its results, figures and report."""

    name: str
    config: Any
    output: Path
    progress: bool
    resume: bool = False
    cluster: str | None = None


@dataclass(frozen=True)
class Verify:
    """Take the claims one by one: run what measures them, and print the verdicts.

    Finished runs of the folder are used and unfinished ones go on. The exit status is 0
    if all that was planned was measured, whatever came out, else 1.
    """

    scale: Scale = "smoke"
    """How large: embedded data in minutes, subsets of real data in hours, or the
    paper's own sizes on a GPU."""
    claim: Annotated[tuple[str, ...], tyro.conf.arg(metavar="D1 D2 ...")] = ()
    """Only these claims; all by default."""
    only: Annotated[tuple[str, ...], tyro.conf.arg(metavar="WORD ...")] = ()
    """Only runs of these experiments, networks or data sets, such as lenet cifar10."""
    seeds: int | None = None
    """At least this many initializations in each run; a verdict takes five."""
    minutes: float | None = None
    """Begin no run that would not end within this time; 0 judges what is there."""
    kept: Path | None = None
    """Judge the numbers in this folder, JSON lines that runs of this scale left, and
    perform no runs."""
    output: Path | None = None
    """Folder of the verification; runs/verify-SCALE by default, and runs/kept-SCALE for
    numbers that were kept."""
    processes: int | None = None
    """Runs side by side; by default as many as there are cores, four at most, and 1
    on a GPU and with a cluster."""
    cluster: Cluster = None
    progress: Progress = True


@dataclass(frozen=True)
class DrawReport:
    """Draw figures and page of a finished run again, from its folder alone."""

    run: tyro.conf.Positional[Path]
    """The run folder."""


@dataclass(frozen=True)
class FetchData:
    """Download a data set, check it and put it where the experiments look for it."""

    name: str
    directory: Path | None


@dataclass(frozen=True)
class VerifyData:
    """Compare the files that would be read with the checksums of the official ones."""

    name: str
    directory: Path | None


@dataclass(frozen=True)
class ListData:
    """List the data sets, where each was found, and how to get the others."""


@dataclass(frozen=True)
class Doctor:
    """Say what is here, what is missing for what, and the command that gets it."""


Command = (
    Demo
    | RunExperiment
    | Verify
    | DrawReport
    | FetchData
    | VerifyData
    | ListData
    | RunGram
    | ShowGram
    | ClusterExample
    | Doctor
)


def parse(
    words: Sequence[str], experiments: Mapping[str, Experiment], data: Iterable[str]
) -> Command:
    """Read a command line.

    Words that mean nothing end the program (`SystemExit`, status 2) with the known
    ones on standard error; so does `--help`, with status 0, on standard output.

    Args:
        words: The words after the program's name.
        experiments: The experiments that `run` offers.
        data: Names of the data sets that `data fetch` and `data verify` offer.

    Returns:
        The command.
    """
    run = {name: _run(name, it.config) for name, it in experiments.items()}
    names = tyro.conf.Positional[Literal[*data]]
    files = {"fetch": _fetch(names), "verify": _verify(names), "list": ListData}
    grams = {"run": rewrapped(RunGram), "status": rewrapped(ShowGram)}
    choices = {
        "demo": Demo,
        "run": _group(run, RunExperiment.__doc__),
        "verify": rewrapped(Verify),
        "report": DrawReport,
        "data": _group(files, "Find, fetch and verify data sets."),
        "gram": _group(grams, "Gram matrices on disk: compute them, see how far."),
        "cluster": rewrapped(ClusterExample),
        "doctor": Doctor,
    }
    known = _choice(choices)

    def read(words: Sequence[str]) -> Command:
        command = tyro.cli(known, prog=PROGRAM, description=DESCRIPTION, args=words)
        return as_written(command)

    leaves = [("demo",), ("verify",), ("report",), ("cluster",), ("doctor",)]
    leaves += [("run", name) for name in run] + [("data", name) for name in files]
    leaves += [("gram", name) for name in grams]
    with explained_refusals(words, leaves, read):
        return read(words)


def _choice(options: Mapping[str, Callable[..., Any]]) -> Any:
    # A type that tyro reads as one subcommand per option.
    members = []
    for name, make in options.items():
        subcommand = tyro.conf.subcommand(name, prefix_name=False, constructor=make)
        members.append(Annotated[Any, subcommand])
    # A union of one is no union: the hidden member keeps the single name a command.
    return Union[*members, Annotated[None, tyro.conf.Suppress]]


def _group(options: Mapping[str, Callable[..., Any]], doc: str | None) -> Any:
    # A command whose next word chooses one of several.
    def group(choice):
        return choice

    return _described(group, doc, choice=_flat(_choice(options)))


def _run(name: str, config_type: type) -> Callable[..., RunExperiment]:
    # The options of an experiment, and those of every run, side by side.
    def run(
        config,
        output: Output = Path("runs"),
        progress: Progress = True,
        resume: Resume = False,
        cluster: Cluster = None,
    ):
        written = as_written(config)
        return RunExperiment(name, written, output, progress, resume, cluster)

    summary = inspect.cleandoc(config_type.__doc__ or "").split("\n\n")[0]
    return _described(run, summary, config=_flat(rewrapped(config_type)))


def _fetch(names: Any) -> Callable[..., FetchData]:
    def fetch(name, directory: PutDirectory = None):
        return FetchData(name, directory)

    return _described(fetch, FetchData.__doc__, name=names)


def _verify(names: Any) -> Callable[..., VerifyData]:
    def verify(name, directory: SearchDirectory = None):
        return VerifyData(name, directory)

    return _described(verify, VerifyData.__doc__, name=names)


def _flat(kind: Any) -> Any:
    # Options of this parameter without the parameter's name before theirs.
    return Annotated[kind, tyro.conf.arg(name="")]


def _described(make: Any, doc: str | None, **kinds: Any) -> Any:
    # Types and texts that only exist at run time.
    make.__doc__ = doc
    make.__annotations__.update(kinds)
    return make
