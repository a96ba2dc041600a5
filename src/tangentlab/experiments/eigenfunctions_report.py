"""The report of the eigenfunctions experiment, from its run folder alone."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..analysis import accuracy_interval, rank_correlation
from ..report import figures
from ..report.page import Highlight, Report, Section
from ..report.style import style
from ..report.tables import Column, Row, Table
from ..store import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class _Findings(NamedTuple):
    """Numbers over the tasks that are not degenerate."""

    num: int
    mean_advantage: float
    num_linear_ahead: int
    fall_network: float
    fall_linearized: float
    agreement: float


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the eigenfunctions experiment.

    Returns:
        Summary, table and figures.
    """
    facts = run.metrics()[0]
    results, findings = _results(run), _findings(_results(run))
    title = f"Eigenfunctions of the tangent kernel: {facts['model']} on {facts['data']}"
    return Report(
        title=title,
        summary=_summary(findings, facts),
        sections=tuple(_sections(run, results)),
        console_table=_table(run, results),
        highlights=_highlights(findings),
    )


def _results(run: Run) -> figures.Accuracies:
    tasks, num_test = run.arrays("tasks"), run.metrics()[0]["num_test"]
    network, linearized = (
        run.arrays(name)["test_accuracy"][:, -1] for name in ("network", "linearized")
    )
    return figures.Accuracies(
        index=tasks["index"],
        network=network,
        linearized=linearized,
        network_interval=accuracy_interval(network, num_test),
        linearized_interval=accuracy_interval(linearized, num_test),
        chance=tasks["chance"],
        degenerate=tasks["degenerate"],
        diverged=_diverged(run),
    )


def _diverged(run: Run) -> np.ndarray:
    """Tasks on which a model's loss left the finite numbers."""
    pair = [run.arrays(name)["diverged"] for name in ("network", "linearized")]
    return pair[0] | pair[1]


def _findings(results: figures.Accuracies) -> _Findings:
    use = results.usable
    index, network, linear = (
        values[use] for values in (results.index, results.network, results.linearized)
    )
    gap = network - linear
    return _Findings(
        num=len(gap),
        mean_advantage=float(gap.mean()) if len(gap) else float("nan"),
        num_linear_ahead=int((gap < 0).sum()),
        fall_network=rank_correlation(index, network),
        fall_linearized=rank_correlation(index, linear),
        agreement=rank_correlation(network, linear),
    )


def _summary(found: _Findings, facts: dict) -> str:
    if not found.num:
        return "No task can be used: all are degenerate, or training diverged."
    points = f"{100 * abs(found.mean_advantage):.1f} points of accuracy"
    ahead = "linearization" if found.mean_advantage < 0 else "network"
    lead = f"the {ahead} is ahead by {points} in the mean"
    if found.num_linear_ahead in (0, found.num):
        lead += f", and on each of {found.num} tasks"
    else:
        lead += f" over {found.num} tasks"
        lead += f"; the linear model is the better one on {found.num_linear_ahead}"
    ranks = ""
    if not np.isnan(found.agreement):
        ranks = (
            "Rank correlation of index and accuracy is "
            f"{_signed(found.fall_network)} for the network and "
            f"{_signed(found.fall_linearized)} for the linearization; between the two "
            f"accuracies it is {_signed(found.agreement)}. "
        )
    return (
        f"Trained on {facts['num_train']:,} samples labeled by the sign of one "
        f"eigenfunction at a time and tested on {facts['num_test']:,}, {lead}. {ranks}"
        "One seed. Degenerate tasks are shown and left out of these numbers, as is any "
        "whose training diverged."
    )


def _highlights(found: _Findings) -> tuple[Highlight, ...]:
    return (
        Highlight(
            f"{_signed(100 * found.mean_advantage, 1)} pts",
            "mean advantage of the network over its linearization",
        ),
        Highlight(
            _signed(found.fall_network),
            "rank correlation of index and accuracy, network",
        ),
        Highlight(
            _signed(found.fall_linearized),
            "rank correlation of index and accuracy, linearization",
        ),
        Highlight(_signed(found.agreement), "rank correlation of the two accuracies"),
    )


def _signed(value: float, digits: int = 2) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:+.{digits}f}".replace("-", "−")


def _table(run: Run, results: figures.Accuracies) -> Table:
    tasks, lam = run.arrays("tasks"), run.arrays("spectrum")["eigenvalues"]
    close = "labels may depend on rounding: the next eigenvalue is within resolution"
    flags = np.where(tasks["unresolved"], close, "")
    flags = np.where(tasks["degenerate"], "degenerate: one class has over 95 %", flags)
    flags = np.where(results.diverged, "training diverged", flags)
    rows = [
        Row(
            (int(i), float(lam[i]), float(b), float(f), float(g), float(f - g)),
            str(why),
        )
        for i, b, f, g, why in zip(
            results.index,
            tasks["balance"],
            results.network,
            results.linearized,
            flags,
            strict=True,
        )
    ]
    columns = (
        Column("index", "d"),
        Column("eigenvalue", ".4g"),
        Column("class balance", ".1%"),
        Column("network", ".1%"),
        Column("linearized", ".1%"),
        Column("advantage", "+.1%"),
    )
    caption = (
        "Test accuracy at the end of training. Index 0 is the paper's phi_1, number 1 "
        "in the figures; class balance is the share of class 1; advantage is network "
        "minus linearization."
    )
    return Table(columns, tuple(rows), caption)


def _sections(run: Run, results: figures.Accuracies) -> list[Section]:
    made = [
        Section(
            "Accuracy against eigenfunction index",
            "Where the blue curve is above the orange one, the linear model "
            "generalizes better than the network it came from. Bars are Wilson's 95 % "
            "intervals of the finite test split, dashes what the larger class alone "
            "would score. Below, the share of samples labeled 1.",
            {"accuracy": _accuracy_figure(run, results)},
        ),
        Section(
            "The spectrum of the kernel",
            "Eigenvalues of the Gram matrix at initialization, train and test samples "
            "together. A task's kernel complexity is the inverse of its eigenvalue.",
            {"spectrum": _spectrum_figure(run, results)},
        ),
        Section(
            "How both fit their training samples",
            "Mean training loss of each epoch, from the leading eigenfunctions to the "
            "last. Same parameters at the start, same batches, same recipe.",
            {"training": _training_figure(run, results)},
        ),
    ]
    if (run.path / "gallery.npz").is_file():
        made.append(
            Section(
                "What eigenfunctions look at",
                "The images at both ends of some eigenfunctions. The label changes "
                "somewhere between the two halves of a row, unless the task is "
                "degenerate.",
                {"gallery": _gallery_figure(run)},
            )
        )
    return made


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _accuracy_figure(run: Run, results: figures.Accuracies) -> "Figure":
    with style():
        figure = _figure(8.4, 6.0)
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(4.2, 1))
        figures.accuracy_against_index(top, results)
        figures.class_balance(bottom, results.index, run.arrays("tasks")["balance"])
        top.set_xlabel("")
        facts = run.metrics()[0]
        title = f"{facts['model']} on {facts['data']}, eigenfunctions of its NTK"
        top.set_title(title, pad=34)
        return figure


def _spectrum_figure(run: Run, results: figures.Accuracies) -> "Figure":
    arrays = run.arrays("spectrum")
    series = figures.SpectrumSeries(
        arrays["eigenvalues"], results.index, float(arrays["resolution"])
    )
    with style():
        figure = _figure(8.4, 4.2)
        figures.eigenvalues(figure.subplots(), series)
        return figure


def _training_figure(run: Run, results: figures.Accuracies) -> "Figure":
    usable = np.flatnonzero(results.usable)
    usable = usable if len(usable) else np.arange(len(results.index))
    shown = usable[
        np.linspace(0, len(usable) - 1, min(4, len(usable))).round().astype(int)
    ]
    with style():
        rows = -(-len(shown) // 2)
        figure = _figure(8.4, 2.9 * rows + 0.4)
        axes = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False).ravel()
        losses = [
            run.arrays(name)["train_loss"][shown] for name in ("network", "linearized")
        ]
        figures.learning_curves(axes, results.index[shown], *losses)
        return figure


def _gallery_figure(run: Run) -> "Figure":
    images = figures.Gallery(**run.arrays("gallery"))
    with style():
        figure = _figure(8.4, 0.85 * len(images.index) + 0.5)
        figures.gallery(figure, images)
        return figure
