"""`python -m tangentlab.experiments NAME [OPTION=VALUE ...]`, in plain Python.

For machines on which the packages of the command line are not installed. Options are
those of `tangentlab run NAME`, with `.` for nested ones, values as JSON or plain words:

    python -m tangentlab.experiments eigenfunctions data=cifar10 model=lenet \
        num_indices=48 recipe.epochs=100 output=runs resume=true
"""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .._checks import check_known
from ..report.claims import claim_lines
from ..report.tables import to_text
from ..store.config import from_json, to_json
from . import EXPERIMENTS, Outcome, perform


class Order(NamedTuple):
    """What to run, and how.

    Attributes:
        name: The experiment.
        config: Its config.
        output: Folder that holds the runs.
        resume: Go on with an unfinished run.
        progress: Show progress bars.
        cluster: Whose workers compute what takes long.
    """

    name: str
    config: Any
    output: Path
    resume: bool
    progress: bool
    cluster: str | None


def main(words: Sequence[str]) -> int:
    """Run an experiment and print what came out.

    Args:
        words: Name and options.

    Returns:
        Exit status.
    """
    order = read(words)
    command = f"python -m tangentlab.experiments {shlex.join(words)}"
    outcome = perform(
        EXPERIMENTS,
        order.name,
        order.config,
        order.output,
        progress=order.progress,
        command=command,
        resume=order.resume,
        cluster=order.cluster,
    )
    sys.stdout.write(_text(outcome))
    return 0


def read(words: Sequence[str]) -> Order:
    """Read a command line.

    Args:
        words: Name and options.

    Returns:
        What it says.

    Raises:
        ValueError: For no name, an unknown one, or a word that is no option.
    """
    if not words:
        raise ValueError(f"Say which experiment: {', '.join(sorted(EXPERIMENTS))}.")
    name, *options = words
    check_known("experiment", name, EXPERIMENTS)
    kind = EXPERIMENTS[name].config
    fields: dict[str, Any] = to_json(kind())
    common: dict[str, Any] = {"output": "runs", "resume": False, "progress": False}
    common["cluster"] = None
    for word in options:
        key, sign, value = word.partition("=")
        if not sign:
            raise ValueError(f"Options are written OPTION=VALUE, got {word!r}.")
        *parents, leaf = key.split(".")
        place = common if key in common else fields
        for parent in parents:
            check_known("option", parent, place)
            place = place[parent]
        check_known("option", leaf, place)
        place[leaf] = _value(value)
    config = from_json(kind, fields, where=name)
    output = Path(str(common.pop("output")))
    return Order(name, config, output, **common)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _text(outcome: Outcome) -> str:
    report, files = outcome.report, outcome.files
    parts = [report.title, to_text(report.console_table), report.summary]
    parts += ["\n".join(claim_lines(claim)) for claim in report.claims]
    parts += filter(None, [report.claims_caption])
    parts.append("\n".join(map(str, (outcome.run.path, *files.figures, files.page))))
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
