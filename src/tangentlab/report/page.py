"""The page of a run: one file, without any script, font, style or image from elsewhere.

A page opens from a disk without network, in ten years as today, light or dark, on a
phone or a projector. Everything written into it is escaped.
"""

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple, Protocol, runtime_checkable

from ..analysis import Claim
from .claims import claims_html
from .dark import dark_colors
from .document import document
from .tables import Column, Row, Table, to_html

_LARGEST_SVG = 2_000_000
"""A drawing with more bytes than that, such as a scatter of many points, goes in as
pixels: browsers take seconds over it."""


@runtime_checkable
class Drawing(Protocol):
    """What a page needs of a figure; a matplotlib `Figure` has it."""

    def savefig(self, fname: Any, **options: Any) -> Any:
        """Write the figure to a file name or a binary file."""
        ...

    def findobj(self) -> list[Any]:
        """Everything drawn in the figure."""
        ...


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
        text: A sentence or two on what to see in the figures.
        figures: Figures by name; `NAME.png` is the file of each.
        table: A table below the figures.
    """

    title: str
    text: str
    figures: Mapping[str, Drawing] = field(default_factory=dict)
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
    """

    title: str
    summary: str
    sections: tuple[Section, ...]
    console_table: Table
    highlights: tuple[Highlight, ...] = ()
    claims: tuple[Claim, ...] = ()
    claims_caption: str = ""


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
        command: The command that made the run.
        config: Every option of the run, nested or not.
        manifest: Versions, devices and times of the run, nested or not.

    Returns:
        A whole HTML document.
    """
    results = (
        f"<section>\n<h2>Results</h2>\n{to_html(report.console_table)}\n</section>"
    )
    # The main figure first, then the numbers behind it, then the rest.
    first, *rest = [_section(section) for section in report.sections] or [""]
    sections = "\n".join([first, results, *rest])
    body = f"""<header>
<p class="kicker">tangentlab · {escape(experiment)}</p>
<h1>{escape(report.title)}</h1>
<p class="summary">{escape(report.summary)}</p>
{highlights_html(report.highlights)}
{claims_html(report.claims, report.claims_caption)}
</header>
<main>
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
    return document(report.title, body)


def data_url(figure: Drawing) -> str:
    """A figure as a `data:` URL: SVG, or PNG where the SVG would be huge.

    Args:
        figure: The figure.

    Returns:
        The URL; the same figure gives the same URL.
    """
    from matplotlib import rc_context

    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "tangentlab", "svg.fonttype": "path"}):
        metadata = {"Date": None, "Creator": None}
        figure.savefig(content, format="svg", bbox_inches="tight", metadata=metadata)
    kind = "svg+xml"
    if content.tell() > _LARGEST_SVG:
        content, kind = io.BytesIO(), "png"
        figure.savefig(content, format="png", bbox_inches="tight", dpi=200)
    return f"data:image/{kind};base64,{base64.b64encode(content.getvalue()).decode()}"


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


def _section(section: Section) -> str:
    figures = "\n".join(
        picture_html(figure, alt=f"{section.title} ({name}). {section.text}")
        for name, figure in section.figures.items()
    )
    table = to_html(section.table) if section.table else ""
    return (
        f"<section>\n<h2>{escape(section.title)}</h2>\n"
        f'<p class="text">{escape(section.text)}</p>\n{figures}\n{table}\n</section>'
    )


def picture_html(figure: Drawing, *, alt: str, caption: str = "") -> str:
    """A figure as a picture, with a dark twin.

    Args:
        figure: The figure.
        alt: What it shows, for who cannot see it.
        caption: Below it, as HTML.

    Returns:
        HTML.
    """
    light = data_url(figure)  # first: drawing makes the ticks that are recolored next
    with dark_colors(figure):
        dark = data_url(figure)
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return (
        '<figure><picture><source media="(prefers-color-scheme: dark)" '
        f'srcset="{dark}"><img src="{light}" alt="{escape(alt)}"></picture>{below}'
        "</figure>"
    )


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
