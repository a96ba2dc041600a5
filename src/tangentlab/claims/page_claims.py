"""The part of the page on one claim."""

from html import escape

from ..report.claims import number_text
from ..report.interactive import figure_html
from ..report.page import FIGURES
from .forest import Forest
from .records import Verification, Verified
from .tables import time_text


def claim_section(
    each: Verified, verification: Verification, forest: Forest | None
) -> str:
    """A claim with its numbers, their figure and the runs behind it.

    Args:
        each: Where the claim stands; something was measured.
        verification: What it is part of.
        forest: Of its numbers, if there is something to compare.

    Returns:
        HTML, everything escaped.
    """
    entry, claim = each.entry, each.claim
    assert claim is not None, "a claim without numbers has no section"
    kind = each.standing.replace(" ", "-")
    numbers = "".join(
        f"<dt>{escape(finding.name)}</dt>"
        f"<dd>{escape(number_text(finding))}"
        f"{f' · {finding.verdict}' if finding.verdict else ''}</dd>"
        for finding in claim.findings
    )
    remarks = [escape(text) for text in (each.reason, claim.remark) if text]
    facts = {
        "claimed by": escape(entry.source),
        "published": escape(entry.published),
        "criterion": escape(each.criterion),
        "remark": "<br>".join(remarks),
        "runs": _runs(each, verification),
    }
    rows = "".join(f"<dt>{k}</dt><dd>{v}</dd>" for k, v in facts.items() if v)
    return (
        f'<section class="claim {kind}" id="{entry.id}">'
        f'<p class="badge">{verdict_html(each)}</p>'
        f"<h2>{entry.id} · {escape(entry.statement)}</h2><dl>{rows}</dl>"
        f"{_figure(each, verification, forest)}"
        f"<details><summary>All numbers</summary><dl>{numbers}</dl></details></section>"
    )


def verdict_html(each: Verified) -> str:
    """A verdict with its mark, in the color of what its numbers say.

    Args:
        each: Where the claim stands.

    Returns:
        HTML.
    """
    mark = f'<b class="{each.leaning}">{each.mark}</b>' if each.leaning else each.mark
    return f"{mark} {each.standing}"


def _runs(each: Verified, verification: Verification) -> str:
    places = {id(run): at for at, run in enumerate(verification.runs)}
    links = [
        f'<a href="#run-{places[id(run)]}">{escape(run.name)}</a> '
        f"({time_text(run.seconds)}{_seeds(len(run.seeds))})"
        for run in each.runs
    ]
    return ", ".join(links)


def _seeds(count: int) -> str:
    return "" if count == 0 else f", {count} seed{'s' if count > 1 else ''}"


def _figure(each: Verified, verification: Verification, forest: Forest | None) -> str:
    if forest is None:
        return ""
    name = each.entry.id
    return figure_html(
        forest.figure,
        alt=f"Measured numbers of {name} beside its threshold: {each.standing}",
        file=f"{FIGURES}/{name}",
        caption=forest.caption,
        command=verification.command_for(name),
    )
