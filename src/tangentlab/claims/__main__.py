"""`python -m tangentlab.claims [scale=SCALE] [claim=D1,D2] [output=DIR]`, plainly.

For machines on which the packages of the command line are not installed; else the same
as `tangentlab verify`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from .._checks import check_known
from ..report.tables import to_text
from .records import Performed
from .scales import Scale
from .tables import run_line, short_table
from .verifying import verify
from .writing import files_of


def main(words: Sequence[str]) -> int:
    """Verify claims and print the verdicts.

    Args:
        words: Options, `NAME=VALUE`.

    Returns:
        Exit status: 0 if all that was planned was measured.

    Raises:
        ValueError: For a word that is no option.
    """
    options: dict[str, Any] = {"scale": "smoke", "claim": "", "output": ""}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise ValueError(f"Options are written OPTION=VALUE, got {word!r}.")
        check_known("option", name, options)
        options[name] = value
    scale = cast(Scale, options["scale"])
    folder = Path(options["output"] or f"runs/verify-{scale}")
    claims = [name for name in options["claim"].split(",") if name] or None
    done = verify(scale, folder, claims=claims, watch=_watch)
    shown = [each for each in done.verdicts if each.runs]
    lines = [to_text(short_table(shown)), *map(str, files_of(folder))]
    sys.stdout.write("\n".join(lines) + "\n")
    return int(bool(done.missed))


def _watch(performed: Performed, place: int, total: int) -> None:
    sys.stdout.write(run_line(performed, place, total) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
