"""Writing a verification: verdicts as JSON, CSV and LaTeX, figures, and the page."""

from pathlib import Path
from typing import NamedTuple

from ..report.exporting import to_longtable
from ..report.interactive import show
from ..report.page import FIGURES
from ..report.tables import to_csv
from ..store import write_figure
from ..store.files import open_aside, write_json
from ..store.manifest import start_manifest
from .forest import Forest, draw_forests
from .page import render_page
from .records import Verification
from .scales import Scale
from .tables import PAPER_WIDTHS, paper_table, to_table, verification_json


class VerificationFiles(NamedTuple):
    """The files of a verification.

    Attributes:
        page: The HTML page.
        json: Everything, for other programs.
        csv: The table of verdicts.
        latex: Its columns that fit a paper.
    """

    page: Path
    json: Path
    csv: Path
    latex: Path


def default_folder(scale: Scale, kept: Path | None) -> Path:
    """Where a verification goes of which nothing else was said.

    Args:
        scale: Its scale.
        kept: The folder of numbers that it judges, if it performs no runs.

    Returns:
        A folder, another one for numbers than for runs.
    """
    return Path("runs") / f"{'verify' if kept is None else 'kept'}-{scale}"


def files_of(folder: Path) -> VerificationFiles:
    """Where the files of a verification are.

    Args:
        folder: Its folder.

    Returns:
        Their paths.
    """
    names = ("report.html", "verdicts.json", "verdicts.csv", "verdicts.tex")
    return VerificationFiles(*(folder / name for name in names))


def write(verification: Verification) -> VerificationFiles:
    """Write all files, replacing those of an earlier verification.

    Args:
        verification: What to write.

    Returns:
        The files.
    """
    files = files_of(verification.folder)
    (verification.folder / FIGURES).mkdir(parents=True, exist_ok=True)
    write_json(files.json, verification_json(verification))
    paper = paper_table(verification.verdicts)
    facts = {
        **start_manifest(verification.command),
        "started": verification.started,
        "wall_seconds": round(verification.seconds, 1),
    }
    facts.pop("ended")
    forests = {}
    for name, (figure, caption) in draw_forests(verification).items():
        forests[name] = Forest(show(figure), caption)
        png = verification.folder / FIGURES / f"{name}.png"
        write_figure(png, figure, forests[name].figure)
    texts = {
        files.csv: to_csv(to_table(verification.verdicts)),
        files.latex: to_longtable(paper, PAPER_WIDTHS) + "\n",
        files.page: render_page(verification, forests, facts),
    }
    for path, text in texts.items():
        with open_aside(path) as file:
            file.write(text.encode())
    return files
