"""The figures of the size study."""

from typing import TYPE_CHECKING

import numpy as np

from ...analysis import Claim, mean_interval
from ...report.claim_figures import verdict_strip
from ...report.style import INK, LINEARIZED, NETWORK, style
from ..stages.naming import subject
from ..stages.panels import COLORS, new_figure
from .results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def gap_figure(results: Results, claims: tuple[Claim, ...]) -> "Figure":
    """Lead of the network against the number of training samples, and what follows.

    Args:
        results: Of a run.
        claims: With their verdicts.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure(4.4 + 0.62 * len(claims))
        heights = (4.0, 0.62 * len(claims))
        top, bottom = figure.subplots(2, 1, height_ratios=heights)
        top.axhline(0, color=INK, linewidth=1.0)
        for place, task in enumerate(results.tasks):
            color = INK if place == 0 else COLORS[place - 1]
            _gap(top, results, place, color, task)
        _size_axis(top, results)
        top.set_ylabel("points of accuracy")
        top.legend(loc="best")
        name = subject(results.model, results.data)
        top.set_title(f"{name}: lead of the network over its linearization")
        # The lead at each size is drawn above, and p-values of the first task suffice.
        shown = [c._replace(findings=c.findings[:3], remark="") for c in claims]
        shown[-1] = shown[-1]._replace(findings=claims[-1].findings[:2])
        verdict_strip(bottom, shown)
        return figure


def accuracy_figure(results: Results) -> "Figure":
    """Accuracy of both models against the number of training samples, task by task.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure(3.6)
        axes = figure.subplots(1, len(results.tasks), sharey=True, squeeze=False)[0]
        for place, (ax, task) in enumerate(zip(axes, results.tasks, strict=True)):
            ax.set_title(task, fontsize=11)
            for values, color, marker, name in (
                (results.linearized, LINEARIZED, "s", "linearization"),
                (results.network, NETWORK, "o", "network"),
            ):
                _curve(ax, results.sizes, values[..., place], color, marker, name)
            _size_axis(ax, results)
            ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        if results.long is not None:
            _mark_long(axes[0], results)
        axes[0].set_ylabel("test accuracy")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=3)
        return figure


def _gap(ax: "Axes", results: Results, place: int, color: str, task: str) -> None:
    usable = results.usable[:, :, place].all(axis=1)
    gap = 100 * results.gap[usable, :, place]
    if not len(gap):
        return
    if len(gap) > 1:
        for row in gap:
            ax.plot(results.sizes, row, color=color, alpha=0.22, linewidth=0.9)
    width = 2.4 if place == 0 else 1.8
    line = ax.plot(results.sizes, gap.mean(axis=0), "o-", color=color, label=task)
    line[0].set_linewidth(width)


def _curve(
    ax: "Axes",
    sizes: tuple[int, ...],
    values: np.ndarray,
    color: str,
    marker: str,
    name: str,
) -> None:
    low, high = mean_interval(values)
    if np.isfinite(low).all():
        ax.vlines(sizes, low, high, color=color, alpha=0.35, linewidth=4, zorder=1)
    ax.plot(
        sizes,
        values.mean(axis=0),
        color=color,
        marker=marker,
        markersize=5.5,
        markerfacecolor=color if marker == "o" else "white",
        markeredgewidth=1.6,
        label=name,
    )


def _mark_long(ax: "Axes", results: Results) -> None:
    assert results.long is not None
    ax.plot(
        results.sizes[-1],
        results.long.mean(),
        "*",
        color=LINEARIZED,
        markersize=12,
        markeredgecolor="white",
        label=f"linearization, {results.epochs[1]:,} epochs",
    )


def _size_axis(ax: "Axes", results: Results) -> None:
    sizes = results.sizes
    ax.set_xscale("log")
    ax.set_xlim(sizes[0] / 1.25, sizes[-1] * 1.25)
    shown = [size for size in sizes if _apart(size, sizes)]
    ax.set_xticks(shown, [_short(size) for size in shown])
    ax.minorticks_off()
    ax.set_xlabel("training samples")


def _apart(size: int, sizes: tuple[int, ...]) -> bool:
    """Whether a tick has room: the last, and those well before the next."""
    later = [other for other in sizes if other > size]
    return not later or later[0] >= 1.4 * size


def _short(size: int) -> str:
    return f"{size / 1000:g}k" if size >= 1000 else str(size)
