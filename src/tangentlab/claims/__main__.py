"""`python -m tangentlab.claims [scale=SCALE] [claim=D1,D2] [output=DIR]`, plainly.

For machines on which the packages of the command line are not installed; else the same
as `tangentlab verify`. Options beside these:

    only=lenet,cifar10   runs of these experiments, networks or data sets alone
    seeds=5              at least this many initializations in each run
    minutes=9            begin no run that would not end in time; 0 judges what is there
    draw=false           compute alone: no figures, pages or verdicts
    processes=2          runs side by side, each in a process of its own
    cluster=ADDRESS      or local:2: workers that share the work of runs that can
    numbers=DIR          write the numbers of all runs there, as JSON lines
    kept=DIR             judge such numbers, and perform no runs
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from .._checks import check_known
from ..report.tables import to_text
from .numbers import write_numbers
from .records import Performed
from .running import compute
from .scales import Scale
from .tables import run_line, short_table
from .verifying import verify
from .writing import default_folder, files_of

_OPTIONS = (
    "scale",
    "claim",
    "only",
    "seeds",
    "minutes",
    "draw",
    "output",
    "numbers",
    "kept",
    "cluster",
    "processes",
)


def main(words: Sequence[str]) -> int:
    """Verify claims and print the verdicts.

    Args:
        words: Options, `NAME=VALUE`.

    Returns:
        Exit status: 0 if all that was planned, and all that was named, was measured.

    Raises:
        ValueError: If an option is unknown, or does not go with another.
    """
    given = _read(words)
    scale = cast(Scale, given.get("scale", "smoke"))
    kept = Path(given["kept"]) if "kept" in given else None
    folder = Path(given.get("output") or default_folder(scale, kept))
    options: dict[str, Any] = {
        "claims": _words(given.get("claim", "")),
        "only": _words(given.get("only", "")),
        "seeds": int(given["seeds"]) if "seeds" in given else None,
        "minutes": float(given["minutes"]) if "minutes" in given else None,
        "cluster": given.get("cluster"),
        "processes": int(given.get("processes", 1)),
        "watch": _watch,
    }
    if kept and (given.get("draw") == "false" or "numbers" in given):
        raise ValueError(
            "kept= judges numbers that are there and performs no runs: numbers= and "
            "draw=false are for runs."
        )
    if given.get("draw", "true") == "false":
        computed = compute(scale, folder, **options)
        return int(any(each.path is None for each in computed))
    done = verify(scale, folder, kept=kept, **options)
    files = [*files_of(folder)]
    if "numbers" in given:
        files += write_numbers(done, Path(given["numbers"]))
    table = to_text(short_table(done.shown))
    sys.stdout.write("\n".join([table, *map(str, files)]) + "\n")
    return int(bool(done.lacking))


def _read(words: Sequence[str]) -> dict[str, str]:
    given = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise ValueError(f"Options are written OPTION=VALUE, got {word!r}.")
        check_known("option", name, _OPTIONS)
        given[name] = value
    check_known("draw", given.get("draw", "true"), ("true", "false"))
    return given


def _words(text: str) -> list[str] | None:
    return [word for word in text.split(",") if word] or None


def _watch(performed: Performed, place: int, total: int) -> None:
    sys.stdout.write(run_line(performed, place, total) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
