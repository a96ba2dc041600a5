"""`tangentlab verify`: what it prints on its way and in the end."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import get_args

import rich.box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..claims import Performed, Verification, Verified, verify
from ..claims.records import Standing
from ..claims.side_by_side import default_processes
from ..claims.tables import run_line, short_table, time_text
from ..claims.writing import default_folder, files_of
from ..report.tables import MISSING, shown_cells
from . import show
from .commands import Verify

_TABLE = 120  # columns; a narrower table would be words under each other
_VERDICT = -3  # its place among them


def verify_claims(out: Console, command: Verify) -> int:
    """Verify, print a line for each run, the table of verdicts and where files are.

    Args:
        out: Where to print.
        command: What to verify.

    Returns:
        Exit status: 0 if all that was planned, and all that was named, was measured.
    """
    folder = command.output or default_folder(command.scale, command.kept)

    def watch(performed: Performed, place: int, total: int) -> None:
        show.line(out, run_line(performed, place, total))
        out.file.flush()  # a log shows each run when it ends

    done = verify(
        command.scale,
        folder,
        claims=command.claim or None,
        only=command.only or None,
        seeds=command.seeds,
        minutes=command.minutes,
        progress=command.progress,
        watch=watch,
        cluster=command.cluster,
        processes=_processes(command),
        kept=command.kept,
    )
    _print(out, done)
    return int(bool(done.lacking))


def _processes(command: Verify) -> int:
    """Those asked for; by default what suits the machine."""
    if command.processes is not None:
        return command.processes
    return 1 if command.cluster is not None else default_processes()


def _print(out: Console, done: Verification) -> None:
    (_print_table if out.width >= _TABLE else _print_list)(out, done.shown)
    counted = Counter(each.standing for each in done.shown)
    counts = [f"{counted[standing]} {standing}" for standing in get_args(Standing)]
    show.line(out, f" {', '.join(counts)}; {time_text(done.seconds)}")
    for reason, some in groupby(done.missed, key=attrgetter("reason")):
        names = ", ".join(each.entry.id for each in some)
        show.line(out, f" planned and not measured: {names} ({reason})")
    for name, path in files_of(done.folder)._asdict().items():
        show.line(out, f" {name:<7} {path}")


def _print_table(out: Console, shown: Sequence[Verified]) -> None:
    table = short_table(shown)
    printed = Table(box=rich.box.SIMPLE_HEAD, show_lines=False, padding=(0, 1, 1, 1))
    for column in table.columns:
        tight = column.title in ("verdict", "seeds", "time")
        printed.add_column(
            column.title, justify=column.align, no_wrap=tight, overflow="fold"
        )
    for each, row in zip(shown, table.rows, strict=True):
        cells = [Text(cell) for cell in shown_cells(table, row)]
        _paint(cells[_VERDICT], each)
        printed.add_row(*cells)
    out.print(printed)


def _paint(verdict: Text, each: Verified) -> None:
    """Color a verdict, and its mark by what the numbers of the claim say."""
    verdict.stylize(show.STYLES[each.standing])
    verdict.stylize(show.STYLES[each.leaning or each.standing], 0, len(each.mark))


def _print_list(out: Console, shown: Sequence[Verified]) -> None:
    """The same, with what is in a row under each other."""
    table = short_table(shown)
    for each, row in zip(shown, table.rows, strict=True):
        cells = [Text(cell) for cell in shown_cells(table, row)]
        _paint(cells[_VERDICT], each)
        printed = Table.grid(padding=(0, 2))
        for column, cell in list(zip(table.columns, cells, strict=True))[1:]:
            if cell.plain != MISSING:
                printed.add_row(Text(column.title, style="dim"), cell)
        out.print(Padding(Text(cells[0].plain, style="bold"), (0, 1)))
        out.print(Padding(printed, (0, 1, 1, 3)))
