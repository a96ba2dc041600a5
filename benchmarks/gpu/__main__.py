"""`python -m benchmarks.gpu`: measures the cases and the growth, writes the tables."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from . import table
from .cases import CASES

_ROOT = Path(__file__).parents[2]
_SHARE = "0.87"  # of the device's memory, which JAX takes at the start


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--n", type=int, default=None, help="images (default: 60,000)")
    parser.add_argument("--no-growth", action="store_true")
    parser.add_argument("--folder", type=Path, default=_ROOT / ".benchmarks" / "gpu")
    parser.add_argument("--results", type=Path, default=_ROOT / "benchmarks/results")
    parser.add_argument("--page", type=Path, default=_ROOT / "docs" / "benchmarks.md")
    parser.add_argument("--only-table", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if not options.only_table:
        _measure(options)
    table.collect(options.folder, options.results)
    table.write(options.results, options.page)


def _measure(options: argparse.Namespace) -> None:
    settings = {"XLA_PYTHON_CLIENT_MEM_FRACTION": _SHARE, **os.environ}
    size = [] if options.n is None else ["--n", str(options.n)]
    for name in options.cases:
        command = [sys.executable, "-m", "benchmarks.gpu.measure", name, *size]
        command += ["--folder", str(options.folder)]
        subprocess.run(command, env=settings, cwd=_ROOT, check=True)
    if not options.no_growth:
        command = [sys.executable, "-m", "benchmarks.gpu.growth", "--output"]
        command += [str(options.folder / "growth.jsonl")]
        command += [] if options.n is None else ["--most", str(options.n)]
        subprocess.run(command, env=settings, cwd=_ROOT, check=True)


if __name__ == "__main__":
    main()
