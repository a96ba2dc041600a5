"""Claims and their verdicts, as text and on a page."""

import textwrap
from collections.abc import Sequence
from html import escape

import numpy as np

from ..analysis import Claim, Estimate, Finding, Percent
from .tables import MISSING

_INDENT = " " * 6

MARKS: dict[str, str] = {
    "confirmed": "✓",
    "refuted": "✗",
    "inconclusive": "?",
    "recorded": "•",
    "not measured": "–",
}
"""A sign for each verdict, and for claims without one, for where there is no color."""


def estimate_text(estimate: Estimate, *, percent: Percent = False) -> str:
    """A number with its interval.

    Args:
        estimate: The number.
        percent: Show it in points of percent, or as a share, see `Finding`.

    Returns:
        Such as `−0.97 [−0.99, −0.91]`; without an interval for a number without any
        chance in it; a dash where there is none.
    """
    if np.isnan(estimate.value):
        return MISSING
    ends = [estimate.value, estimate.low, estimate.high]
    scale, unit, style = 1, "", f"+{_style(max(map(abs, ends)))}"
    if percent == "share":
        scale, unit, style = 100, " %", _percent_style(ends)
    elif percent:
        scale, unit, style = 100, " points", "+.1f"
    value, low, high = (
        f"{scale * number:{style}}".replace("-", "−") for number in ends
    )
    if estimate.low == estimate.high:
        return f"{value}{unit}"
    return f"{value} [{low}, {high}]{unit}"


def _style(size: float) -> str:
    """Two digits behind the point, unless all would be zeros or far too many."""
    if size == 0 or not np.isfinite(size) or 0.01 <= size < 1000:
        return ".2f"
    return ",.0f" if 1000 <= size < 1e6 else ".2g"


def _percent_style(ends: Sequence[float]) -> str:
    """One digit behind the point, unless all would be zeros."""
    return ".0f" if all(f"{100 * end:.1f}".endswith(".0") for end in ends) else ".1f"


def findings_text(claim: Claim) -> str:
    """Everything that was measured for a claim.

    Args:
        claim: The claim.

    Returns:
        Numbers with intervals, by name.
    """
    return "; ".join(map(finding_text, claim.findings))


def finding_text(finding: Finding) -> str:
    """A measured number with its name.

    Args:
        finding: The number.

    Returns:
        Such as `network −0.97 [−0.99, −0.91]`.
    """
    return f"{finding.name} {number_text(finding)}".strip()


def number_text(finding: Finding) -> str:
    """A measured number without its name.

    Args:
        finding: The number.

    Returns:
        As `estimate_text` has it: a share in percent, a difference in points of it.
    """
    return estimate_text(finding.estimate, percent=finding.percent)


def claim_lines(claim: Claim, width: int = 88) -> list[str]:
    """A claim for a console: verdict, what was measured, criterion.

    Args:
        claim: The claim.
        width: Of the longest line.

    Returns:
        Lines; the first says the verdict.
    """
    head = f"{MARKS[claim.verdict]} {claim.id}  {claim.statement}: "
    texts = (
        "; ".join(filter(None, [findings_text(claim), claim.remark])),
        f"criterion: {claim.criterion}",
    )
    lines = textwrap.wrap(head + claim.verdict, width, subsequent_indent=_INDENT)
    for text in texts:
        lines += textwrap.wrap(
            text, width, initial_indent=_INDENT, subsequent_indent=_INDENT
        )
    return lines


def claims_html(claims: Sequence[Claim], caption: str = "") -> str:
    """Claims as cards, for a page.

    Args:
        claims: The claims.
        caption: What the intervals are over.

    Returns:
        HTML, everything escaped; empty for no claims.
    """
    if not claims:
        return ""
    cards = "\n".join(map(_card, claims))
    note = f'<p class="caption">{escape(caption)}</p>' if caption else ""
    return f'<div class="claims">\n{cards}\n</div>\n{note}'


def _card(claim: Claim) -> str:
    kind = claim.verdict.replace(" ", "-")
    numbers = "".join(
        f"<div><dt>{escape(finding.name)}</dt><dd>{escape(number_text(finding))}</dd></div>"
        for finding in claim.findings
    )
    numbers = f"<dl>{numbers}</dl>" if numbers else ""
    remark = f"<p>{escape(_sentence(claim.remark))}</p>" if claim.remark else ""
    return (
        f'<article class="{kind}"><p class="verdict">'
        f'<span aria-hidden="true">{MARKS[claim.verdict]}</span> '
        f"{escape(claim.verdict)}</p>"
        f"<h3><span>{escape(claim.id)}</span> {escape(claim.statement)}</h3>"
        f"{numbers}{remark}"
        f'<p class="criterion">Criterion: {escape(claim.criterion)}.</p></article>'
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
