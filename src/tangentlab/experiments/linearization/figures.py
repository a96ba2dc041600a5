"""Figures of the linearization experiment."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.scaling_figures import COLORS, MARKERS, Scaling, scalings, slope_text
from ...report.style import INK, MUTED, style
from ...store import Run
from ..stages.scaling import slope
from .claims import Results, relu_slope

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def quality(run: Run) -> "Figure":
    """Relative error against distance, and against width.

    Args:
        run: A finished run.

    Returns:
        The figure.
    """
    config = run.config
    with style():
        figure = _figure(10.4, 4.8)
        left, right = figure.subplots(1, 2)
        distances = np.array(config.distances)
        shades = _shades(len(config.widths))
        gaps = [_gaps(run, config.depths[0], width) for width in config.widths]
        middles = [np.exp(np.log(each).mean(axis=0)) for each in gaps]
        heights = _apart([middle[-1] for middle in middles])
        rows = zip(config.widths, middles, heights, shades, strict=True)
        for width, middle, height, color in rows:
            left.loglog(distances, middle, "o-", color=color, markersize=4.5)
            _end_label(left, distances[-1], height, f"{width:,}", color)
        left.set_xlim(right=1.9 * distances[-1])
        left.set_xlabel("distance that parameters moved")
        left.set_ylabel("error over change of outputs")
        left.set_title(f"Hidden layers: {config.depths[0]}; by width")
        place = _middle_distance(config.distances)
        widths = np.array(config.widths, float)
        shown = []
        for number, depth in enumerate(config.depths):
            all_gaps = [_gaps(run, depth, width)[:, place] for width in config.widths]
            gaps = np.stack(all_gaps, axis=1)
            name = f"{depth} hidden"
            theorem = -0.5 if number == 0 else None
            fitted, text = slope(widths, gaps), "theorem, at worst: slope −1/2"
            shown.append(Scaling(name, widths, gaps, fitted, theorem, text))
        scalings(right, tuple(shown))
        right.set_xlabel("width")
        right.set_title(f"After a distance of {config.distances[place]:g}, by depth")
        right.legend(fontsize=9)
        return figure


def smooth(run: Run, results: Results) -> "Figure":
    """What the adversary reached of the smooth bound.

    Args:
        run: A finished run.
        results: Its results.

    Returns:
        The figure.
    """
    with style():
        count = len(results.smooth)
        figure = _figure(3.6 * count + 0.6, 4.0)
        axes = figure.subplots(1, count, sharey=True, squeeze=False)[0]
        radii = np.array(run.config.smooth_radii)
        shades = _shades(len(run.config.smooth_widths))
        for ax, (name, ratios) in zip(axes, results.smooth.items(), strict=True):
            for number, width in enumerate(run.config.smooth_widths):
                at = ratios[:, number]
                ax.plot(
                    np.tile(radii, len(at)),
                    at.ravel(),
                    ".",
                    color=shades[number],
                    alpha=0.3,
                )
                marker = MARKERS[number % len(MARKERS)]
                ax.plot(
                    radii,
                    at.max(axis=0),
                    marker + "-",
                    color=shades[number],
                    label=f"width {width:,}",
                )
            ax.axhline(1, color=INK, linewidth=1.6)
            ax.set_xscale("log")
            ax.set_ylim(0, 1.08)
            ax.set_xlabel("radius of the ball")
            ax.set_title(name)
        axes[0].annotate(
            "the bound",
            (radii[-1], 1.0),
            xytext=(0, 4),
            textcoords="offset points",
            ha="right",
            fontsize=9.5,
        )
        axes[0].set_ylabel("error found over bound")
        axes[-1].legend(loc="lower left")
        return figure


def relu(run: Run, results: Results) -> "Figure":
    """The worst error of ReLU networks beside its bound.

    Args:
        run: A finished run.
        results: Its results.

    Returns:
        The figure.
    """
    with style():
        figure = _figure(8.4, 4.8)
        ax = figure.subplots()
        widths = results.relu_widths
        plain = slope(widths, results.relu_gaps)
        shown = Scaling(
            "worst error",
            widths,
            results.relu_gaps,
            plain,
            -1 / 6,
            "theorem: slope −1/6",
            digits=3,
        )
        scalings(ax, (shown,), guide=0.8)
        ax.plot(
            widths,
            results.relu_bounds,
            color=COLORS[1],
            marker="s",
            label=f"bound, probability {1 - results.failure:g}",
        )
        trivial = run.config.radius
        ax.axhline(trivial, color=MUTED, linewidth=1.2, linestyle=(0, (1, 2)))
        ax.annotate(
            "never above the radius",
            (widths[-1], trivial),
            xytext=(0, 4),
            textcoords="offset points",
            ha="right",
            color=MUTED,
            fontsize=9.5,
        )
        ax.set_xlabel("width m")
        ax.set_ylabel(f"linearization error within {trivial:g} of the start")
        text = slope_text(relu_slope(results), 3)
        ax.set_title(f"Slope of the limit of large widths: {text}")
        ax.legend(loc="lower left")
        return figure


def _gaps(run: Run, depth: int, width: int) -> np.ndarray:
    return run.arrays(f"quality-{depth}-{width}")["gaps"]


def _middle_distance(distances: tuple[float, ...]) -> int:
    return int(np.argmin(np.abs(np.log(np.array(distances)))))


def _apart(heights: list[float], factor: float = 1.42) -> list[float]:
    """Heights of labels on a logarithmic axis, moved down where they would overlap."""
    moved = list(heights)
    order = np.argsort(heights)[::-1]
    for above, below in zip(order, order[1:], strict=False):
        moved[below] = min(moved[below], moved[above] / factor)
    return moved


def _end_label(ax: "Axes", x: float, y: float, text: str, color) -> None:
    place = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
    ax.annotate(text, (x, y), fontsize=9, color=color, **place)


def _shades(number: int):
    from matplotlib import colormaps

    return colormaps["viridis"](np.linspace(0.05, 0.8, number))


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
