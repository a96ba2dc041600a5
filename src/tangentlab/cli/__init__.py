"""The command line, and the only place that prints."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import assert_never

from rich.console import Console

from .. import __version__, data, experiments
from .._checks import is_out_of_memory
from ..experiments.base import Experiment, draw, perform
from ..kernels import gram_status
from ..store import unfinished_path
from . import commands, gram, show, verifying
from .doctor import examine


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        args: The words after the program's name; those of the process by default.

    Returns:
        Exit status: 0 if all went well, 1 after an error, 2 for a command that means
        nothing, 130 after Ctrl-C.

    Raises:
        Exception: An error that is not the user's, or any with `--debug` or
            `TANGENTLAB_DEBUG=1`, with its traceback.
    """
    words = list(sys.argv[1:] if args is None else args)
    debug = "--debug" in words or os.environ.get("TANGENTLAB_DEBUG", "0") != "0"
    words = [word for word in words if word != "--debug"]
    try:
        return _execute(words)
    except SystemExit as end:  # tyro's, after help or a word that means nothing
        return end.code if isinstance(end.code, int) else 2
    except KeyboardInterrupt as error:
        show.failure("interrupted", error)
        return 130
    except Exception as error:
        if debug or not _is_expected(error):
            raise
        show.failure(f"error: {error}", error)
        return 1


def _execute(words: list[str]) -> int:
    console = show.console()
    if words == ["--version"]:
        console.print(f"tangentlab {__version__}", highlight=False)
        return 0
    known = experiments.EXPERIMENTS
    names = [record.name for record in data.available()]
    command = commands.parse(words or ["--help"], known, names)
    line = shlex.join(["tangentlab", *words])
    match command:
        case commands.Demo(output, progress):
            name = _name_of(known, type(experiments.DEMO))
            run = commands.RunExperiment(name, experiments.DEMO, output, progress)
            _run(console, known, run, line)
        case commands.RunExperiment():
            _tell_unfinished(console, command)
            _run(console, known, command, line)
        case commands.Verify():
            return verifying.verify_claims(console, command)
        case commands.DrawReport(path):
            show.outcome(console, draw(known, path))
        case commands.FetchData(name, directory):
            show.line(console, str(data.fetch(name, directory=directory)))
        case commands.VerifyData(name, directory):
            path = data.verify(name, directory)
            show.line(console, f"{name}: every checksum is right in {path}")
        case commands.ListData():
            show.datasets(console, data.available())
        case gram.RunGram():
            show.line(console, str(gram.compute(command)))
        case gram.ShowGram(folder, check):
            for text in gram.described(gram_status(folder, check=check)):
                show.line(console, text)
        case gram.ClusterExample():
            show.line(console, gram.example(command))
        case commands.Doctor():
            return show.diagnosis(console, examine())
        case _:
            assert_never(command)
    return 0


def _run(
    console: Console,
    known: Mapping[str, Experiment],
    command: commands.RunExperiment,
    line: str,
) -> None:
    outcome = perform(
        known,
        command.name,
        command.config,
        command.output,
        progress=command.progress,
        command=line,
        resume=command.resume,
        cluster=command.cluster,
    )
    show.outcome(console, outcome)


def _tell_unfinished(console: Console, command: commands.RunExperiment) -> None:
    if command.resume:
        return
    path = unfinished_path(command.output, command.name, command.config)
    if path is not None:
        there = "An unfinished run with these options is in"
        show.line(console, f"{there} {path}: --resume would go on with it.")


def _name_of(known: Mapping[str, Experiment], config_type: type) -> str:
    return next(name for name, it in known.items() if it.config is config_type)


def _is_expected(error: Exception) -> bool:
    # Where the message alone helps: bad input, missing files, too little memory.
    expected = ValueError | OSError | ImportError | MemoryError
    return isinstance(error, expected) or is_out_of_memory(error)
