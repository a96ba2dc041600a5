"""The part of the page on one claim."""

from html import escape

from ..report.claims import MARKS, estimate_text
from ..report.images import Drawing
from ..report.interactive import Shown, figure_html
from ..report.page import FIGURES
from .records import Verification, Verified
from .tables import time_text

_TO_SEE = "Each number with its 95 % interval."
_GREEN = " The claim holds in the green part."
_OPEN = " Open markers are reported and not judged."


def claim_section(
    each: Verified, verification: Verification, figure: Drawing | Shown | None
) -> str:
    """A claim with its numbers, their figure and the runs behind it.

    Args:
        each: Where the claim stands; something was measured.
        verification: What it is part of.
        figure: Of its numbers, if there is something to compare.

    Returns:
        HTML, everything escaped.
    """
    entry, claim = each.entry, each.claim
    assert claim is not None, "a claim without numbers has no section"
    kind = each.standing.replace(" ", "-")
    numbers = "".join(
        f"<dt>{escape(finding.name)}</dt>"
        f"<dd>{escape(estimate_text(finding.estimate, percent=finding.percent))}"
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
        f'<p class="badge">{MARKS[each.standing]} {each.standing}</p>'
        f"<h2>{entry.id} · {escape(entry.statement)}</h2><dl>{rows}</dl>"
        f"{_forest(each, verification, figure)}"
        f"<details><summary>All numbers</summary><dl>{numbers}</dl></details></section>"
    )


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


def _forest(
    each: Verified, verification: Verification, figure: Drawing | Shown | None
) -> str:
    if figure is None or each.claim is None:
        return ""
    name = each.entry.id
    limits = [finding.threshold for finding in each.claim.findings]
    return figure_html(
        figure,
        alt=f"Measured numbers of {name} beside its threshold: {each.standing}",
        file=f"{FIGURES}/{name}",
        caption=_TO_SEE + (_GREEN if any(limits) else "") + _OPEN,
        command=verification.command_for(name),
    )
