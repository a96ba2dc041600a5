"""Verdicts as tables: for a console, a page, a spreadsheet or a paper.

`report.tables.to_csv` and `to_latex`, `to_longtable` and `to_pandas` of
`report.exporting` take what these return.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..analysis import Finding
from ..report.claims import finding_text
from ..report.tables import MISSING, Column, Row, Table
from ..store.config import to_json
from .doubting import told_by
from .naming import network_name
from .records import Performed, Verification, Verified

_SHOWN = 4  # numbers of a claim, in a table
_WEIGHTS = ("refuted", "inconclusive", "confirmed", "recorded")  # what decides first


def to_table(verdicts: Sequence[Verified]) -> Table:
    """Everything on every claim, in words.

    Args:
        verdicts: Where claims stand.

    Returns:
        One row for each claim.
    """
    titles = ("claim", "statement", "source", "published", "measured", "criterion")
    columns = [Column(title, align="left") for title in titles]
    columns += [Column("verdict", align="left"), Column("seeds", "d"), SECONDS]
    rows = [
        Row(
            (
                each.entry.id,
                each.entry.statement,
                each.entry.source,
                each.entry.published,
                measured_text(each),
                each.criterion,
                each.standing,
                each.seeds or None,
                round(each.seconds, 1) if each.runs else None,
            )
        )
        for each in verdicts
    ]
    return Table(tuple(columns), tuple(rows))


SECONDS = Column("seconds", ",.0f")


def short_table(verdicts: Sequence[Verified]) -> Table:
    """What fits a console: all but the source.

    Args:
        verdicts: Where claims stand.

    Returns:
        One row for each claim.
    """
    titles = ("claim", "published", "measured", "criterion", "verdict")
    columns = [Column(title, align="left") for title in titles]
    rows = [
        Row(
            (
                f"{each.entry.id} {each.entry.statement}",
                each.entry.published,
                measured_text(each),
                each.criterion,
                f"{each.mark} {each.standing}",
                seeds_text(each) or None,
                time_text(each.seconds) if each.runs else None,
            )
        )
        for each in verdicts
    ]
    return Table((*columns, Column("seeds"), Column("time")), tuple(rows))


PAPER_WIDTHS = (0.08, 0.2, 0.18, 0.31, 0.15, 0.08)
"""The columns of `paper_table`, as shares of a line."""


def paper_table(verdicts: Sequence[Verified]) -> Table:
    """What fits a page of a paper: all but source, criterion and time.

    Args:
        verdicts: Where claims stand.

    Returns:
        One row for each claim.
    """
    titles = ("claim", "statement", "published", "measured", "verdict")
    columns = [Column(title, align="left") for title in titles]
    rows = [
        Row(
            (
                each.entry.id,
                each.entry.statement,
                each.entry.published,
                measured_text(each),
                each.standing,
                seeds_text(each) or None,
            )
        )
        for each in verdicts
    ]
    return Table((*columns, Column("seeds")), tuple(rows))


def measured_text(verified: Verified) -> str:
    """What was measured of a claim, or why nothing was.

    Args:
        verified: Where it stands.

    Returns:
        Its judged numbers with intervals, the first few of many, those before others
        that a verdict hangs on, and why they decide nothing where that is so; its
        remark where there are none. The network of a single run stands before them;
        numbers of several runs have it in their names.
    """
    claim = verified.claim
    if verified.reason or claim is None:
        return verified.reason
    judged = [each for each in claim.findings if each.verdict is not None]
    judged.sort(key=lambda each: _WEIGHTS.index(each.verdict))
    shown = judged or list(claim.findings)
    text = "; ".join(map(finding_text, shown[:_SHOWN]))
    if len(shown) > _SHOWN:
        text += f"; and {len(shown) - _SHOWN} more"
    if text and verified.doubt:
        text += f" ({verified.doubt})"
    return _subject(verified) + (text or claim.remark)


def _subject(verified: Verified) -> str:
    """The network of a single run; empty where it has none."""
    if len(verified.runs) != 1:
        return ""
    name = network_name(verified.runs[0].run, verified.entry.networks)
    return f"{name}: " if name else ""


def seeds_text(verified: Verified) -> str:
    """How many initializations were measured.

    Args:
        verified: Where a claim stands.

    Returns:
        A number, or from the fewest of a run to the most; empty where there are none.
    """
    name = verified.entry.id
    measured = [len(each.seeds) for each in verified.runs if each.claim(name)]
    counts = sorted({count for count in measured if count})
    return "–".join(map(str, dict.fromkeys([counts[0], counts[-1]]))) if counts else ""


def time_text(seconds: float) -> str:
    """A time in the unit that suits it.

    Args:
        seconds: The time.

    Returns:
        Such as `12 s`, `3.5 min` or `1.2 h`.
    """
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def run_line(performed: Performed, place: int, total: int) -> str:
    """A run that ended, in one line.

    Args:
        performed: The run.
        place: Its place, from 1.
        total: How many there are.

    Returns:
        Place, experiment, what it was about, its claims with their verdicts in this
        run, and its time; or why it failed, or was not begun.
    """
    width = len(str(total))
    head = f"[{place:>{width}}/{total}] {performed.title}"
    if performed.failure:
        return f"{head}: FAILED, {performed.failure}"
    if performed.left_out:
        return f"{head}: not begun, {performed.left_out}"
    if performed.report is None:
        return f"{head}: computed ({time_text(performed.seconds)})"
    found = [(name, performed.claim(name)) for name in performed.run.claims]
    parts = [
        f"{name} {told_by(performed, claim).verdict if claim else MISSING}"
        for name, claim in found
    ]
    time = time_text(performed.seconds) + (
        ", there already" if performed.reused else ""
    )
    return f"{head}: {', '.join(parts)} ({time})"


def verification_json(verification: Verification) -> dict[str, Any]:
    """All of a verification, for other programs.

    Args:
        verification: The verification.

    Returns:
        What strict JSON holds; numbers that are not finite are None.
    """
    places = {id(each): at for at, each in enumerate(verification.runs)}
    return {
        "scale": verification.scale,
        "command": verification.command,
        "started": verification.started,
        "seconds": round(verification.seconds, 3),
        "wanted": list(verification.wanted),
        "claims": [_claim_json(each, places) for each in verification.verdicts],
        "runs": [_run_json(each, verification) for each in verification.runs],
    }


def _claim_json(each: Verified, places: dict[int, int]) -> dict[str, Any]:
    claim = each.claim
    return {
        **each.entry._asdict(),
        "criterion": each.criterion,
        "catalog_criterion": each.entry.criterion,
        "verdict": each.standing,
        "leaning": each.leaning,
        "reason": each.reason,
        "remark": claim.remark if claim else "",
        "findings": [finding_json(f) for f in claim.findings] if claim else [],
        "seconds": round(each.seconds, 3),
        "runs": [places[id(run)] for run in each.runs],
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """A number with its interval, what it was compared with, and how clearly.

    Args:
        finding: The number.

    Returns:
        What strict JSON holds: all that it takes to judge it with others, by its
        one-sided p-values of being beyond the threshold and of not being so.
    """
    estimate, threshold = finding.estimate, finding.threshold
    return {
        "name": finding.name,
        "value": _number(estimate.value),
        "low": _number(estimate.low),
        "high": _number(estimate.high),
        "verdict": finding.verdict,
        "threshold": _number(threshold.value) if threshold else None,
        "above": threshold.above if threshold else None,
        "p": _doubts(finding),
        "percent": finding.percent,
        "kind": finding.kind,
    }


def _doubts(finding: Finding) -> list[float | None] | None:
    """p-values of holding, and of not; None where nothing is judged by them."""
    estimate, threshold = finding.estimate, finding.threshold
    if threshold is None or finding.kind != "number":
        return None
    sides = (threshold.above, not threshold.above)
    return [_number(estimate.doubt(threshold.value, above=side)) for side in sides]


def _run_json(each: Performed, verification: Verification) -> dict[str, Any]:
    path, origin = each.path, each.origin
    return {
        "name": each.name,
        "experiment": each.run.experiment,
        "claims": list(each.run.claims),
        "config": to_json(each.run.config),
        "seeds": list(each.seeds),
        "command": each.command,
        "folder": None if path is None else str(path.relative_to(verification.folder)),
        "seconds": round(each.seconds, 3),
        "started": origin and origin.started,
        "devices": list(origin.devices) if origin else [],
        "versions": dict(origin.versions) if origin else {},
        "failure": each.failure,
        "left_out": each.left_out,
        "traceback": each.traceback,
    }


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
