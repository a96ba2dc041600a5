"""Figures of the kernel limit experiment."""

from typing import TYPE_CHECKING

import numpy as np

from ...analysis import bootstrap
from ...report.scaling_figures import COLORS, MARKERS, Scaling, scalings
from ...report.style import INK, MUTED, style
from ...store import Run
from ...theory import norm_fluctuation
from ..stages.scaling import slope
from .claims import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST = 0.1  # of a variance that a single draw may hold


def convergence(results: Results) -> "Figure":
    """Errors of finite kernels against width.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    with style():
        figure = _figure(8.4, 5.0)
        ax = figure.subplots()
        levels = {name: np.log(e).mean() for name, e in results.errors.items()}
        lowest = min(levels, key=lambda name: levels[name])
        shown = [
            Scaling(
                name,
                results.widths,
                errors,
                slope(results.widths, errors),
                -0.5 if name == lowest else None,
                "expected: slope −1/2",
            )
            for name, errors in results.errors.items()
        ]
        scalings(ax, tuple(shown))
        ax.set_xlabel("width")
        ax.set_ylabel("relative error of the kernel")
        ax.set_title("Finite kernels reach the infinite one like 1 / √width")
        ax.legend(loc="lower left")
        return figure


def formulas(results: Results) -> "Figure":
    """Closed forms of κ, integrals and random networks.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    shown = results.formulas
    with style():
        figure = _figure(8.4, 6.2)
        top, bottom = figure.subplots(2, 1, height_ratios=(3, 1.5), sharex=True)
        xi = shown["cosines"]
        top.plot(xi, shown["kappa_lecture"], color=COLORS[1], label="κ as printed")
        top.plot(xi, shown["kappa"], color=COLORS[0], label="κ corrected: half of it")
        top.plot(
            xi[::2],
            shown["kappa_integral"][::2],
            "+",
            color=INK,
            markersize=8,
            label="quadrature",
        )
        top.errorbar(
            shown["marks"],
            shown["marks_kappa"],
            3 * shown["marks_error"],
            fmt="o",
            color=COLORS[2],
            markerfacecolor="white",
            markeredgewidth=1.7,
            capsize=3,
            label="random network, 3 standard errors",
        )
        top.set_ylabel("kernel of unit inputs")
        top.set_title("Two layers of ReLU: the printed κ is twice its own network's")
        top.legend()
        _errors(bottom, shown)
        return figure


def _errors(ax: "Axes", shown: dict[str, np.ndarray]) -> None:
    xi = shown["cosines"]
    pairs = {
        "κ corrected": ("kappa", "kappa_integral", COLORS[0], "o"),
        "E[σ′σ′]": ("derivatives", "derivatives_integral", COLORS[3], "s"),
    }
    for name, (closed, integral, color, marker) in pairs.items():
        error = np.maximum(np.abs(shown[closed] - shown[integral]), 1e-17)
        ax.semilogy(xi, error, marker, color=color, markersize=3.5, label=name)
    ax.axhline(1e-10, color=MUTED, linestyle=(0, (5, 2)), linewidth=1.4)
    ax.annotate(
        "criterion",
        (-0.98, 1e-10),
        xytext=(0, -12),
        textcoords="offset points",
        color=MUTED,
        fontsize=9.5,
    )
    ax.set_ylim(3e-18, 1e-8)
    ax.set_xlabel("cosine of the angle between two inputs")
    ax.set_ylabel("distance from\nquadrature")
    ax.legend(ncols=2, loc="upper right")


def fluctuations(run: Run) -> "Figure":
    """Relative variance of kernel and norm against depth over width.

    Args:
        run: A run with deep networks.

    Returns:
        The figure.
    """
    with style():
        figure = _figure(8.4, 4.8)
        ax = figure.subplots()
        config = run.config
        ratios = np.array(config.depths)[:, None] / np.array(config.deep_widths)[None]
        line = np.geomspace(0.8 * ratios.min(), 1.2 * ratios.max(), 100)
        ax.plot(
            line,
            np.expm1(5 * line),
            color=INK,
            linewidth=1.4,
            label="exp(5 depth / width) − 1",
        )
        for place, width in enumerate(config.deep_widths):
            _one_width(ax, run, width, place)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.xaxis.set_minor_formatter("")
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xticks([0.02, 0.05, 0.1, 0.2, 0.5, 1.0])
        ax.set_xlim(line[0], line[-1])
        ax.set_xlabel("depth over width")
        ax.set_ylabel("relative variance over initializations")
        ax.set_title("A network's kernel fluctuates with depth over width")
        ax.legend()
        return figure


def _one_width(ax: "Axes", run: Run, width: int, place: int) -> None:
    depths = run.config.depths
    drawn = [run.arrays(f"deep-{depth}-{width}") for depth in depths]
    ratios = np.array(depths) / width
    color, marker = COLORS[place % len(COLORS)], MARKERS[place % len(MARKERS)]
    for name in ("kernel", "norm"):
        found = [bootstrap(_variance, each[name], num=500) for each in drawn]
        values = np.array([each.value for each in found])
        ends = np.array([[each.low, each.high] for each in found]).T
        filled = name == "kernel"
        kind = "kernel" if filled else "norm of last layer"
        known = np.array([_largest_share(each[name]) < _MOST for each in drawn])
        for some, alpha in ((known, 1.0), (~known, 0.3)):
            ax.errorbar(
                (ratios * (1.0 if filled else 1.03))[some],
                values[some],
                np.abs(ends - values[None])[:, some],
                fmt=marker,
                color=color,
                markerfacecolor=color if filled else "white",
                markeredgewidth=1.5,
                linestyle="none",
                capsize=2,
                alpha=alpha,
                label=f"width {width}, {kind}" if some is known else None,
            )
    exact = [norm_fluctuation([width] * depth) for depth in depths]
    label = "formula for the norm" if place == 0 else None
    ax.plot(ratios, exact, "_", color=INK, markersize=14, label=label)


def _largest_share(values: np.ndarray) -> float:
    """How much of the variance a single draw holds."""
    squares = (values - values.mean()) ** 2
    return float(squares.max() / squares.sum())


def _variance(values: np.ndarray) -> np.ndarray:
    return np.asarray(values.var(axis=-1) / values.mean(axis=-1) ** 2)


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
