"""Figures and report of the wide training experiment, from its run folder alone."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.scaling_figures import Scaling, scalings, slope_text
from ...report.style import style
from ...report.tables import Column, Row, Table
from ...store import Run
from ..stages.scaling import slope
from .claims import Widths, change_slope, claims, read_results
from .multiplier_figure import multiplier_section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CAPTION = "Intervals are Student's 95 % intervals over initializations."


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the experiment.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    judged = claims(results)
    return Report(
        title="How wide must a network be before it is its kernel?",
        summary=_summary(run, results),
        sections=_sections(run, results),
        console_table=_table(results),
        highlights=_highlights(results),
        claims=judged,
        claims_caption=_CAPTION,
    )


def _summary(run: Run, results: tuple[Widths, ...]) -> str:
    config = run.config
    parts = [
        f"With {each.activation} the kernel changes by "
        f"{100 * _middle(each.kernel_change)[0]:.0f} % at width {int(each.widths[0])} "
        f"and by {100 * _middle(each.kernel_change)[-1]:.2g} % at "
        f"{int(each.widths[-1])}."
        for each in results
    ]
    return (
        f"Networks of depth {config.depth}, trained by gradient descent on "
        f"{config.num_train} samples ({config.data}) for {config.num_steps} steps, "
        f"{config.seeds} initializations of each width. " + " ".join(parts)
    )


def _sections(run: Run, results: tuple[Widths, ...]) -> tuple[Section, ...]:
    made = [
        Section(
            "The kernel stays where it was",
            "Relative change of the tangent kernel in Frobenius norm. Left, at the end "
            "of training against the width; right, on the way: it moves early, while "
            "the loss is large, and then stays.",
            {"kernel-change": _change_figure(run, results)},
        ),
        Section(
            "The trained network and its kernels",
            "Root mean square distance at test samples, over that of the targets, from "
            "the network's own linearization and from regression with the kernel of "
            "infinite width, all trained for the same time from the same outputs. The "
            "second falls more slowly: it holds the fluctuation of the kernel at "
            "initialization, of order one over the root of the width.",
            {"regression": _gap_figure(results)},
        ),
    ]
    if run.config.multipliers and run.config.multiplier_widths:
        made.append(multiplier_section(run))
    return tuple(made)


def _change_figure(run: Run, results: tuple[Widths, ...]) -> "Figure":
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10.4, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        shown = tuple(
            Scaling(
                each.activation, each.widths, each.kernel_change, change_slope(each)
            )
            for each in results
        )
        scalings(left, shown)
        _power_guide(left, results[0].widths, results[0].kernel_change)
        left.set_xlabel("width")
        left.set_ylabel("relative change of the kernel")
        left.set_title("Change over training")
        left.legend()
        each = results[0]
        steps = np.linspace(0, run.config.num_steps, each.on_the_way.shape[2] + 1)[1:]
        colors = colormaps["viridis"](np.linspace(0.05, 0.8, len(each.widths)))
        middle = np.exp(np.log(each.on_the_way).mean(axis=0))
        for width, values, color in zip(each.widths, middle, colors, strict=True):
            right.plot(steps, values, color=color, marker="o", markersize=3.5)
            right.annotate(
                f"{int(width):,}",
                (steps[-1], values[-1]),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
                color=color,
            )
        right.set_yscale("log")
        right.set_xlim(0, 1.1 * run.config.num_steps)
        right.set_xlabel("step of gradient descent")
        right.set_title(f"On the way, {each.activation}, by width")
        return figure


def _power_guide(ax, widths: np.ndarray, values: np.ndarray) -> None:
    line = 0.45 * _middle(values)[0] * widths[0] / widths
    ax.plot(widths, line, color="#64748b", linestyle=(0, (5, 2)), linewidth=1.4)
    place = len(widths) // 2
    ax.annotate(
        "1 / width",
        (widths[place], line[place]),
        xytext=(-8, -12),
        textcoords="offset points",
        color="#64748b",
        fontsize=9.5,
        ha="right",
    )


def _gap_figure(results: tuple[Widths, ...]) -> "Figure":
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10.4, 4.6), layout="constrained")
        axes = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
        for ax, each in zip(axes, results, strict=True):
            pairs = {
                "own linearization": each.own_gap,
                "infinite kernel": each.infinite_gap,
            }
            scalings(
                ax,
                tuple(
                    Scaling(
                        name,
                        each.widths,
                        gap,
                        slope(each.widths, gap),
                        -0.5 if name == "infinite kernel" else None,
                        "expected: slope −1/2",
                    )
                    for name, gap in pairs.items()
                ),
            )
            ax.set_xlabel("width")
            ax.set_title(each.activation)
            ax.legend(loc="lower left")
        axes[0].set_ylabel("distance at test samples")
        return figure


def _table(results: tuple[Widths, ...]) -> Table:
    rows = []
    for each in results:
        columns = (each.kernel_change, each.own_gap, each.infinite_gap, each.loss)
        middle = [_middle(values) for values in columns]
        for number, width in enumerate(each.widths):
            cells = (float(values[number]) for values in middle)
            rows.append(Row((each.activation, int(width), *cells)))
    return Table(
        (
            Column("activation", align="left"),
            Column("width", "d"),
            Column("kernel change", ".2%"),
            Column("to own linearization", ".2%"),
            Column("to infinite kernel", ".2%"),
            Column("training loss", ".1e"),
        ),
        tuple(rows),
        "Geometric means over initializations. Distances are root mean squares at test "
        "samples over that of the targets.",
    )


def _highlights(results: tuple[Widths, ...]) -> tuple[Highlight, ...]:
    return tuple(
        Highlight(
            slope_text(change_slope(each)), f"slope of the change, {each.activation}"
        )
        for each in results
    )


def _middle(values: np.ndarray) -> np.ndarray:
    return np.exp(np.log(values).mean(axis=0))
