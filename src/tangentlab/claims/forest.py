"""The numbers of one claim beside its threshold, all models in one figure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..analysis import Claim, Finding, Percent, Threshold
from ..report.interactive import Shown
from ..report.style import INK, MUTED, style
from .naming import run_names
from .records import Verification

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HOLDS = "#15803d"
_PALETTE = ("#0f766e", "#7c3aed", "#c2410c", "#1d4ed8", "#be185d", "#a16207", INK)
_MARKERS = "oDs^v<>"
_MOST_PANELS = 4
_DECADES = 3  # between numbers, from which on an axis is logarithmic


class Forest(NamedTuple):
    """The figure of a claim on a page.

    Attributes:
        figure: The figure, as pages show it.
        caption: What to see.
    """

    figure: Shown
    caption: str


class Panel(NamedTuple):
    """Numbers that are compared with one another.

    Attributes:
        threshold: That they are held against; None where there is none.
        percent: They are shown in percent.
        findings: The numbers.
    """

    threshold: Threshold | None
    percent: Percent
    findings: list[Finding]


def draw_forests(verification: Verification) -> dict[str, tuple["Figure", str]]:
    """A figure for each claim with numbers to compare.

    Args:
        verification: All verdicts.

    Returns:
        Figures by claim, each with its caption.
    """
    forests = {}
    for each in verification.verdicts:
        if each.claim is None:
            continue
        there = [run.run for run in each.runs if run.claim(each.entry.id) is not None]
        names = run_names(there)
        figure = forest_figure(each.claim, names)
        if figure is not None:
            caption = forest_caption(each.claim, names)
            forests[each.entry.id] = figure, caption
    return forests


def forest_caption(claim: Claim, names: Sequence[str]) -> str:
    """What to see in the figure of a claim.

    Args:
        claim: As in `forest_figure`.
        names: Likewise.

    Returns:
        Sentences.
    """
    panels = _panels(claim, names)
    green = [panel.threshold is not None for panel in panels]
    told = ["Each number with its 95 % interval."]
    if all(green):
        told.append("The claim holds in the green part.")
    elif any(green):
        told.append("Where a panel has a green part, the claim holds in it.")
    if any(each.verdict is None for panel in panels for each in panel.findings):
        told.append("Open markers are reported and not judged.")
    return " ".join(told)


def forest_figure(claim: Claim, names: Sequence[str]) -> "Figure | None":
    """Each number with its interval; green is where the claim holds.

    Args:
        claim: With findings whose names begin with those of their runs, if several.
        names: Of the runs.

    Returns:
        A figure with one panel for each threshold; None if there is nothing to compare:
        fewer than two numbers and no interval, or too many thresholds. A number that
        is not judged stands with the same number of other runs.
    """
    panels = _panels(claim, names)
    found = [each for panel in panels for each in panel.findings]
    spread = any(each.estimate.low < each.estimate.high for each in found)
    if (len(found) < 2 and not spread) or not 0 < len(panels) <= _MOST_PANELS:
        return None
    from matplotlib.figure import Figure

    heights = [0.34 * len(panel.findings) + 0.5 for panel in panels]
    with style():
        size = (8.4, sum(heights) + 0.5 * len(panels) + 0.5)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(len(panels), 1, height_ratios=heights, squeeze=False)
        for ax, panel in zip(axes.ravel(), panels, strict=True):
            _draw(ax, panel, names)
        handles = {}
        for ax in axes.ravel():
            handles |= dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
        if len(handles) > 1:
            place = {"loc": "outside upper left", "ncols": min(3, len(handles))}
            figure.legend(handles.values(), handles.keys(), **place)
        return figure


def _panels(claim: Claim, names: Sequence[str]) -> list[Panel]:
    """Finite numbers by what they are compared with, in order of appearance."""
    found = [each for each in claim.findings if np.isfinite(each.estimate.value)]
    judged = {_quantity(f, names): f.threshold for f in reversed(found) if f.threshold}
    panels: dict[tuple[Threshold | None, Percent], Panel] = {}
    for each in found:
        threshold = each.threshold or judged.get(_quantity(each, names))
        panel = Panel(threshold, each.percent, [])
        panels.setdefault(panel[:2], panel).findings.append(each)
    return list(panels.values())


def _quantity(finding: Finding, names: Sequence[str]) -> tuple[str, Percent]:
    """What was measured, whatever the run."""
    return _short(finding, names), finding.percent


def _draw(ax: "Axes", panel: Panel, names: Sequence[str]) -> None:
    threshold, percent, found = panel
    scale = 100 if percent else 1
    labeled = set()
    for row, finding in enumerate(found):
        at, name = _run_of(finding, names)
        color = _PALETTE[at % len(_PALETTE)]
        low, high = (scale * e for e in (finding.estimate.low, finding.estimate.high))
        ax.hlines(row, low, high, color=color, alpha=0.45, linewidth=5)
        ax.plot(
            scale * finding.estimate.value,
            row,
            linestyle="none",
            marker=_MARKERS[at % len(_MARKERS)],
            markersize=7,
            color=color,
            markerfacecolor=color if finding.verdict is not None else "white",
            label=name if len(names) > 1 and name not in labeled else None,
        )
        labeled.add(name)
    texts = [_short(finding, names) for finding in found]
    ax.set_yticks(range(len(found)), texts)
    ax.set_ylim(len(found) - 0.4, -0.6)
    _set_scale(ax, found, threshold, scale)
    if threshold is not None:
        _shade(ax, threshold, scale)
    ax.set_xlabel(_unit(panel))


def _unit(panel: Panel) -> str:
    if not panel.percent:
        return "measured"
    return "percent" if panel.percent == "share" else "points of percent"


def _run_of(finding: Finding, names: Sequence[str]) -> tuple[int, str]:
    for at, name in enumerate(names):
        if finding.name == name or finding.name.startswith(f"{name}, "):
            return at, name
    return 0, names[0] if len(names) == 1 else "measured"


def _short(finding: Finding, names: Sequence[str]) -> str:
    if len(names) < 2:
        return finding.name or "measured"
    _, name = _run_of(finding, names)
    rest = finding.name.removeprefix(name).removeprefix(", ")
    return rest or "measured"


def _set_scale(
    ax: "Axes", found: Sequence[Finding], threshold: Threshold | None, scale: int
) -> None:
    """Logarithmic for positive numbers of very different sizes."""
    values = [v for f in found for v in (f.estimate.low, f.estimate.high)]
    values += [threshold.value] if threshold is not None else []
    some = scale * np.array([v for v in values if np.isfinite(v)])
    positive = some[some > 0]
    if (some >= 0).all() and len(positive):
        span = np.log10(positive.max() / positive.min())
        if span > _DECADES and len(positive) == len(some):
            ax.set_xscale("log")
            ax.set_xlim(positive.min() / 3, positive.max() * 3)
            return
    margin = 0.08 * (np.ptp(some) or max(abs(some).max(), 1.0))
    ax.set_xlim(some.min() - margin, some.max() + margin)


def _shade(ax: "Axes", threshold: Threshold, scale: int) -> None:
    at = scale * threshold.value
    low, high = ax.get_xlim()
    side = (at, high) if threshold.above else (low, at)
    if side[0] < side[1]:
        ax.axvspan(*side, color=_HOLDS, alpha=0.10, linewidth=0)
    ax.axvline(at, color=MUTED, linewidth=1.4, linestyle=(0, (4, 2)))
