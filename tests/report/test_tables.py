import csv
import io
from html.parser import HTMLParser

import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

from tangentlab.report.tables import (
    MARKS,
    Column,
    Row,
    Table,
    legend,
    to_csv,
    to_html,
    to_rich,
    to_text,
)

TABLE = Table(
    columns=(Column("task", align="left"), Column("accuracy", ".1%"), Column("n", "d")),
    rows=(
        Row(("first", 1.0, 10), flag="one class only"),
        Row(("second", 0.12345, 20)),
        Row(("third", None, 30), flag="diverged"),
        Row(("fourth", float("nan"), 40), flag="one class only"),
    ),
    caption="What was <learned>.",
)


class Cells(HTMLParser):
    """Tags with their attributes, and the text of each cell."""

    def __init__(self, html: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.cells: list[str] = []
        self.open = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag in ("th", "td"):
            self.cells.append("")
            self.open = True

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            self.open = False

    def handle_data(self, data):
        if self.open:
            self.cells[-1] += data


def console_text(table: Table, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(to_rich(table))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_equal_flags_share_a_mark():
    assert legend(TABLE) == {"one class only": "*", "diverged": "†"}
    assert legend(Table((), ())) == {}


def test_the_console_shows_formatted_cells_marks_and_legend():
    rows = [line.split() for line in console_text(TABLE).splitlines()]
    assert ["task", "accuracy", "n"] in rows
    assert ["first", "*", "100.0%", "10"] in rows
    assert ["second", "12.3%", "20"] in rows
    assert ["third", "†", "–", "30"] in rows
    assert ["fourth", "*", "–", "40"] in rows
    assert ["*", "one", "class", "only"] in rows
    assert ["†", "diverged"] in rows
    assert ["What", "was", "<learned>."] in rows


def test_marks_leave_numbers_lined_up():
    rows = (Row((5,), flag="odd"), Row((10,)))
    first, second = console_text(Table((Column("n"),), rows)).splitlines()[3:5]
    assert first.split() == ["*", "5"]
    assert first.index("5") == second.index("10") + 1


def test_markup_in_cells_is_shown_not_obeyed():
    table = Table((Column("[bold]name"),), (Row(("[red]x[/red]",)),))
    assert "[bold]name" in console_text(table)
    assert "[red]x[/red]" in console_text(table)


def test_html_has_scopes_alignment_and_legend():
    parsed = Cells(to_html(TABLE))
    headers = [attrs for tag, attrs in parsed.tags if tag == "th"]
    assert [attrs["scope"] for attrs in headers] == ["col"] * 3 + ["row"] * 4
    assert [attrs["class"] for attrs in headers[:3]] == ["left", "right", "right"]
    assert parsed.cells[:3] == ["task", "accuracy", "n"]
    assert parsed.cells[3:9] == ["first *", "100.0%", "10", "second", "12.3%", "20"]
    assert [attrs.get("title") for tag, attrs in parsed.tags if tag == "abbr"] == [
        "one class only",
        "diverged",
        "one class only",
    ]
    assert to_html(TABLE).count('<p class="legend">') == 2


def test_html_is_escaped():
    evil = "<script>alert('x')</script>\" onload=\""
    table = Table((Column(evil),), (Row((evil,), flag=evil),), caption=evil)
    parsed = Cells(to_html(table))
    assert not [tag for tag, attrs in parsed.tags if tag == "script"]
    assert not [attrs for _, attrs in parsed.tags if "onload" in attrs]
    assert parsed.cells == [evil, f"{evil} *"]


def test_csv_has_the_values_unrounded():
    lines = list(csv.reader(io.StringIO(to_csv(TABLE))))
    assert lines == [
        ["task", "accuracy", "n", "flag"],
        ["first", "1.0", "10", "one class only"],
        ["second", "0.12345", "20", ""],
        ["third", "", "30", "diverged"],
        ["fourth", "nan", "40", "one class only"],
    ]


def test_csv_without_flags_has_no_flag_column():
    table = Table((Column("a, b"),), (Row((0.1,)),))
    assert to_csv(table) == '"a, b"\n0.1\n'


@pytest.mark.parametrize("kind", [np.float32, np.float64, jnp.float32, float])
def test_scalars_of_numpy_and_jax_are_formatted(kind):
    values = (0.5, -0.25, "nan")
    table = Table((Column("x", "+.2f"),), tuple(Row((kind(v),)) for v in values))
    assert Cells(to_html(table)).cells == ["x", "+0.50", "−0.25", "–"]


def test_a_row_must_fit_the_columns():
    with pytest.raises(ValueError, match="Row 1 has 2 cells, but there are 1 columns"):
        Table((Column("a"),), (Row((1,)), Row((1, 2))))


def test_flags_must_not_outnumber_marks():
    rows = tuple(Row((i,), flag=f"reason {i}") for i in range(len(MARKS) + 1))
    with pytest.raises(ValueError, match="6 different flags.* only 5 marks"):
        Table((Column("a"),), rows)
    Table((Column("a"),), rows[:-1])


def test_plain_text_lines_up_and_explains_its_marks():
    assert to_text(TABLE).split("\n") == [
        "task      accuracy   n",
        "first *     100.0%  10",
        "second       12.3%  20",
        "third †          –  30",
        "fourth *         –  40",
        "What was <learned>.",
        "* one class only",
        "† diverged",
    ]
