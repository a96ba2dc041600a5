"""What the commands print."""

from collections.abc import Iterable

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..data import Availability
from ..experiments.base import Outcome
from ..report.claims import claim_lines
from ..report.page import Report
from ..report.tables import to_rich
from .doctor import Diagnosis

_WIDE, _READABLE = 160, 88
STYLES = {
    "confirmed": "bold green",
    "refuted": "bold red",
    "inconclusive": "bold yellow",
    "recorded": "bold",
    "not measured": "dim",
}
"""How each verdict is printed."""


def console(*, stderr: bool = False) -> Console:
    """A console; where it is no terminal, wide enough that no table loses columns.

    Args:
        stderr: Write to standard error.

    Returns:
        The console.
    """
    made = Console(stderr=stderr)
    return made if made.is_terminal else Console(stderr=stderr, width=_WIDE)


def line(out: Console, text: str) -> None:
    """Print one line as it is: never wrapped, marked up or colored.

    Args:
        out: Where to print.
        text: The line.
    """
    out.print(text, soft_wrap=True, markup=False, highlight=False)


def failure(message: str, error: BaseException) -> None:
    """Print why the program ends, and the notes the error picked up on its way.

    Args:
        message: What happened.
        error: The error.
    """
    out = console(stderr=True)
    line(out, f"tangentlab: {message}")
    for note in getattr(error, "__notes__", []):
        line(out, note)


def outcome(out: Console, result: Outcome) -> None:
    """Print the table of a run, its summary, its claims and where its files are.

    Args:
        out: Where to print.
        result: The run and its report.
    """
    report, files = result.report, result.files
    out.print(to_rich(report.console_table))
    summary = Padding(Text(report.summary), (1, 1, 1, 1))
    out.print(summary, width=min(out.width, _READABLE))
    _claims(out, report)
    line(out, f" run     {result.run.path}")
    for path in files.figures:
        line(out, f" figure  {path}")
    line(out, f" table   {files.table}")
    line(out, f" latex   {files.latex}")
    line(out, f" report  {files.page}")


def _claims(out: Console, report: Report) -> None:
    width = min(out.width, _READABLE)
    for claim in report.claims:
        first, *rest = claim_lines(claim, width - 2)
        text = Text(first, style=STYLES[claim.verdict])
        text.append("\n" + "\n".join(rest), style="default not bold")
        out.print(Padding(text, (0, 1, 1, 1)), width=width)
    if report.claims_caption:
        caption = Text(report.claims_caption, style="dim")
        out.print(Padding(caption, (0, 1, 1, 1)), width=width)


def datasets(out: Console, records: Iterable[Availability]) -> None:
    """Print which data sets are here, and how to get the others.

    Args:
        out: Where to print.
        records: The data sets.
    """
    found = list(records)
    _pairs(
        out,
        [
            (name, str(path) if path else f"not here: tangentlab data fetch {name}")
            for name, path, _ in found
        ],
    )
    for record in found:
        if record.hint:
            line(out, f"\n{record.hint}")


def diagnosis(out: Console, found: Diagnosis) -> int:
    """Print what is here, what is missing for what, and how to get it.

    Args:
        out: Where to print.
        found: What the doctor found.

    Returns:
        Exit status: 1 if something is missing that everything needs, else 0.
    """
    for title, facts in found.facts.items():
        out.print(Text(title, style="bold"))
        _pairs(out, facts)
        out.print()
    out.print(Text("Missing" if found.missing else "Nothing is missing", style="bold"))
    for name, needed_for, command, required, instead in found.missing:
        mark = "required" if required else "optional"
        line(out, f"  {name} ({mark}), for {needed_for}:")
        line(out, f"    {command}")
        if instead:
            line(out, f"    or {instead}")
    return int(any(missing.required for missing in found.missing))


def _pairs(out: Console, pairs: Iterable[tuple[str, str]]) -> None:
    grid = Table.grid(padding=(0, 2))
    for name, value in pairs:
        grid.add_row(Text(f"  {name}"), Text(value, overflow="fold"))
    out.print(grid)
