"""The page of a verification: what held at one glance, then why, then every figure."""

from collections import Counter
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any, get_args

from ..report.claims import MARKS
from ..report.document import document
from ..report.interactive import NO_SCRIPT, charts_script, charts_style
from ..report.page import Highlight, facts_html, highlights_html
from ..report.tables import to_html
from . import plans
from .catalog import GROUPS
from .forest import Forest
from .origins import origins_table, origins_text
from .page_claims import claim_section, verdict_html
from .page_runs import runs_section
from .paper_claims import PAPER_CLAIMS
from .records import Performed, Standing, Verification, Verified
from .tables import measured_text, seeds_text, time_text

_HERE = Path(__file__).parent
_MANY = 12  # claims that are named in the summary
_STANDINGS: tuple[Standing, ...] = get_args(Standing)
_HIDDEN = 1 / 3  # share of claims without numbers, from which on their rows are folded
_AGAIN = "The same command goes on where it was interrupted, and uses what is finished."
_JUDGED_AGAIN = "The same command judges the same numbers again."
_SCALES = {
    "smoke": "embedded or made-up data, a check of the whole in minutes",
    "laptop": "subsets of real data",
    "gpu": "the paper's own sizes",
}


def render_page(
    verification: Verification,
    forests: Mapping[str, Forest],
    facts: Mapping[str, Any],
) -> str:
    """Make the page.

    Args:
        verification: All verdicts and runs.
        forests: Figures of the numbers of claims, by claim.
        facts: Versions and devices, nested or not.

    Returns:
        A whole HTML document.
    """
    title = f"What held, and what did not: {verification.scale} scale"
    measured = [each for each in verification.verdicts if each.claim is not None]
    sections = "\n".join(
        claim_section(each, verification, forests.get(each.entry.id))
        for each in measured
    )
    body = f"""<header>
<p class="kicker">tangentlab · verify · {escape(verification.scale)}</p>
<h1>{escape(title)}</h1>
<p class="summary">{escape(_summary(verification))}</p>
{NO_SCRIPT}
{highlights_html(_highlights(verification))}
{_glance(verification)}
</header>
<main>
{_verdict_table(verification)}
{sections}
{runs_section(verification)}
{_making(verification, facts)}
</main>
<footer>{_AGAIN if verification.kept is None else _JUDGED_AGAIN}
</footer>"""
    style = charts_style() + (_HERE / "page.css").read_text("utf-8")
    script = charts_script() + (_HERE / "page.js").read_text("utf-8")
    return document(title, body, style=style, script=script)


def _making(verification: Verification, facts: Mapping[str, Any]) -> str:
    """What made the page, and the numbers on it."""
    runs = [(run.title, run.origin) for run in verification.runs if run.origin]
    told = origins_text([origin for _, origin in runs])
    numbers = f'<p class="text">Numbers of {escape(told)}.</p>' if told else ""
    return f"""<section>
<h2>How this page was made</h2>
{numbers}
<pre><code>{escape(verification.command)}</code></pre>
<details>
<summary>Versions, devices and times</summary>
{to_html(origins_table(runs)) if runs else ""}
{facts_html("Where they were judged, and this page was made", facts)}
</details>
</section>"""


def _summary(verification: Verification) -> str:
    counts = Counter(each.standing for each in verification.verdicts)
    paper = {entry.id for entry in PAPER_CLAIMS if entry.judged}
    known = Counter(v.standing for v in verification.verdicts if v.entry.id in paper)
    decided = known["confirmed"] + known["refuted"]
    text = (
        f"{len(verification.verdicts)} entries of the catalog, taken one by one, each "
        f"by the criterion beside it, on {_SCALES[verification.scale]}. "
        f"Confirmed: {counts['confirmed']}, refuted: {counts['refuted']}, open: "
        f"{counts['inconclusive']}, not measured here: {counts['not measured']}. "
    )
    leanings = Counter(each.leaning for each in verification.verdicts)
    told = [
        f"{leanings[way]} would be {way}"
        for way in ("confirmed", "refuted")
        if leanings[way]
    ]
    if told:
        text += (
            f"Of the open ones {' and '.join(told)} by what was measured, which was "
            "too little: not all networks, or too few initializations or tasks. "
        )
    if decided:
        text += (
            f"Of the paper's own claims {decided} could be decided, and "
            f"{known['confirmed']} of these held."
        )
    if verification.scale == "smoke":
        text += (
            " Networks and data are small here: this shows that each claim can be "
            "measured. What holds of the paper is decided at the other scales."
        )
    return text + _missed(verification)


def _missed(verification: Verification) -> str:
    """Which claims were planned and not measured, by what became of their runs."""
    causes: dict[str, list[str]] = {}
    for each in verification.missed:
        name = each.entry.id
        found = [_cause(run, name) for run in each.runs] or [each.reason]
        for cause in dict.fromkeys(found):
            causes.setdefault(cause, []).append(name)
    return "".join(
        f" Planned but not measured, since {cause}: {_listed(names)}."
        for cause, names in causes.items()
        if cause
    )


def _listed(names: list[str]) -> str:
    """Ids of claims; of many their number, since all are below."""
    return ", ".join(names) if len(names) <= _MANY else f"{len(names)} claims"


def _cause(run: Performed, name: str) -> str:
    """Why a run says nothing of a claim; empty if it does."""
    if run.failure:
        return "a run failed"
    if run.left_out:
        return "there was no time for a run"
    return "" if run.claim(name) else "a run was silent on them"


def _highlights(verification: Verification) -> tuple[Highlight, ...]:
    labels: dict[Standing, str] = {
        "confirmed": "confirmed",
        "refuted": "refuted",
        "inconclusive": "open: intervals too wide, or too little data",
        "not measured": _unmeasured(verification),
    }
    tiles = [
        Highlight(f"{verification.count(standing)} {MARKS[standing]}", label)
        for standing, label in labels.items()
    ]
    spent = sum((each.seconds for each in verification.runs), start=0.0)
    runs = f"of {len(verification.runs)} runs, in sum"
    return (*tiles, Highlight(time_text(spent), runs))


def _unmeasured(verification: Verification) -> str:
    """What is true of all claims that were not measured."""
    left = [each for each in verification.verdicts if each.standing == "not measured"]
    if left and all(each.expected for each in left):
        return "no numbers kept"
    planned = {name for r in plans.planned(verification.scale) for name in r.claims}
    here = any(each.entry.id in planned for each in left)
    return "not measured" if here else "not measured at this scale"


def _glance(verification: Verification) -> str:
    by_id = {each.entry.id: each for each in verification.verdicts}
    parts = []
    for group, names in GROUPS.items():
        chips = "".join(_chip(by_id[name]) for name in names)
        parts.append(f"<h2>{escape(group)}</h2><ul>{chips}</ul>")
    marks = [f"{MARKS[each]} {each}" for each in _STANDINGS]
    part = f"({MARKS['confirmed']}) and ({MARKS['refuted']}) so by what was measured"
    marks.insert(2, f"{part}, which is too little for a verdict")
    key = ", ".join(marks)
    return f'<nav class="glance">{"".join(parts)}<p class="key">{key}</p></nav>'


def _chip(each: Verified) -> str:
    target = each.entry.id if each.claim is not None else f"row-{each.entry.id}"
    hint = escape(f"{each.entry.statement}: {each.doubt or each.standing}")
    kind = f"{each.leaning} in-part" if each.leaning else _css(each.standing)
    return (
        f'<li class="{kind}"><a href="#{target}" title="{hint}">'
        f"{each.entry.id} <b>{each.mark}</b></a></li>"
    )


def _verdict_table(verification: Verification) -> str:
    there: list[Standing] = [s for s in _STANDINGS if verification.count(s)]
    buttons = "".join(_button(each, verification) for each in there)
    titles = ("claim", "published", "measured", "criterion", "verdict", "seeds", "time")
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    body = "\n".join(map(_row, verification.verdicts))
    return (
        '<section id="verdicts"><h2>Every claim and its verdict</h2>'
        '<p class="text">Confirmed means that all of the 95 % interval lies beyond the '
        "threshold, refuted that all of it lies on the other side, after Holm's "
        "correction over all numbers of a claim; nothing is confirmed of a network "
        "that was not measured. Times are those of the runs behind a claim, which "
        "several claims may share.</p>"
        f'<div class="filters" data-rows=".verdicts tbody tr">{buttons}</div>'
        f'<table class="verdicts"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></section>"
    )


def _button(standing: Standing, verification: Verification) -> str:
    """A switch for the rows of a verdict; the script begins with some of them off."""
    count, total = verification.count(standing), len(verification.verdicts)
    off = standing == "not measured" and _HIDDEN * total < count < total
    return (
        f'<button type="button" aria-pressed="true" data-kind="{_css(standing)}"'
        f"{' data-off' if off else ''}>{MARKS[standing]} {standing} ({count})</button>"
    )


def _row(each: Verified) -> str:
    entry, kind = each.entry, _css(each.standing)
    name = f'<a href="#{entry.id}">{entry.id}</a>' if each.claim else entry.id
    time = time_text(each.seconds) if each.runs else "–"
    cells = {
        "published": entry.published,
        "measured": measured_text(each),
        "criterion": each.criterion,
    }
    middle = "".join(
        f'<td data-label="{label}">{escape(text)}</td>' for label, text in cells.items()
    )
    return (
        f'<tr id="row-{entry.id}" class="{kind}" data-kind="{kind}">'
        f'<th scope="row">{name} {escape(entry.statement)}</th>{middle}'
        f'<td class="verdict" data-label="">{verdict_html(each)}</td>'
        f'<td class="seeds" data-label="seeds">{seeds_text(each) or "–"}</td>'
        f'<td class="time" data-label="time">{time}</td></tr>'
    )


def _css(standing: Standing) -> str:
    return standing.replace(" ", "-")
