"""The report of the learning-curves experiment, from its run folder alone."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.style import INK, MUTED, NETWORK, style
from ...report.tables import Column, Row, Table
from ...store import Run
from ..stages.panels import COLORS, curve_with_spread, new_figure, plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DASHES = (0, (4, 2))


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the learning-curves experiment.

    Returns:
        Summary, table and figures.
    """
    off = {name: _typical_error(run, name) for name in ("sphere", "images")}
    peak = _peak(run)
    return Report(
        title="Learning curves, predicted from spectrum and target alone",
        summary=(
            "Before any sample is drawn, the eigenlearning equations give the test "
            f"error of kernel regression with a median error of {off['sphere']:.0%} on "
            f"the sphere and {off['images']:.0%} on {run.config.data}. Against width "
            f"the test error has its peak at {peak} hidden units for "
            f"{run.config.num_train} training samples, and falls again beyond."
        ),
        sections=_sections(run),
        console_table=_table(run),
        highlights=(
            Highlight(f"{off['sphere']:.0%}", "median error of predictions, sphere"),
            Highlight(f"{off['images']:.0%}", "median error of predictions, images"),
            Highlight(f"{peak}", "hidden units at the peak of the test error"),
        ),
    )


def _typical_error(run: Run, name: str) -> float:
    saved = run.arrays(name)
    return float(
        np.median(np.abs(saved["predicted"] / saved["measured"].mean(axis=0) - 1))
    )


def _peak(run: Run) -> int:
    errors = run.arrays("widths")["errors"][..., 1]
    return run.config.widths[int(np.median(errors, axis=0).argmax())]


def _sections(run: Run) -> tuple[Section, ...]:
    return (
        Section(
            "On the sphere",
            f"Zonal harmonics in {run.config.dim} dimensions, mean square 1, and the "
            "kernel of a wide ReLU network. Lines are predictions, dots measurements, "
            "with Student's 95 % intervals over draws. A degree is learned when there "
            "are about as many samples as harmonics up to it.",
            {"sphere": _sphere_figure(run)},
        ),
        Section(
            "On images",
            "Labels are signs of eigenfunctions of the kernel, or halved classes; "
            "predictions, the lines on both sides, take the labels' own coefficients "
            "on all modes. Finite networks, initializations on the first of the draws, "
            "need not follow: they start from random outputs, which they never quite "
            "forget, and their kernel moves.",
            {"images": _image_figure(run)},
        ),
        Section(
            "Against width",
            "Random ReLU features and the smallest output weights that fit best; a "
            "tenth of the training labels is flipped. Where there are as many units as "
            "samples the model just interpolates, and the test error peaks.",
            {"widths": _width_figure(run)},
        ),
    )


def _draw_curves(
    ax: "Axes", sizes, saved: dict, names: list[str], measured: str = "measured"
) -> None:
    """Predictions as lines, and measurements of one kind."""
    ax.set(xscale="log", yscale="log")
    for row, name in enumerate(names):
        color = COLORS[row % len(COLORS)]
        ax.plot(sizes, saved["predicted"][row], color=color, label=name)
        options = {"color": color, "marker": "o", "linestyle": "none"}
        curve_with_spread(ax, sizes, saved[measured][:, row], **options)
    ax.set_xlabel("training samples")
    ax.set_ylabel("mean squared test error")
    plain_ticks(ax, sizes)
    low, high = ax.get_ylim()
    if high < 100 * low:  # else decades are enough
        ticks = [t for t in (0.05, 0.1, 0.2, 0.5, 1, 2, 5) if low <= t <= high]
        ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])


def _legend(figure: "Figure", ax: "Axes") -> None:
    """Colors tell targets; lines are predictions and dots are measured."""
    ax.plot([], [], color=MUTED, label="predicted")
    ax.plot([], [], color=MUTED, marker="o", linestyle="none", label="measured")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right upper")


def _sphere_figure(run: Run) -> "Figure":
    with style():
        figure = new_figure(4.0, 7.6)
        ax = figure.subplots()
        names = [f"degree {degree}" for degree in run.config.degrees]
        _draw_curves(ax, run.config.sphere_sizes, run.arrays("sphere"), names)
        _legend(figure, ax)
        return figure


def _image_figure(run: Run) -> "Figure":
    saved = run.arrays("images")
    with style():
        panels = {"measured": "kernel regression", "network": "finite networks"}
        panels = {kind: title for kind, title in panels.items() if kind in saved}
        figure = new_figure(4.0, 3.2 + 3.6 * len(panels))
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        names = [*map(str, saved["names"])]
        for ax, (kind, title) in zip(axes, panels.items(), strict=True):
            _draw_curves(ax, run.config.image_sizes, saved, names, kind)
            ax.axhline(1, color=MUTED, linewidth=1.2, linestyle=(0, (1, 2)))
            ax.set_title(title)
            ax.label_outer()
        _legend(figure, axes[0])
        return figure


def _width_figure(run: Run) -> "Figure":
    errors = run.arrays("widths")["errors"]
    widths, n = run.config.widths, run.config.num_train
    with style():
        figure = new_figure(4.0, 7.6)
        ax = figure.subplots()
        ax.set(xscale="log", yscale="log")
        ax.axvline(n, color=MUTED, linewidth=1.4, linestyle=_DASHES)
        ax.annotate(
            "as many units as samples", (n, 1), (6, -4), color=MUTED, fontsize=9,
            xycoords=("data", "axes fraction"), textcoords="offset points", va="top",
        )  # fmt: skip
        options = {"color": NETWORK, "marker": "o", "label": "test"}
        curve_with_spread(ax, widths, errors[..., 1], **options)
        train = np.median(errors[..., 0], axis=0)
        there = train > 1e-6
        label = "training, until it is 0"
        ax.plot(
            np.array(widths)[there], train[there], color=INK, marker="s", label=label
        )
        ax.set(xlabel="hidden units", ylabel="mean squared error")
        plain_ticks(
            ax, [w for w in (10, 20, 50, 100, 250, 600, 2000) if w <= max(widths)]
        )
        ax.set_ylim(0.01)
        ax.legend()
        return figure


def _table(run: Run) -> Table:
    rows = []
    for part, sizes, names in (
        (
            "sphere",
            run.config.sphere_sizes,
            [f"degree {d}" for d in run.config.degrees],
        ),
        ("images", run.config.image_sizes, map(str, run.arrays("images")["names"])),
    ):
        saved = run.arrays(part)
        for row, name in enumerate(names):
            for column, n in enumerate(sizes):
                predicted = saved["predicted"][row, column]
                measured = saved["measured"][:, row, column].mean()
                network = None
                if "network" in saved:
                    network = float(saved["network"][:, row, column].mean())
                cells = float(predicted), float(measured), network
                rows.append(Row((name, n, *cells)))
    columns = (
        Column("target", align="left"),
        Column("samples", "d"),
        Column("predicted", ".3f"),
        Column("measured", ".3f"),
        Column("networks", ".3f"),
    )
    caption = (
        f"Mean squared test error of kernel regression, predicted and measured over "
        f"{run.config.draws} draws, and of trained networks."
    )
    return Table(columns, tuple(rows), caption)
