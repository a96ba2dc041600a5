"""How far network and linearization are apart: accuracies and predictions."""

from typing import TYPE_CHECKING

import numpy as np

from ...analysis import Claim, mean_interval
from ...report.style import INK, LINEARIZED, MUTED, NETWORK, style
from .results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _COLORS = 8.4, "viridis"


def lead_figure(results: Results, judged: tuple[Claim, ...]) -> "Figure":
    """Lead of the linearization against index, and where the curves cross.

    Args:
        results: Of a run.
        judged: Its claims, among them perhaps a crossing.

    Returns:
        The figure.
    """
    use = results.usable.all(axis=0)
    gap = 100 * (results.linearized.accuracy - results.network.accuracy)[:, use]
    number, mean = results.index[use] + 1, gap.mean(axis=0)
    with style():
        figure = _figure(_WIDTH, 3.6)
        ax = figure.subplots()
        ax.axhline(0, color=INK, linewidth=1.0)
        _shade(ax, number, mean)
        if len(gap) > 1:
            low, high = mean_interval(gap)
            ax.vlines(number, low, high, color=MUTED, alpha=0.5, linewidth=3)
        ax.plot(number, mean, "o-", color=INK, markersize=4.5, linewidth=1.4)
        _mark_crossing(ax, judged)
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.set_xlabel("eigenfunction number  (1 = leading, log scale)")
        ax.set_ylabel("points of accuracy")
        ax.set_title("Lead of the linearization over the network")
        return figure


def approximation_figure(results: Results) -> "Figure":
    """How far predictions differ against how far the network's weights went.

    Args:
        results: Of a run.

    Returns:
        The figure, a dot for each task and seed.
    """
    use = results.usable & (results.index > 0)[None]
    number = np.broadcast_to(results.index + 1, use.shape)[use]
    with style():
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import LogNorm

        figure = _figure(_WIDTH, 3.9)
        axes = figure.subplots(1, 2)
        panels = {
            "difference of probabilities": results.probability_gap,
            "share of other labels": results.disagreement,
        }
        norm = LogNorm(1, max(2, number.max(initial=1)))
        for ax, (name, values) in zip(axes, panels.items(), strict=True):
            distance = results.network.distance[use]
            ax.scatter(distance, values[use], c=number, norm=norm, cmap=_COLORS, s=30)
            ax.set_ylim(bottom=0)
            ax.set_title(name, fontsize=11)
            ax.set_xlabel("distance of the network ‖θ − θ₀‖")
        bar = figure.colorbar(ScalarMappable(norm, _COLORS), ax=axes, pad=0.02)
        bar.set_label("eigenfunction number")
        bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        bar.ax.yaxis.set_minor_formatter(lambda value, _: "")
        return figure


def _shade(ax: "Axes", number: np.ndarray, mean: np.ndarray) -> None:
    if len(number) < 2:
        return
    fine = np.geomspace(number[0], number[-1], 1000)  # straight on a log scale
    drawn = np.interp(np.log(fine), np.log(number), mean)
    for part, color in (
        (np.maximum(drawn, 0), LINEARIZED),
        (np.minimum(drawn, 0), NETWORK),
    ):
        ax.fill_between(fine, 0, part, color=color, alpha=0.18, linewidth=0)


def _mark_crossing(ax: "Axes", judged: tuple[Claim, ...]) -> None:
    found = [
        finding.estimate
        for claim in judged
        for finding in claim.findings
        if finding.name == "crossing" and np.isfinite(finding.estimate.value)
    ]
    for where in found:
        ax.axvspan(where.low + 1, where.high + 1, color=MUTED, alpha=0.15, linewidth=0)
        ax.axvline(where.value + 1, color=MUTED, linestyle=(0, (4, 2)))
        ax.annotate(
            f"crossing at {where.value:.0f}",
            (where.value + 1, 0.98),
            xycoords=("data", "axes fraction"),
            xytext=(-6, 0),
            textcoords="offset points",
            va="top",
            ha="right",
            fontsize=9,
            color=MUTED,
        )


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
