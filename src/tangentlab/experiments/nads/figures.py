"""The figures of the experiment on anisotropy directions."""

from typing import TYPE_CHECKING

import numpy as np

from ...analysis import Claim, accuracy_interval, mean_interval
from ...report import claim_figures, figures
from ...report.style import INK, LINEARIZED, MUTED, NETWORK, style
from ..stages.indices import spread_indices
from ..stages.panels import COLORS, new_figure
from .finding import LEADING
from .pictures import draw_directions
from .results import Learned, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NUMBER = "direction number  (1 = leading, log scale)"


def leading_figure(results: Results) -> "Figure":
    """The leading directions of the first seed.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    num = min(LEADING, len(results.found.directions))
    return _pictures(results, np.arange(num), "leading directions")


def later_figure(results: Results) -> "Figure":
    """Directions from the first to the last of the first seed.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    d = len(results.found.directions)
    index = np.array(spread_indices(min(LEADING, d), d - 1))
    return _pictures(results, index, "from the first direction to the last")


def energy_figure(results: Results) -> "Figure":
    """Energies at the origin and on average, and how far the leading ones agree.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure(3.9)
        left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
        _draw_energies(left, results)
        _draw_cosines(right, results)
        return figure


def accuracy_figure(
    results: Results, learned: Learned, judged: tuple[Claim, ...]
) -> "Figure":
    """Accuracy against index, and what follows.

    Args:
        results: Of a run.
        learned: Its part about learning.
        judged: Claims with their verdicts.

    Returns:
        The figure.
    """
    with style():
        strip = 0.66 * len(judged)
        figure = new_figure(4.6 + strip)
        top, bottom = figure.subplots(2, 1, height_ratios=(4.6, strip))
        figures.accuracy_against_index(top, _accuracies(results, learned))
        _mark_unseen(top, results)
        top.set_xlabel(_NUMBER)
        top.set_title(
            f"{model_name(results)}: data along its anisotropy directions", pad=34
        )
        claim_figures.verdict_strip(bottom, judged)
        return figure


def _mark_unseen(ax: "Axes", results: Results) -> None:
    """Directions that the kernel does not see, whose order says nothing."""
    first, (left, right) = int(results.found.num_resolved.min()) + 1, ax.get_xlim()
    if first >= right:
        return
    ax.axvspan(first, right, color=MUTED, alpha=0.12, linewidth=0, zorder=0)
    ax.set_xlim(left, right)
    ax.text(
        first,
        0.02,
        "energy below rounding → ",
        transform=ax.get_xaxis_transform(),
        ha="right",
        va="bottom",
        color=MUTED,
        fontsize="small",
    )


def alignment_figure(learned: Learned) -> "Figure":
    """Accuracy against energy: what the kernel's alignment predicts.

    Args:
        learned: How directions were learned.

    Returns:
        The figure.
    """
    use = ~learned.diverged & learned.resolved
    with style():
        figure = new_figure(3.9)
        ax = figure.subplots()
        models = (
            (learned.linearized, LINEARIZED, "s", "linearization"),
            (learned.network, NETWORK, "o", "network"),
        )
        for accuracy, color, marker, label in models:
            ax.plot(
                learned.energy[use],
                accuracy[use],
                marker,
                color=color,
                markerfacecolor=color if marker == "o" else "none",
                markersize=5.5,
                alpha=0.85,
                label=label,
            )
        ax.axhline(0.5, color=MUTED, linewidth=1.2, linestyle=(0, (4, 2)))
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        ax.set_xlabel("energy ‖M u‖² = alignment of the kernel with the direction")
        ax.set_ylabel("test accuracy")
        place = {"loc": "lower left", "bbox_to_anchor": (-0.01, 1.0)}
        ax.legend(ncols=2, **place)
        return figure


def model_name(results: Results) -> str:
    """The network as one writes it.

    Args:
        results: Of a run.

    Returns:
        Such as `LeNet`.
    """
    names = {"mlp": "MLP", "lenet": "LeNet", "resnet18": "ResNet18"}
    return names.get(results.model, results.model)


def _pictures(results: Results, index: np.ndarray, what: str) -> "Figure":
    energies = results.found.energies[0]
    with style():
        figure = new_figure(2.5)
        directions = results.found.directions[index]
        share = np.maximum(energies[index], 0) / energies[0]
        draw_directions(figure, directions, index + 1, share)
        figure.suptitle(
            f"{model_name(results)}, {what}",
            x=0.012,
            ha="left",
            fontsize=12.5,
            fontweight="bold",
        )
        return figure


def _draw_energies(ax: "Axes", results: Results) -> None:
    found = results.found
    number = np.arange(1, found.energies.shape[1] + 1)
    both = (
        (found.mean_energies, COLORS[0], "mean over samples"),
        (found.energies, INK, "at the origin"),
    )
    for energies, color, label in both:
        for row, values in enumerate(energies):
            positive = values > 0
            ax.loglog(
                number[positive],
                values[positive],
                color=color,
                linewidth=1.6,
                alpha=1.0 if len(energies) == 1 else 0.6,
                label=label if row == 0 else None,
            )
    ax.set_xlabel(_NUMBER)
    ax.set_ylabel("energy ‖M u‖²")
    ax.set_title("energies", fontsize=11)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.legend(loc="lower left")


def _draw_cosines(ax: "Axes", results: Results) -> None:
    found = results.found
    number = np.arange(1, found.squared_cosines.shape[1] + 1)
    label = "each seed" if len(found.overlap) > 1 else "this seed"
    for row, values in enumerate(found.squared_cosines):
        ax.plot(
            number,
            values,
            color=COLORS[0],
            marker="o",
            markersize=4.5,
            alpha=0.55,
            linewidth=1.4,
            label=label if row == 0 else None,
        )
    chance = len(number) / found.energies.shape[1]
    for height, text, dots in (
        (0.5, "threshold for the mean", (0, (4, 2))),
        (chance, "random subspaces", (0, (1, 2))),
    ):
        ax.axhline(height, color=MUTED, linewidth=1.3, linestyle=dots, label=text)
    ax.set_ylim(-0.02, 1.04)
    ax.set_xticks(number)
    ax.set_xlabel("principal angle")
    ax.set_ylabel("squared cosine")
    title = f"overlap of the {len(number)} leading ones: {found.overlap.mean():.2f}"
    ax.set_title(title, fontsize=11)
    ax.legend(loc="center left", bbox_to_anchor=(0, 0.32), fontsize=9)


def _accuracies(results: Results, learned: Learned) -> figures.Accuracies:
    pair = (learned.network, learned.linearized)
    if len(results.seeds) == 1:
        bars = [accuracy_interval(each[0], results.num_test) for each in pair]
    else:
        bars = [np.clip(mean_interval(each), 0, 1) for each in pair]
    none = np.zeros(len(learned.index), bool)
    return figures.Accuracies(
        index=learned.index,
        network=learned.network.mean(axis=0),
        linearized=learned.linearized.mean(axis=0),
        network_interval=bars[0],
        linearized_interval=bars[1],
        chance=np.full(len(learned.index), 0.5),
        degenerate=none,
        diverged=np.any(learned.diverged, axis=0),
    )
