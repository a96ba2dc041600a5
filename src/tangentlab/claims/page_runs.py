"""The part of the page on the runs: every figure, and the command behind it."""

from html import escape

from ..report.interactive import HOW_TO
from ..report.page import FIGURES, Report, section_html
from ..report.tables import to_html
from .naming import model_name
from .records import Performed, Verification
from .tables import time_text

_OPEN = 6  # runs that are shown unfolded; more would bury the verdicts


def runs_section(verification: Verification) -> str:
    """All runs with their figures.

    Args:
        verification: What was run.

    Returns:
        HTML, everything escaped; empty if nothing was run.
    """
    runs = verification.runs
    if not runs:
        return ""
    models = dict.fromkeys(model_name(each.run) for each in runs)
    buttons = "".join(
        f'<button type="button" aria-pressed="true" data-kind="{escape(name)}">'
        f"{escape(name)}</button>"
        for name in models
        if len(models) > 1
    )
    body = "\n".join(
        _run(each, at, verification, unfolded=len(runs) <= _OPEN)
        for at, each in enumerate(runs)
    )
    return (
        '<section id="runs"><h2>The runs and their figures</h2>'
        f'<p class="text">{HOW_TO}</p>'
        f'<div class="filters" data-rows="details.run">{buttons}'
        '<button type="button" class="open-all">unfold or fold all</button></div>'
        f"{body}</section>"
    )


def _run(
    each: Performed, at: int, verification: Verification, *, unfolded: bool
) -> str:
    claims = ", ".join(each.run.claims)
    again = each.reused and verification.kept is None
    notes = [claims, time_text(each.seconds), "used again" if again else ""]
    why = f"was not begun: {each.left_out}"
    if each.failure:
        why = f"failed: {each.failure}"
    body = (
        f'<p class="failed">This run {escape(why)}</p>'
        if each.report is None
        else _report(each, each.report, verification)
    )
    return (
        f'<details class="run" id="run-{at}" data-kind="{escape(model_name(each.run))}"'
        f"{' open' if unfolded else ''}><summary>{escape(each.title)} "
        f"<small>· {escape(' · '.join(filter(None, notes)))}</small></summary>"
        f"<pre><code>{escape(each.command)}</code></pre>{body}</details>"
    )


def _report(each: Performed, report: Report, verification: Verification) -> str:
    results = to_html(report.console_table)
    if each.path is None:  # its numbers were kept, and its figures were not
        return (
            f'<p class="text">{escape(report.summary)}</p>'
            f"<details><summary>Results</summary>{results}</details>"
        )
    folder = each.path.relative_to(verification.folder).as_posix()
    sections = "\n".join(
        f"<h3>{escape(section.title)}</h3>"
        + section_html(section, folder=f"{folder}/{FIGURES}", command=each.command)
        for section in report.sections
    )
    return (
        f'<p class="text">{escape(report.summary)}</p>{sections}'
        f"<details><summary>Results</summary>{results}</details>"
        f'<p class="tiny"><a href="{escape(folder)}/report.html">The page of this run '
        "alone</a></p>"
    )
