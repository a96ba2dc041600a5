"""The report of the universality experiment, from its run folder alone."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.style import INK, MUTED, style
from ...report.tables import Column, Row, Table
from ...store import Run
from ...theory import polynomial_complexity_limit
from ..stages.panels import COLORS, curve_with_spread, new_figure, plain_ticks
from .claims import Measured, claims, read_measured
from .computing import target_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PLAIN, _BIASED = COLORS[4], COLORS[0]
_NAMES = ("without the constant", "with it")


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the universality experiment.

    Returns:
        Summary, claims, table and figures.
    """
    measured = read_measured(run)
    without, with_it = measured.errors[:, :, 1].mean(axis=0)
    names = target_names(run.config)
    return Report(
        title="What the kernel of a wide ReLU network can fit",
        summary=(
            "An odd cubic on the sphere is interpolated either way. On new points its "
            f"relative error is {without:.2f} without a constant coordinate, as if "
            f"nothing had been learned, and {with_it:.3f} with one. On the line the "
            "kernel without a bias has two features. Polynomials of degree 1 and of "
            "even degree cost the same norm however many samples there are; a sign "
            "and random labels cost more and more."
        ),
        sections=_sections(run, measured, names),
        console_table=_table(run, measured, names),
        highlights=(
            Highlight(f"{without:.2f}", "relative test error without the constant"),
            Highlight(f"{with_it:.3f}", "with it"),
            Highlight("2", "features of the kernel on the line")
            if measured.line[:, 0, 2].max() < 1e-12
            else Highlight("more than 2", "features of the kernel on the line"),
        ),
        claims=claims(measured),
        claims_caption="Intervals are Student's 95 % intervals over "
        f"{run.config.draws} draws of all samples.",
    )


def _sections(
    run: Run, measured: Measured, names: tuple[str, ...]
) -> tuple[Section, ...]:
    return (
        Section(
            "An odd cubic needs the bias",
            f"Kernel regression on {run.config.num_train:,} points of the sphere in "
            "four dimensions; dots are predictions at new points. Right: the "
            "eigenvalues by degree. Without the constant the odd ones above 1 are 0, "
            "and what the kernel cannot hold it can only memorize.",
            {"cubic": _cubic_figure(run)},
        ),
        Section(
            "Two features on the line",
            "Singular values of both kernels on the same points. Below the dashes they "
            "are rounding.",
            {"line": _line_figure(measured)},
        ),
        Section(
            "What targets cost",
            "The norm that interpolates the labels. Dashes are the theorem's limits, "
            "3 p for degree p, in the color of their polynomial.",
            {"costs": _cost_figure(run, measured, names)},
        ),
    )


def _cubic_figure(run: Run) -> "Figure":
    saved, spectrum = run.arrays("draw-0"), run.arrays("spectrum")
    grid = np.linspace(-1, 1, 200)
    with style():
        figure = new_figure()
        left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
        left.plot(grid, 4 * grid**3 - 2 * grid, color=INK, label="target $4x^3 - 2x$")
        for outputs, color, name in zip(
            saved["outputs"], (_PLAIN, _BIASED), _NAMES, strict=True
        ):
            options = {"color": color, "markersize": 3.4, "alpha": 0.7, "label": name}
            left.plot(saved["first"], outputs, "o", **options)
        left.set(xlabel="first coordinate $x_1$", ylabel="prediction at new points")
        left.set_xticks([-1, -0.5, 0, 0.5, 1])
        left.set_title("what is learned of it", fontsize=11)
        _draw_spectrum(right, spectrum)
        handles = left.get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper left", ncols=3, markerscale=2)
        return figure


def _draw_spectrum(ax: "Axes", spectrum: dict[str, np.ndarray]) -> None:
    degrees = np.arange(len(spectrum["plain"]))
    floor = 1e-7
    for shift, name, color in ((-0.2, "plain", _PLAIN), (0.2, "biased", _BIASED)):
        there = spectrum[name] > floor
        ax.bar(degrees[there] + shift, spectrum[name][there], 0.38, color=color)
        zero = np.full((~there).sum(), 2 * floor)
        ax.plot(degrees[~there] + shift, zero, "x", color=color)
    ax.set_yscale("log")
    ax.set_ylim(floor, 1)
    ax.set_xticks(degrees)
    ax.set(xlabel="degree", ylabel="eigenvalue")
    ax.set_title("its eigenvalues (crosses: 0)", fontsize=11)


def _line_figure(measured: Measured) -> "Figure":
    num = min(12, measured.line.shape[-1])
    order = np.arange(1, num + 1)
    with style():
        figure = new_figure(3.3, 6.4)
        ax = figure.subplots()
        pairs = zip((0, 1), (_PLAIN, _BIASED), ("o", "s"), _NAMES, strict=True)
        for kind, color, marker, name in pairs:
            values = np.maximum(measured.line[:, kind, :num], 1e-18)
            options = {"color": color, "marker": marker, "linewidth": 1.2}
            ax.semilogy(order, values.T[:, 1:], alpha=0.35, **options)
            ax.semilogy(order, values[0], label=name, **options)
        ax.axhline(1e-12, color=MUTED, linewidth=1.2, linestyle=(0, (4, 2)))
        ax.annotate(
            "criterion", (0.99, 1e-12), (0, -12), color=MUTED, fontsize=9, ha="right",
            xycoords=("axes fraction", "data"), textcoords="offset points",
        )  # fmt: skip
        ax.set(xlabel="number", ylabel="singular value over the first")
        ax.set_xticks(order)
        ax.legend()
        return figure


def _cost_figure(run: Run, measured: Measured, names: tuple[str, ...]) -> "Figure":
    with style():
        figure = new_figure(3.9, 7.4)
        ax = figure.subplots()
        ax.set(xscale="log", yscale="log", xlabel="samples")
        for column, name in enumerate(names):
            color = COLORS[column % len(COLORS)]
            values = measured.costs[:, :, column]
            options = {"color": color, "marker": "o", "label": name}
            curve_with_spread(ax, run.config.sizes, values, **options)
            if column < len(measured.powers):
                limit = polynomial_complexity_limit(measured.powers[column])
                dashes = {"linestyle": (0, (4, 2)), "linewidth": 1.2}
                ax.axhline(limit, color=color, **dashes)
        dashes = {"linestyle": (0, (4, 2)), "linewidth": 1.2, "label": "limits 3 p"}
        ax.plot([], [], color=MUTED, **dashes)
        ax.set_ylabel(r"$(Y^\top H^{-1} Y)^{1/2}$")
        plain_ticks(ax, run.config.sizes)
        low, high = 1.0, 1.2 * float(measured.costs.max())
        ticks = [t for t in (1, 2, 3, 6, 12, 30, 60, 120, 300) if low <= t <= high]
        ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.set_ylim(low, high)
        figure.legend(*ax.get_legend_handles_labels(), loc="outside right upper")
        return figure


def _table(run: Run, measured: Measured, names: tuple[str, ...]) -> Table:
    rows = []
    for column, name in enumerate(names):
        costs = measured.costs[:, :, column].mean(axis=0)
        polynomial = column < len(measured.powers)
        power = measured.powers[column] if polynomial else None
        limit = None if power is None else polynomial_complexity_limit(power)
        growth = (costs[-1] / costs[-2]) ** 2 - 1
        rows.append(Row((name, limit, *map(float, costs), float(growth))))
    sizes = tuple(Column(f"n = {n:,}", ".2f") for n in run.config.sizes)
    columns = (Column("target", align="left"), Column("limit", ".0f"), *sizes,
               Column("growth", "+.1%"))  # fmt: skip
    return Table(
        columns,
        tuple(rows),
        "Root of Yᵀ H⁻¹ Y on the sphere in four dimensions; growth is that of its "
        "square over the last doubling of the samples.",
    )
