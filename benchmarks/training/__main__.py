"""`python -m benchmarks.training`: measures training and writes the tables.

Runs on whatever device JAX finds. Each case is stored as soon as it is measured; then
the section on training is written anew, also where no case is given.
"""

import argparse
import sys
from pathlib import Path

from . import results
from .cases import CASES, Options

_ROOT = Path(__file__).parents[2]


def main() -> None:
    """Measure what the command line asks for, store it, write the section."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.training", description=__doc__
    )
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument("--data", default="digits", help="digits, or cifar10")
    parser.add_argument("--samples", type=int, help="train and test; default: all")
    parser.add_argument("--tasks", type=int, help="default: that of the case")
    parser.add_argument("--epochs", type=int, help="default: that of the case")
    parser.add_argument(
        "--results", type=Path, default=_ROOT / "benchmarks/results/training.json"
    )
    parser.add_argument("--page", type=Path, default=_ROOT / "docs/benchmarks.md")
    parser.add_argument(
        "--no-page", action="store_true", help="measure only: no table, no figure"
    )
    given = parser.parse_args()
    unknown = set(given.cases) - set(CASES)
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(CASES)}")
    options = Options(given.data, given.samples, given.tasks, given.epochs)
    for case in given.cases:
        print(f"{case} on {results.device()} ...", file=sys.stderr)
        for row in CASES[case](options):
            stored = results.append(given.results, {"case": case, **row})
            print(results.line(stored), flush=True)
    if not given.no_page:
        from .page import write  # draws: matplotlib is not everywhere

        write(results.load(given.results), given.page)


if __name__ == "__main__":
    main()
