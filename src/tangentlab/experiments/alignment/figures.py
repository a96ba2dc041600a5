"""The figures of the alignment experiment."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.style import INK, MUTED, NETWORK, style
from ..stages.axes import plain_numbers
from ..stages.panels import COLORS, curve_with_spread, new_figure
from .computing import Reading
from .results import Measured, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS: dict[Reading, str] = {"all": NETWORK, "subset": COLORS[0]}


def alignment_figure(results: Results) -> "Figure":
    """Alignment in three normalizations, and energy concentration, along training.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure(6.6)
        axes = figure.subplots(2, 2, sharex=True)
        shown = {
            "alignment $n^{-2}\\, y^\\top \\Theta\\, y$": "alignment",
            "over the mean diagonal of $\\Theta$": "normalized",
            "centered, over Frobenius norms": "centered",
        }
        for ax, (title, field) in zip(axes.ravel(), shown.items(), strict=False):
            for reading, found in results.measured.items():
                _curve(ax, results, reading, getattr(found, field))
            ax.set_title(title, fontsize=11)
        axes[0, 0].set_yscale("log")
        plain_numbers(axes[0, 0].yaxis)
        axes[0, 1].set_ylim(0, None)
        _permuted(axes[1, 0], results)
        _concentration(axes[1, 1], results)
        for ax in axes.ravel():
            _epochs(ax, results)
        for ax in axes[1]:
            ax.set_xlabel("epoch")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2)
        return figure


def motion_figure(results: Results) -> "Figure":
    """How far the kernel turned, how fast, and its effective rank.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure(3.6)
        axes = figure.subplots(1, 3)
        for reading, found in results.measured.items():
            _curve(axes[0], results, reading, found.distance)
            _velocity(axes[1], results, reading, found)
            _curve(axes[2], results, reading, found.participation_ratio)
        titles = ("distance from the start", "distance per epoch", "effective rank")
        for ax, title in zip(axes, titles, strict=True):
            ax.set_title(title, fontsize=11)
            _epochs(ax, results)
            ax.set_xlabel("epoch")
        axes[0].set_ylim(0, None)
        axes[1].set_yscale("log")
        plain_numbers(axes[1].yaxis)
        axes[2].set_ylim(0, None)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2)
        return figure


def rise_figure(results: Results) -> "Figure":
    """The rise of the labels' alignment among that of permuted labels.

    Args:
        results: Of a run.

    Returns:
        The figure; of the first seed.
    """
    with style():
        figure = new_figure(3.2)
        axes = figure.subplots(1, len(results.measured), squeeze=False)[0]
        for ax, (reading, found) in zip(axes, results.measured.items(), strict=True):
            permuted = np.exp(found.permuted_log_rises[0])
            rise = float(np.exp(found.log_rise[0]))
            edges = np.geomspace(permuted.min(), permuted.max(), 25)
            bars = {"color": MUTED, "alpha": 0.6, "edgecolor": "white"}
            ax.hist(permuted, edges, label="permuted labels", **bars)
            ax.axvline(rise, color=_COLORS[reading], linewidth=2.5, label="the labels")
            ax.set_xscale("log")
            plain_numbers(ax.xaxis)
            ax.set_title(_name(found), fontsize=11)
            ax.set_xlabel("rise of the centered alignment")
        axes[0].set_ylabel("label vectors")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2)
        return figure


def _curve(ax: "Axes", results: Results, reading: Reading, values: np.ndarray) -> None:
    label = _name(results.measured[reading])
    options = {"color": _COLORS[reading], "marker": "o", "markersize": 4}
    curve_with_spread(ax, results.epoch, values, label=label, **options)


def _velocity(ax: "Axes", results: Results, reading: Reading, found: Measured) -> None:
    """A speed belongs to the time between two measurements."""
    middle = (results.epoch[1:] + results.epoch[:-1]) / 2
    options = {"color": _COLORS[reading], "marker": "o", "markersize": 4}
    curve_with_spread(ax, middle, found.velocity[:, 1:], **options)


def _permuted(ax: "Axes", results: Results) -> None:
    permuted = next(iter(results.measured.values())).permuted.mean(axis=0)
    low, high = np.quantile(permuted, [0.0, 1.0], axis=-1)
    ax.fill_between(results.epoch, low, high, color=MUTED, alpha=0.35, linewidth=0)
    ax.annotate(
        "permuted labels",
        (results.epoch[-1], high[-1]),
        xytext=(0, 3),
        textcoords="offset points",
        ha="right",
        fontsize=9,
        color=MUTED,
    )
    ax.set_ylim(0, None)


def _concentration(ax: "Axes", results: Results) -> None:
    for reading, found in results.measured.items():
        _curve(ax, results, reading, found.concentration)
        squared = (found.concentration**2).mean(axis=0)
        ax.plot(
            results.epoch,
            squared,
            color=_COLORS[reading],
            linestyle=(0, (3, 2)),
            linewidth=1.5,
        )
    ax.axhline(results.chance, color=MUTED, linewidth=1.2, linestyle=(0, (1, 2)))
    ax.annotate(
        "chance",
        (1.0, results.chance),
        xycoords=("axes fraction", "data"),
        xytext=(-2, 3),
        textcoords="offset points",
        ha="right",
        fontsize=9,
        color=MUTED,
    )
    if results.published is not None:
        ends = [results.published.begin, results.published.end]
        ax.plot(
            results.epoch[[0, -1]], ends, "*", color=INK, markersize=12, clip_on=False
        )
    ax.set_ylim(0, 1.02)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    ax.set_title(f"labels in {results.num_modes} eigenvectors", fontsize=11)


def _epochs(ax: "Axes", results: Results) -> None:
    """A logarithmic axis that has a 0."""
    from matplotlib.ticker import NullLocator

    last = int(results.epoch[-1])
    ax.set_xscale("symlog", linthresh=1)
    ticks = [t for t in (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if t <= last]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(-0.15, last * 1.15)


def _name(found: Measured) -> str:
    return f"trained on {found.num_train:,} samples"
