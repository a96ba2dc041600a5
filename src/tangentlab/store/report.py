"""The report of a run: figures, a table and one page, drawn from its folder alone."""

from pathlib import Path
from typing import NamedTuple

from ..report.exporting import to_latex
from ..report.images import Drawing, Picture
from ..report.interactive import Shown
from ..report.page import FIGURES, Report, figures_of, render
from ..report.pictures import picture_table
from ..report.reading import scene_table
from ..report.tables import to_csv
from .config import to_json
from .files import check_name, open_aside
from .run import Run

PAGE, TABLE, LATEX = "report.html", "results.csv", "results.tex"


class ReportFiles(NamedTuple):
    """The files of a report.

    Attributes:
        page: The HTML page, self-contained.
        figures: The figures as PNG, in the order of the page.
        table: The results as comma-separated text, unrounded.
        latex: The results for a paper, as on the page.
    """

    page: Path
    figures: tuple[Path, ...]
    table: Path
    latex: Path


def write_report(run: Run, report: Report, shown: Report) -> ReportFiles:
    """Write figures, table and page, replacing those of an earlier report.

    Args:
        run: The run that the report was drawn from.
        report: What to show.
        shown: What pages show of it, see `report.page.shown`.

    Returns:
        The files written.

    Raises:
        ValueError: If two figures share a name, or a name cannot be a file name.
    """
    drawn = figures_of(report)
    names = [name for name, _ in drawn]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"Figures of a report need different names, got several named {twice}."
        )
    for name in names:
        check_name("a figure", name)
    page = render(
        shown,
        experiment=run.experiment,
        command=run.manifest["command"],
        config=to_json(run.config),
        manifest=run.manifest,
    )
    (run.path / FIGURES).mkdir(exist_ok=True)
    paths = tuple(run.path / FIGURES / f"{name}.png" for name in names)
    for path, (_, figure), (_, seen) in zip(
        paths, drawn, figures_of(shown), strict=True
    ):
        write_figure(path, figure, seen)
    texts = {
        PAGE: page,
        TABLE: to_csv(report.console_table),
        LATEX: to_latex(report.console_table) + "\n",
    }
    for name, text in texts.items():
        with open_aside(run.path / name) as file:
            file.write(text.encode())
    return ReportFiles(run.path / PAGE, paths, run.path / TABLE, run.path / LATEX)


def write_figure(path: Path, figure: Drawing, seen: Shown) -> None:
    """Write a figure, and beside it its numbers.

    Args:
        path: The PNG file; the numbers go to the same name with `.csv`.
        figure: The figure.
        seen: What pages show of it.
    """
    with open_aside(path) as file:
        figure.savefig(file, format="png", bbox_inches="tight", dpi=200)
    table = picture_table(figure) if isinstance(seen, Picture) else scene_table(seen)
    with open_aside(path.with_suffix(".csv")) as file:
        file.write(to_csv(table).encode())
