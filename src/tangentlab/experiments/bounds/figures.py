"""The figures of the bounds experiment."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.style import INK, MUTED, NETWORK, style
from ...store import Run
from ..stages.panels import COLORS, curve_with_spread, new_figure, plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BOUND = COLORS[1]


def size_figure(run: Run) -> "Figure":
    """Bound and error against the number of samples, true labels.

    Args:
        run: A finished run.

    Returns:
        The figure.
    """
    with style():
        figure, axes = _panels(run)
        sizes = sorted(run.config.sizes)
        order = np.argsort(run.config.sizes)
        for number, ax in enumerate(axes):
            saved = run.arrays(f"case-{number}")["by_size"][:, order]
            _bound_and_error(ax, sizes, saved)
            ax.set_xscale("log")
            plain_ticks(ax, sizes)
            ax.set_xlabel("training samples")
        _finish(figure, axes, "true labels")
        return figure


def share_figure(run: Run) -> "Figure":
    """Bound and error against the share of random labels.

    Args:
        run: A finished run.

    Returns:
        The figure.
    """
    with style():
        figure, axes = _panels(run)
        shares = 100 * np.array(run.config.corruptions)
        for number, ax in enumerate(axes):
            saved = run.arrays(f"case-{number}")["by_share"]
            _bound_and_error(ax, shares, saved)
            ax.axhline(0.5, color=MUTED, linewidth=1.2, linestyle=(0, (1, 2)))
            ax.annotate(
                "chance", (0.4, 0.5), (0, 3), color=MUTED, fontsize=9, ha="center",
                xycoords=("axes fraction", "data"), textcoords="offset points",
            )  # fmt: skip
            ax.set_xlabel("random labels (%)")
        num = max(run.config.sizes)
        _finish(figure, axes, f"{num:,} training samples")
        return figure


def label_figure(run: Run) -> "Figure":
    """What true labels cost, among shuffled ones.

    Args:
        run: A finished run.

    Returns:
        The figure.
    """
    with style():
        figure, axes = _panels(run, height=3.0)
        for number, ax in enumerate(axes):
            saved = run.arrays(f"case-{number}")
            true, shuffled = (saved[f"{kind}_labels"] for kind in ("true", "shuffled"))
            ax.hist(shuffled[0, 0], bins=18, color=COLORS[5], label="shuffled labels")
            ax.axvline(true[0, 0], color=NETWORK, linewidth=2.6, label="true labels")
            ax.set_xlim(0, 1.06 * shuffled[0, 0].max())
            ax.locator_params("x", nbins=5)
            ax.xaxis.set_major_formatter("{x:,.0f}")
            ax.set_xlabel(r"$Y^\top H^{-1} Y$")
        axes[0].set_ylabel("label vectors")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2)
        return figure


def _panels(run: Run, height: float = 3.9) -> "tuple[Figure, list[Axes]]":
    figure = new_figure(height)
    count = len(run.config.cases)
    axes = [*figure.subplots(1, count, squeeze=False)[0]]
    for ax, name in zip(axes, run.config.cases, strict=True):
        ax.set_title(name, fontsize=11)
    return figure, axes


def _bound_and_error(ax: "Axes", x, saved: np.ndarray) -> None:
    bound, leading, error = np.moveaxis(saved, -1, 0)
    ax.axhspan(1, 1e3, color=MUTED, alpha=0.10, linewidth=0)
    curve_with_spread(ax, x, bound, color=_BOUND, marker="D", label="bound")
    curve_with_spread(
        ax, x, leading, color=_BOUND, linestyle=(0, (4, 2)), linewidth=1.4,
        label=r"its leading term, $2 B \sqrt{\mathrm{tr}\,H} / n$",
    )  # fmt: skip
    options = {"color": INK, "marker": "o", "label": "test error"}
    curve_with_spread(ax, x, error, (0, 1), **options)
    # Linear up to 1, where errors live; logarithmic above, where bounds say nothing.
    ax.set_yscale("symlog", linthresh=1, linscale=2.2)
    ticks = [0, 0.25, 0.5, 0.75, 1, 2, 5, 10, 20]
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_ylim(-0.03, 20)
    ax.text(
        0.98, 1.06, "says nothing", color=MUTED, fontsize=9, ha="right",
        transform=ax.get_yaxis_transform(), va="bottom",
    )  # fmt: skip


def _finish(figure: "Figure", axes: "list[Axes]", what: str) -> None:
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper left", ncols=3)
    axes[0].set_ylabel(f"error, {what}")
