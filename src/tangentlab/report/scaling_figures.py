"""Power laws on logarithmic axes: what was measured, the fit, and the theorem."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from ..analysis import Estimate
from .style import MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#1d4ed8", "#c2410c", "#15803d", "#7e22ce", "#0e7490", "#be185d")
"""Of curves that are told apart by their legend."""
MARKERS = "osD^vP"
"""Likewise."""

_MOST_TICKS = 8
_DASHES = ((5.0, 2.0), (1.5, 1.5), (8.0, 1.0))


@dataclass(frozen=True)
class Scaling:
    """A number that falls or grows with another.

    Attributes:
        name: Of the curve.
        x: Widths, scales or times.
        values: A row for each seed.
        slope: The fitted exponent.
        theorem: The exponent that is expected, by a theorem or not; None for none.
        theorem_name: What the legend calls it, such as `theorem: slope −1/2`.
        digits: Of the slope in the legend.
    """

    name: str
    x: Float[np.ndarray, " k"]
    values: Float[np.ndarray, "s k"]
    slope: Estimate
    theorem: float | None = None
    theorem_name: str = ""
    digits: int = 2


def scalings(ax: "Axes", shown: tuple[Scaling, ...], *, guide: float = 0.55) -> None:
    """Draw power laws with their fits, intervals and theorems.

    Small dots are seeds, large markers their geometric mean, bands the interval of the
    slope, and gray dashes a theorem's slope, moved down so that both can be seen.

    Args:
        ax: Where to draw.
        shown: The curves.
        guide: Factor by which a theorem's line is moved.
    """
    for number, each in enumerate(shown):
        _curve(ax, each, COLORS[number % len(COLORS)], MARKERS[number % len(MARKERS)])
    seen: list[float] = []
    for each in shown:
        if each.theorem is not None:
            label = None if each.theorem in seen else _theorem(each)
            seen += [] if each.theorem in seen else [each.theorem]
            dashes = _DASHES[seen.index(each.theorem) % len(_DASHES)]
            _guide(ax, each, guide, label, dashes)
    ax.set_xscale("log")
    ax.set_yscale("log")
    places = np.unique(np.concatenate([each.x for each in shown]))
    if len(places) <= _MOST_TICKS:
        ax.set_xticks(places, [f"{place:,.6g}" for place in places])
        ax.set_xticks([], minor=True)


def slope_text(estimate: Estimate, digits: int = 2) -> str:
    """A slope and its interval.

    Args:
        estimate: Of the slope.
        digits: After the point.

    Returns:
        Such as `−0.50 [−0.52, −0.48]`.
    """
    numbers = (estimate.value, estimate.low, estimate.high)
    value, low, high = (f"{number:.{digits}f}".replace("-", "−") for number in numbers)
    return f"{value} [{low}, {high}]"


def _curve(ax: "Axes", each: Scaling, color: str, marker: str) -> None:
    logs = np.log(each.values)
    center = np.exp(logs.mean(axis=0))
    x = np.tile(each.x, len(each.values))
    ax.plot(x, each.values.ravel(), ".", color=color, alpha=0.25, markersize=4)
    ax.plot(
        each.x,
        center,
        marker,
        color=color,
        markerfacecolor="white",
        markeredgewidth=1.7,
        label=f"{each.name}: slope {slope_text(each.slope, each.digits)}",
    )
    low, fit, high = (
        _line(each, logs, s)
        for s in (each.slope.low, each.slope.value, each.slope.high)
    )
    ax.fill_between(
        each.x,
        np.minimum(low, high),
        np.maximum(low, high),
        color=color,
        alpha=0.18,
        linewidth=0,
    )
    ax.plot(each.x, fit, color=color, linewidth=1.6)


def _line(each: Scaling, logs: np.ndarray, slope: float) -> np.ndarray:
    around = np.log(each.x) - np.log(each.x).mean()
    return np.exp(logs.mean() + slope * around)


def _guide(
    ax: "Axes",
    each: Scaling,
    factor: float,
    label: str | None,
    dashes: tuple[float, float],
) -> None:
    assert each.theorem is not None
    line = factor * _line(each, np.log(each.values), each.theorem)
    ax.plot(
        each.x, line, color=MUTED, linestyle=(0, dashes), linewidth=1.4, label=label
    )


def _theorem(each: Scaling) -> str:
    slope = f"{each.theorem:g}".replace("-", "−")
    return each.theorem_name or f"theorem: slope {slope}"
