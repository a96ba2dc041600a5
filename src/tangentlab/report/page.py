"""The page of a run: one file, without any script, font, style or image from elsewhere.

A page opens from a disk without network, in ten years as today, light or dark, on a
phone or a projector. Figures are drawn by its own script: point, enlarge, switch.
Everything written into it is escaped.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, NamedTuple

from ..analysis import Claim
from .claims import claims_html
from .document import document
from .images import Drawing
from .interactive import (
    HOW_TO,
    NO_SCRIPT,
    Shown,
    charts_script,
    charts_style,
    figure_html,
    show,
)
from .tables import Column, Row, Table, to_html

FIGURES = "figures"
"""The folder of the figures' files, beside the page."""


class Highlight(NamedTuple):
    """A number worth a large font.

    Attributes:
        value: The number, as text.
        label: What it is, in a few words.
    """

    value: str
    label: str


@dataclass(frozen=True)
class Section:
    """One thing to see.

    Attributes:
        title: The heading.
        text: A sentence or two on what to see; the caption of each figure.
        figures: Figures by name, or what pages show of them; `NAME.png` is the file of
            each.
        table: A table below the figures.
    """

    title: str
    text: str
    figures: Mapping[str, Drawing | Shown] = field(default_factory=dict)
    table: Table | None = None


@dataclass(frozen=True)
class Report:
    """What an experiment shows of a run.

    Attributes:
        title: The heading of the page: what was found, or asked.
        summary: The answer in a few sentences.
        sections: What there is to see, in order.
        console_table: The results, printed after a run, shown below the first section.
        highlights: A few numbers for the top of the page.
        claims: Claims with their verdicts, printed after a run and shown first.
        claims_caption: What their intervals are over.
        details: Numbers behind the claims, a record for each initialization and task,
            which are kept with the numbers of a run and not shown.
    """

    title: str
    summary: str
    sections: tuple[Section, ...]
    console_table: Table
    highlights: tuple[Highlight, ...] = ()
    claims: tuple[Claim, ...] = ()
    claims_caption: str = ""
    details: tuple[Mapping[str, Any], ...] = ()


def figures_of(report: Report) -> list[tuple[str, Any]]:
    """All figures of a report.

    Args:
        report: The report.

    Returns:
        Names and figures, in the order of the page.
    """
    return [item for section in report.sections for item in section.figures.items()]


def shown(report: Report) -> Report:
    """Lay all figures out, and keep what pages show of them.

    Args:
        report: A report, with its figures as they are drawn.

    Returns:
        The same without what drew them: plain data, for as many pages as there are.
    """
    sections = (
        replace(s, figures={name: show(drawn) for name, drawn in s.figures.items()})
        for s in report.sections
    )
    return replace(report, sections=tuple(sections))


def render(
    report: Report,
    *,
    experiment: str,
    command: str,
    config: Mapping[str, Any],
    manifest: Mapping[str, Any],
) -> str:
    """Make the page of a report.

    Args:
        report: What to show.
        experiment: Name of the experiment, above the title.
        command: The command that made the run, and each of its figures.
        config: Every option of the run, nested or not.
        manifest: Versions, devices and times of the run, nested or not.

    Returns:
        A whole HTML document.
    """
    results = (
        f"<section>\n<h2>Results</h2>\n{to_html(report.console_table)}\n</section>"
    )
    # The main figure first, then the numbers behind it, then the rest.
    first, *rest = [_section(each, command) for each in report.sections] or [""]
    sections = "\n".join([first, results, *rest])
    drawn = any(section.figures for section in report.sections)
    how_to = f'<p class="how-to">{HOW_TO}</p>' if drawn else ""
    body = f"""<header>
<p class="kicker">tangentlab · {escape(experiment)}</p>
<h1>{escape(report.title)}</h1>
<p class="summary">{escape(report.summary)}</p>
{NO_SCRIPT}
{highlights_html(report.highlights)}
{claims_html(report.claims, report.claims_caption)}
</header>
<main>
{how_to}
{sections}
<section>
<h2>How this page was made</h2>
<pre><code>{escape(command)}</code></pre>
<details>
<summary>Configuration and versions</summary>
{facts_html("Configuration", config)}
{facts_html("Versions, devices and times", manifest)}
</details>
</section>
</main>
<footer>Rebuild this page from its run folder at any time with
<code>tangentlab report</code>.</footer>"""
    return document(report.title, body, style=charts_style(), script=charts_script())


def highlights_html(highlights: tuple[Highlight, ...]) -> str:
    """Numbers in a large font.

    Args:
        highlights: The numbers.

    Returns:
        HTML, everything escaped; empty for none.
    """
    if not highlights:
        return ""
    tiles = "".join(
        f"<div><dt>{escape(label)}</dt><dd>{escape(value)}</dd></div>"
        for value, label in highlights
    )
    return f'<dl class="highlights">{tiles}</dl>'


def _section(section: Section, command: str) -> str:
    content = section_html(section, folder=FIGURES, command=command)
    return f"<section>\n<h2>{escape(section.title)}</h2>\n{content}\n</section>"


def section_html(section: Section, *, folder: str, command: str) -> str:
    """What a section shows below its title.

    Args:
        section: The section.
        folder: Of the figures' files, seen from the page.
        command: What made its figures.

    Returns:
        HTML, everything escaped: figures with captions, or the text alone, and a table.
    """
    figures = "\n".join(
        figure_html(
            figure,
            alt=f"{section.title} ({name}). {section.text}",
            file=f"{folder}/{name}",
            caption=section.text,
            command=command,
        )
        for name, figure in section.figures.items()
    )
    text = "" if figures else f'<p class="text">{escape(section.text)}</p>'
    table = to_html(section.table) if section.table else ""
    return "\n".join(filter(None, (text, figures, table)))


def facts_html(caption: str, values: Mapping[str, Any]) -> str:
    """Names and values as a table.

    Args:
        caption: What they are.
        values: Values by name, nested or not.

    Returns:
        HTML, everything escaped.
    """
    columns = (Column("name", align="left"), Column("value", align="left"))
    rows = tuple(Row((name, text)) for name, text in _flat(values).items())
    return to_html(Table(columns, rows, caption))


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    # Nested mappings as one, with dotted names, in order.
    flat = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple):
            flat[prefix + name] = ", ".join(map(str, value))
        else:
            flat[prefix + name] = "none" if value is None else str(value)
    return flat
