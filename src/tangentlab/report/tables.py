"""A table as plain values, and its faces: console, plain text, HTML and CSV.

>>> table = Table(
...     columns=(Column("task", align="left"), Column("accuracy", ".1%")),
...     rows=(Row(("phi_1", 0.5), flag="one class only"), Row(("phi_2", 0.975))),
... )
>>> print(to_csv(table).strip())
task,accuracy,flag
phi_1,0.5,one class only
phi_2,0.975,
"""

import csv
import io
import math
from dataclasses import dataclass
from html import escape
from typing import Any, Literal, NamedTuple

MARKS = "*†‡§¶"
MISSING = "–"


class Column(NamedTuple):
    """A column.

    Attributes:
        title: Its heading.
        format: Format specification of its cells, such as `.3f` or `.1%`; strings are
            shown as they are.
        align: Side on which cells line up; numbers read best on the right.
    """

    title: str
    format: str = ""
    align: Literal["left", "right"] = "right"


class Row(NamedTuple):
    """A row.

    Attributes:
        cells: One value per column; None and NaN are shown as a dash.
        flag: Why this row stands apart, such as `one class only`. Equal flags share a
            mark, and a legend below the table explains each.
    """

    cells: tuple[Any, ...]
    flag: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of plain values with what is needed to show them.

    Attributes:
        columns: The columns.
        rows: The rows.
        caption: A line that says what the table shows.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    caption: str = ""

    def __post_init__(self):
        """Refuse rows that do not fit the columns.

        Raises:
            ValueError: If a row has more or fewer cells than there are columns, or
                there are more kinds of flags than marks.
        """
        for number, row in enumerate(self.rows):
            if len(row.cells) != len(self.columns):
                raise ValueError(
                    f"Row {number} has {len(row.cells)} cells, but there are "
                    f"{len(self.columns)} columns: {row.cells}."
                )
        kinds = len({row.flag for row in self.rows} - {""})
        if kinds > len(MARKS):
            raise ValueError(
                f"The rows have {kinds} different flags, and there are only "
                f"{len(MARKS)} marks: use fewer, more general flags."
            )


def legend(table: Table) -> dict[str, str]:
    """The mark of each flag, in order of appearance.

    Args:
        table: The table.

    Returns:
        Marks by flag; empty if no row carries one.
    """
    flags = dict.fromkeys(row.flag for row in table.rows if row.flag)
    return dict(zip(flags, MARKS, strict=False))


def to_rich(table: Table) -> Any:
    """A table for the console.

    Args:
        table: The table.

    Returns:
        A `rich.table.Table`.
    """
    import rich.box
    import rich.table
    from rich.text import Text

    marks = legend(table)
    notes = [table.caption, *(f"{mark} {flag}" for flag, mark in marks.items())]
    shown = rich.table.Table(
        box=rich.box.SIMPLE_HEAD,
        caption=Text("\n".join(filter(None, notes))),
        caption_justify="left",
    )
    for column in table.columns:
        shown.add_column(Text(column.title), justify=column.align)
    for row in table.rows:
        cells = shown_cells(table, row)
        if row.flag:  # on the ragged side, so that cells line up all the same
            pair = [marks[row.flag], cells[0]]
            left = table.columns[0].align == "left"
            cells[0] = " ".join(reversed(pair) if left else pair)
        shown.add_row(*map(Text, cells), style="dim" if row.flag else None)
    return shown


def to_html(table: Table) -> str:
    """A table for a page, with a caption, header scopes and a legend.

    Args:
        table: The table.

    Returns:
        HTML, everything escaped.
    """
    marks = legend(table)
    head = "".join(
        f'<th scope="col" class="{column.align}">{escape(column.title)}</th>'
        for column in table.columns
    )
    body = "".join(_html_row(table, row, marks) for row in table.rows)
    # The caption stays outside: a wide table scrolls on a phone, its caption must not.
    caption = f'<p class="caption">{escape(table.caption)}</p>' if table.caption else ""
    label = escape(table.caption or "Table")
    notes = "".join(
        f'<p class="legend"><span class="mark">{mark}</span> {escape(flag)}</p>'
        for flag, mark in marks.items()
    )
    return (
        f'{caption}<div class="table" role="region" aria-label="{label}" tabindex="0">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        f"{notes}"
    )


def to_text(table: Table) -> str:
    """A table as plain text, where there is no console to speak of.

    Args:
        table: The table.

    Returns:
        Lines of text.
    """
    marks = legend(table)
    rows = [shown_cells(table, row) for row in table.rows]
    for cells, row in zip(rows, table.rows, strict=True):
        cells[0] += f" {marks[row.flag]}" if row.flag else ""
    rows.insert(0, [column.title for column in table.columns])
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = [
            cell.ljust(width) if column.align == "left" else cell.rjust(width)
            for cell, width, column in zip(row, widths, table.columns, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    notes = [table.caption, *(f"{mark} {flag}" for flag, mark in marks.items())]
    return "\n".join([*lines, *filter(None, notes)])


def to_csv(table: Table) -> str:
    """The values, unrounded, as comma-separated text.

    Args:
        table: The table.

    Returns:
        A header line, then one line per row; None is an empty cell. Where some row
        carries a flag, a last column `flag` holds them.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    flagged = bool(legend(table))
    writer.writerow([c.title for c in table.columns] + ["flag"] * flagged)
    for row in table.rows:
        writer.writerow([*row.cells, *[row.flag] * flagged])
    return text.getvalue()


def _html_row(table: Table, row: Row, marks: dict[str, str]) -> str:
    cells = [escape(text) for text in shown_cells(table, row)]
    if row.flag:
        mark = f'<abbr class="mark" title="{escape(row.flag)}">{marks[row.flag]}</abbr>'
        cells[0] += f" {mark}"
    tags = [f'<th scope="row" class="{table.columns[0].align}">{cells[0]}</th>']
    for column, cell in zip(table.columns[1:], cells[1:], strict=True):
        tags.append(f'<td class="{column.align}">{cell}</td>')
    flagged = ' class="flagged"' if row.flag else ""
    return f"<tr{flagged}>{''.join(tags)}</tr>"


def shown_cells(table: Table, row: Row) -> list[str]:
    """The cells of a row as they are shown.

    Args:
        table: The table.
        row: One of its rows.

    Returns:
        Formatted text; a dash for None and NaN.
    """
    columns = table.columns
    return [_text(c, v) for c, v in zip(columns, row.cells, strict=True)]


def _text(column: Column, value: Any) -> str:
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    if hasattr(value, "item"):  # numpy and JAX scalars, which format their own way
        value = value.item()
    if isinstance(value, float) and math.isnan(value):
        return MISSING
    return format(value, column.format).replace("-", "−")
