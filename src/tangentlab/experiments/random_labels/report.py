"""The report of the random-labels experiment, from its run folder alone."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.style import INK, MUTED, NETWORK, style
from ...report.tables import Column, Row, Table
from ...store import Run
from ..stages.panels import COLORS, curve_with_spread, new_figure
from .claims import Measured, claims, read_measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the random-labels experiment.

    Returns:
        Summary, claims, table and figures.
    """
    measured = read_measured(run)
    random = len(measured.shares) - 1
    errors = measured.test_error.mean(axis=0)
    late = float(measured.slowdown[:, random].mean())
    return Report(
        title=f"Random labels on {run.config.data}: fitted all the same",
        summary=(
            f"{run.config.num_train:,} samples. {_told(late)} Its test error is "
            f"{errors[0]:.1%} after true and {errors[random]:.1%} after random labels: "
            "the training error does not tell them apart, the time to reach it does."
        ),
        sections=_sections(run, measured),
        console_table=_table(measured),
        highlights=(
            Highlight(_times(late), "epochs to fit random labels, over true ones"),
            Highlight(f"{errors[0]:.1%}", "test error after true labels"),
            Highlight(f"{errors[random]:.1%}", "test error after random labels"),
        ),
        claims=claims(measured),
        claims_caption="Intervals are Student's 95 % intervals over "
        f"{run.config.seeds} initializations, on the same samples.",
    )


def _told(late: float) -> str:
    if np.isnan(late):
        return "Not everything was fitted in the epochs given."
    return (
        "The network fits true labels and random ones; the latter take "
        f"{late:.1f} times as many epochs."
    )


def _times(late: float) -> str:
    return "–" if np.isnan(late) else f"{late:.1f} x"


def _sections(run: Run, measured: Measured) -> tuple[Section, ...]:
    return (
        Section(
            "Everything is fitted",
            "Training loss of each epoch, mean over initializations. Shuffled images "
            "keep their pixels, in one order for all or each in its own; Gaussian "
            "images keep nothing. Bands are Student's 95 % intervals.",
            {"training": _training_figure(run, measured)},
        ),
        Section(
            "Later, and to no avail",
            "The more labels are random, the longer the network takes to fit them all, "
            "and the less the test samples, which keep their true labels, get right.",
            {"corruption": _share_figure(measured)},
        ),
        Section(
            "Weight decay is not what makes the difference",
            "The same with weight decay. It keeps the network from fitting random "
            "labels as closely, and changes little about true ones: networks "
            "generalize without it.",
            {"decay": _decay_figure(run)},
            _decay_table(run),
        ),
    )


def _training_figure(run: Run, measured: Measured) -> "Figure":
    random = len(measured.shares) - 1
    labels, images = (run.arrays(name)["train_loss"] for name in ("labels", "images"))
    curves = [labels[:, 0], labels[:, random], *np.moveaxis(images, 1, 0)]
    names = ["true labels", "random labels", *measured.names]
    colors = [INK, NETWORK, *COLORS]
    with style():
        figure = new_figure(4.0, 8.4)
        ax = figure.subplots()
        ax.set_yscale("log")
        epochs = np.arange(1, labels.shape[-1] + 1)
        for values, name, color in zip(curves, names, colors, strict=False):
            curve_with_spread(ax, epochs, values, color=color, label=name)
        ax.set(xlabel="epoch", ylabel="training loss")
        ax.set_xlim(1, epochs[-1])
        handles = ax.get_legend_handles_labels()
        figure.legend(*handles, loc="outside right upper")
        return figure


def _share_figure(measured: Measured) -> "Figure":
    num = len(measured.shares)
    shares = 100 * np.array(measured.shares)
    with style():
        figure = new_figure(3.6)
        left, right = figure.subplots(1, 2)
        if np.isfinite(measured.slowdown).all():
            options = {"color": NETWORK, "marker": "o"}
            curve_with_spread(left, shares, measured.slowdown, **options)
        left.axhline(1, color=MUTED, linewidth=1.2, linestyle=(0, (1, 2)))
        left.set(xlabel="random labels (%)", ylabel="epochs to fit, over true labels")
        left.set_title("how much later", fontsize=11)
        left.set_ylim(0)
        errors = 100 * measured.test_error[:, :num]
        curve_with_spread(right, shares, errors, color=NETWORK, marker="o")
        right.axhline(50, color=MUTED, linewidth=1.2, linestyle=(0, (1, 2)))
        right.text(0, 51, "chance", color=MUTED, fontsize=9)
        right.set(xlabel="random labels (%)", ylabel="test error (%)", ylim=(0, 60))
        right.set_title("what is left to generalize", fontsize=11)
        return figure


def _decay_figure(run: Run) -> "Figure":
    plain, decayed = run.arrays("labels"), run.arrays("decay")
    last = len(run.config.corruptions) - 1
    with style():
        figure = new_figure(3.6)
        axes = figure.subplots(1, 2, sharey=True)
        for ax, column, kind in zip(axes, (0, 1), ("true", "random"), strict=True):
            _draw_decay(ax, plain, (0, last)[column], "-", "without")
            _draw_decay(ax, decayed, column, (0, (4, 2)), "with")
            ax.set_title(f"{kind} labels", fontsize=11)
            ax.set(xlabel="epoch", ylim=(0.4, 1.02))
        axes[0].set_ylabel("accuracy")
        handles = axes[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper left", ncols=4)
        return figure


def _draw_decay(ax: "Axes", saved: dict, column: int, dashes, name: str) -> None:
    for field, color in (("train_accuracy", INK), ("test_accuracy", NETWORK)):
        values = saved[field][:, column]
        epochs = np.arange(1, values.shape[-1] + 1)
        split = field.partition("_")[0]
        label = f"{split}, {name} weight decay"
        options = {"color": color, "linestyle": dashes, "label": label}
        curve_with_spread(ax, epochs, values, (0, 1), **options)


def _decay_table(run: Run) -> Table:
    rows, last = [], len(run.config.corruptions) - 1
    for decay, name, places in (
        (0.0, "labels", (0, last)),
        (run.config.weight_decay, "decay", (0, 1)),
    ):
        saved = run.arrays(name)
        for kind, column in zip(("true", "random"), places, strict=True):
            error = saved["train_error"][:, column].mean()
            test = 1 - saved["test_accuracy"][:, column, -1].mean()
            distance = saved["distance"][:, column].mean()
            numbers = map(float, (decay, error, test, distance))
            rows.append(Row((kind, *numbers)))
    columns = (
        Column("labels", align="left"),
        Column("weight decay", "g"),
        Column("training error", ".1%"),
        Column("test error", ".1%"),
        Column("distance moved", ".2f"),
    )
    return Table(columns, tuple(rows), "At the end of training, mean over seeds.")


def _table(measured: Measured) -> Table:
    names = [f"{share:.0%} random labels" for share in measured.shares]
    rows = []
    for column, name in enumerate([*names, *measured.names]):
        fitted = measured.fitted[:, column].mean()
        flag = "" if np.isfinite(fitted) else "not all seeds fitted in time"
        epochs = float(fitted) if np.isfinite(fitted) else None
        errors = (measured.train_error, measured.test_error)
        numbers = (float(each[:, column].mean()) for each in errors)
        rows.append(Row((name, *numbers, epochs), flag))
    columns = (
        Column("task", align="left"),
        Column("training error", ".1%"),
        Column("test error", ".1%"),
        Column("epochs to fit", ".1f"),
    )
    return Table(
        columns,
        tuple(rows),
        "Means over seeds. Epochs to fit: until every batch of an epoch is right.",
    )
