"""The figures of the landscapes experiment."""

from typing import TYPE_CHECKING

import numpy as np

from ...analysis import accuracy_interval
from ...report.style import INK, MUTED, NETWORK, style
from ...store import Run
from ..stages.panels import COLORS, curve_with_spread, new_figure, plain_ticks
from .claims import FITTED, Measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DASHES = (0, (4, 2))


def minimum_figure(run: Run, measured: Measured) -> "Figure":
    """The bad minimum of one unit, and how often sums of units are stuck.

    Args:
        run: A finished run.
        measured: Its numbers.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure()
        left, right = figure.subplots(1, 2)
        _draw_unit(left, measured)
        _draw_stuck(right, run)
        return figure


def student_figure(run: Run) -> "Figure":
    """How often students find the global minimum, and where they end, by width.

    Args:
        run: A finished run.

    Returns:
        The figure.
    """
    losses, widths = run.arrays("students")["losses"], run.config.student_widths
    shares = (losses < FITTED).mean(axis=1)
    low, high = accuracy_interval(shares, losses.shape[1])
    with style():
        figure = new_figure()
        left, right = figure.subplots(1, 2)
        left.vlines(widths, low, high, color=COLORS[0], linewidth=4, alpha=0.35)
        left.plot(widths, shares, "o-", color=COLORS[0])
        left.set(xscale="log", ylim=(0, 1.04))
        left.set_ylabel("share of starts that fit")
        left.set_title("wide networks succeed", fontsize=11)
        spread = np.exp(np.random.default_rng(0).uniform(-0.08, 0.08, losses.shape))
        places = np.array(widths)[:, None] * spread
        shown = np.maximum(losses, 1e-16)
        right.loglog(places, shown, ".", color=COLORS[0], alpha=0.25, markersize=4)
        dots = {"color": MUTED, "linewidth": 1.2, "linestyle": (0, (1, 2))}
        right.axhline(FITTED, label="fits below", **dots)
        right.legend(loc="lower right")
        right.set_ylabel("loss at the end, relative")
        right.set_title("where each start ends", fontsize=11)
        for ax in (left, right):
            ax.set_xlabel("hidden units")
            plain_ticks(ax, widths)
        return figure


def network_figure(run: Run, measured: Measured) -> "Figure":
    """Descents of deep linear networks, one panel a depth.

    Args:
        run: A finished run.
        measured: Its numbers.

    Returns:
        The figure.
    """
    losses = run.arrays("networks")["losses"]
    steps = np.linspace(0, run.config.network_steps, losses.shape[-1])
    steps[0] = steps[1] / 3  # a logarithmic axis has no 0
    with style():
        figure = new_figure(3.6)
        axes = figure.subplots(1, len(losses), sharey=True, squeeze=False)[0]
        for ax, row in zip(axes, range(len(losses)), strict=True):
            above = losses[row] / measured.minimum[row] - 1
            above = np.maximum(above, 1e-13)
            for line, done in zip(above, measured.converged[row], strict=True):
                color = COLORS[0] if done else MUTED
                ax.loglog(steps, line, color=color, alpha=0.45, linewidth=1.1)
            num = int(measured.converged[row].sum())
            title = f"{run.config.depths[row]} layers: {num} of {len(above)} converged"
            ax.set_title(title, fontsize=11)
            ax.set_xlabel("step of gradient descent")
        axes[0].set_ylabel("loss above the global\nminimum, relative")
        return figure


def speed_figure(run: Run) -> "Figure":
    """Time to leave a saddle against depth, and small gradients against steps.

    Args:
        run: A finished run.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure()
        left, right = figure.subplots(1, 2)
        _draw_escape(left, run)
        _draw_gradients(right, run)
        return figure


def _draw_unit(ax: "Axes", measured: Measured) -> None:
    grid = np.linspace(-2.6, 2.6, 300)
    ax.plot(grid, _loss(grid), color=INK)
    stuck = measured.starts < 0
    kinds = ((stuck, NETWORK, "never moves"), (~stuck, COLORS[0], "ends at 1"))
    for some, color, name in kinds:
        starts = measured.starts[some]
        label = f"{len(starts)} starts: {name}"
        ax.plot(starts, _loss(starts), "o", color=color, markersize=5, label=label)
    ax.set(xlabel="weight $w$", ylabel="loss of one ReLU unit")
    ax.set_title("a flat minimum that is not global", fontsize=11)
    ax.legend()


def _draw_stuck(ax: "Axes", run: Run) -> None:
    saved, units = run.arrays("stuck"), np.array(run.config.units)
    low, high = accuracy_interval(saved["shares"], run.config.num_draws)
    ax.plot(units, saved["expected"], color=MUTED, linestyle=_DASHES, label="$2^{-m}$")
    ax.vlines(units, low, high, color=NETWORK, linewidth=4, alpha=0.35)
    ax.plot(units, saved["shares"], "o", color=NETWORK, label="measured")
    ax.set_yscale("log")
    ax.set(xlabel="ReLU units $m$", ylabel="share of starts that are stuck")
    ax.set_title("width helps", fontsize=11)
    ax.set_xticks(units)
    ax.legend()


def _draw_escape(ax: "Axes", run: Run) -> None:
    saved, depths = run.arrays("escape"), run.config.chain_depths
    for column, start in enumerate(run.config.chain_starts):
        color = COLORS[column % len(COLORS)]
        ax.semilogy(depths, saved["expected"][:, column], color=color, linewidth=1.4)
        label = f"from $w_i$ = {start:g}"
        ax.semilogy(depths, saved["measured"][:, column], "o", color=color, label=label)
    ax.set(xlabel="depth of the chain", ylabel="time to leave the saddle")
    ax.set_title("deeper saddles hold longer (lines: theory)", fontsize=11)
    ax.set_xticks(depths)
    ax.legend()


def _draw_gradients(ax: "Axes", run: Run) -> None:
    saved, steps = run.arrays("sgd"), run.config.sgd_steps
    ax.set(xscale="log", yscale="log", xlabel="steps of SGD")
    options = {"color": COLORS[1], "linestyle": _DASHES, "label": "bound"}
    ax.plot(steps, saved["bounds"], **options)
    options = {"color": COLORS[1], "marker": "o", "label": "measured"}
    curve_with_spread(ax, steps, saved["measured"].T, **options)
    ax.set_ylabel(r"best mean $\|\nabla F\|^2$")
    ax.set_title("gradients become small", fontsize=11)
    plain_ticks(ax, steps[::2] if len(steps) > 4 else steps)
    ax.legend()


def _loss(w: np.ndarray) -> np.ndarray:
    return (np.maximum(w, 0) - 1) ** 2 / 2
