"""The figures of the rotation experiment."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.style import INK, LINEARIZED, MUTED, NETWORK, style
from ...store import Run
from ..stages.axes import index_axis, plain_numbers
from ..stages.panels import new_figure
from .results import Quotients, Results, read_quotients

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PARTS = {"train": "training samples", "test": "test samples", "all": "all samples"}


def alignment_figure(run: Run, results: Results) -> "Figure":
    """Energy of the kernel along all eigenfunctions, before and after.

    As Figures 6 and 7 of the paper's supplement; of the first seed.

    Args:
        run: The run.
        results: Its results.

    Returns:
        The figure: a row for each of up to three tasks.
    """
    from matplotlib.lines import Line2D

    usable = np.flatnonzero(results.usable[0])
    places = usable if len(usable) else np.arange(len(results.index))
    some = np.linspace(0, len(places) - 1, min(3, len(places))).round().astype(int)
    shown = results.index[places[some]]
    with style():
        figure = new_figure(2.5 * len(shown) + 0.6)
        axes = figure.subplots(len(shown), 3, sharex=True, sharey=True, squeeze=False)
        for ax, title in zip(axes[0], _PARTS.values(), strict=True):
            ax.set_title(title, fontsize=11)
        for row, index in zip(axes, shown, strict=True):
            for ax, part in zip(row, _PARTS, strict=True):
                found = read_quotients(run, results.seeds[0], int(index), part)
                _energies(ax, found, int(index))
            row[0].set_ylabel(f"learned: {index + 1}\n$v_k^\\top \\Theta\\, v_k$")
        for ax in axes[-1]:
            ax.set_xlabel("eigenfunction number $k$")
        handles, labels = axes[0][0].get_legend_handles_labels()
        legend = figure.legend(handles, labels, loc="outside upper left", ncols=3)
        for handle in legend.legend_handles:
            if isinstance(handle, Line2D):
                handle.set_markersize(8)  # a point of the cloud could not be seen
        return figure


def _energies(ax: "Axes", found: Quotients, index: int) -> None:
    number = np.arange(1, len(found.before) + 1)
    clouds = {
        "before training": (found.before, MUTED),
        "after training": (found.after, LINEARIZED),
    }
    for label, (values, color) in clouds.items():
        ax.plot(
            number,
            values,
            ".",
            color=color,
            markersize=2.8,
            markeredgewidth=0,
            label=label,
            rasterized=len(number) > 2000,
        )
    if index < len(number):
        ax.plot(
            index + 1,
            found.after[index],
            "o",
            color=NETWORK,
            markersize=7,
            label="the one that was learned",
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")


def growth_figure(results: Results) -> "Figure":
    """Growth along the learned eigenfunction among that of its neighbors.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure()
        axes = figure.subplots(1, 3, sharey=True)
        for ax, (part, title) in zip(axes, _PARTS.items(), strict=True):
            ax.set_title(title, fontsize=11)
            if results.used.any():
                _growth(ax, results, part)
            ax.set_xlabel("eigenfunction learned")
        axes[0].set_ylabel("growth over that of\nthe median neighbor")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=3)
        return figure


def _growth(ax: "Axes", results: Results, part: str) -> None:
    turned, number = results.turned[part], results.index + 1
    use = results.used
    low, high, top = turned.neighbors.mean(axis=0)[use].T
    ax.axhline(1, color=MUTED, linewidth=1.0)
    ax.vlines(
        number[use],
        low,
        high,
        color=MUTED,
        linewidth=7,
        alpha=0.35,
        label="its neighbors, 5 to 95 %",
    )
    ax.plot(
        number[use], top, "_", color=INK, markersize=9, label="the largest of these"
    )
    own = turned.neighbor_score[:, use]
    across = np.broadcast_to(number[use], own.shape)
    ax.plot(
        across.ravel(),
        own.ravel(),
        "o",
        color=NETWORK,
        markersize=5 if len(own) == 1 else 4,
        label="the one that was learned",
    )
    ax.set_yscale("log")
    plain_numbers(ax.yaxis)
    index_axis(ax, results.index[use])
