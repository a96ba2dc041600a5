"""Figures of several panels, in one size and look."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 9.6
"""Of every figure, in inches."""

COLORS = ("#0f766e", "#7e22ce", "#a16207", "#0e7490", "#be185d", "#475569")
"""For what is neither the network nor its linearization."""


def new_figure(height: float = 3.9, width: float = WIDTH) -> "Figure":
    """An empty figure, independent of any window.

    Args:
        height: In inches.
        width: In inches.

    Returns:
        The figure; use it inside `style()`.
    """
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def curve_with_spread(
    ax: "Axes",
    x: Sequence[float | int] | np.ndarray,
    values: np.ndarray,
    within: tuple[float | int, float | int] = (-np.inf, np.inf),
    /,
    **options: Any,
) -> None:
    """Means over draws with Student's 95 % intervals.

    On an axis that is logarithmic already these are of the logarithms.

    Args:
        ax: Where to draw.
        x: One place a column.
        values: One row per draw.
        within: Between which numbers all values lie, such as 0 and 1; intervals end
            there.
        **options: Of the line.
    """
    rows = np.asarray(values, float)
    if is_log := ax.get_yscale() == "log":
        rows = np.log(rows)
    curves = np.concatenate([rows.mean(axis=0)[None], mean_interval(rows)])
    center, low, high = np.exp(curves) if is_log else curves
    (line,) = ax.plot(x, center, **options)
    if np.isfinite(low).all():
        ends = np.clip([low, high], *within)
        color = line.get_color()
        ax.fill_between(x, *ends, color=color, alpha=0.18, linewidth=0)


def plain_ticks(ax: "Axes", values: Sequence[float | int] | np.ndarray) -> None:
    """Write the numbers of a logarithmic axis below it as they are.

    Args:
        ax: Whose x axis.
        values: Where ticks are.
    """
    ax.set_xticks([*values], [f"{value:,g}" for value in values])
    ax.minorticks_off()
