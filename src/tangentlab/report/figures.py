"""Figures: arrays in, a drawing on the given axes out. Nothing is computed here.

Eigenfunctions are numbered from 1 on the axes, as in the paper, because a logarithmic
axis has no 0; index 0 in the library is the leading one, drawn at 1.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float, Int

from .style import INK, LINEARIZED, MUTED, NETWORK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NUMBER = "eigenfunction number  (1 = leading, log scale)"


@dataclass(frozen=True)
class Accuracies:
    """Test accuracy of both models on each task.

    Attributes:
        index: Index of each task's eigenfunction, from 0.
        network: Accuracy of the network.
        linearized: Accuracy of its linearization.
        network_interval: Lower and upper ends of the network's interval.
        linearized_interval: Likewise.
        chance: Accuracy of the better constant answer.
        degenerate: Tasks where one class has nearly all samples.
        diverged: Tasks on which training of one of the models diverged.
    """

    index: Int[np.ndarray, " t"]
    network: Float[np.ndarray, " t"]
    linearized: Float[np.ndarray, " t"]
    network_interval: Float[np.ndarray, "2 t"]
    linearized_interval: Float[np.ndarray, "2 t"]
    chance: Float[np.ndarray, " t"]
    degenerate: Bool[np.ndarray, " t"]
    diverged: Bool[np.ndarray, " t"]

    @property
    def usable(self) -> Bool[np.ndarray, " t"]:
        """Tasks on which accuracies can be compared."""
        return ~(self.degenerate | self.diverged)


def accuracy_against_index(ax: "Axes", results: Accuracies) -> None:
    """The paper's figure: accuracy falls with the index, for both models.

    Args:
        ax: Where to draw.
        results: Accuracies of both models on each task.
    """
    number, use = results.index + 1, results.usable
    pair = results.network[use], results.linearized[use]
    ax.fill_between(number[use], *pair, color=MUTED, alpha=0.10, linewidth=0)
    _curve(ax, results, results.linearized, results.linearized_interval, LINEARIZED)
    _curve(ax, results, results.network, results.network_interval, NETWORK)
    ax.plot(
        number,
        results.chance,
        linestyle="none",
        marker="_",
        markersize=13,
        markeredgewidth=1.8,
        color=MUTED,
        label="larger class alone",
    )
    if not use.all():
        crosses = ax.plot(number[~use], results.network[~use], "x", color=MUTED)
        crosses[0].set(markeredgewidth=1.8, label="left out (see table)")
    _index_axis(ax, number)
    low = min(results.network_interval.min(), results.linearized_interval.min())
    ax.set_ylim(min(0.45, low - 0.02), 1.015)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    ax.set_ylabel("test accuracy")
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=4, columnspacing=1.4)


def _curve(ax: "Axes", results: Accuracies, values, interval, color: str) -> None:
    """One model's accuracies with their intervals; the network's markers are filled."""
    number, use, filled = results.index + 1, results.usable, color == NETWORK
    ax.vlines(number[use], *interval[:, use], color=color, alpha=0.35, linewidth=4)
    ax.plot(
        number[use],
        values[use],
        color=color,
        marker="o" if filled else "s",
        markerfacecolor=color if filled else "white",
        markeredgewidth=1.6,
        label="network" if filled else "linearization",
    )


def class_balance(
    ax: "Axes", index: Int[np.ndarray, " t"], balance: Float[np.ndarray, " t"]
) -> None:
    """Share of samples labeled 1, per task.

    Args:
        ax: Where to draw.
        index: Index of each task's eigenfunction, from 0.
        balance: Share of samples labeled 1.
    """
    number = index + 1
    ax.axhline(0.5, color=MUTED, linewidth=1.2, linestyle=(0, (4, 2)))
    ax.vlines(number, 0.5, balance, color=MUTED, linewidth=1.6)
    ax.plot(number, balance, "o", color=INK, markersize=4.5)
    _index_axis(ax, number)
    ax.set_ylim(-0.04, 1.04)
    ax.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    ax.set_ylabel("share of\nclass 1")


@dataclass(frozen=True)
class SpectrumSeries:
    """Eigenvalues of a Gram matrix and which of them made tasks.

    Attributes:
        eigenvalues: All that were computed, descending.
        index: Index of each task's eigenfunction.
        resolution: Eigenvalues below are rounding.
    """

    eigenvalues: Float[np.ndarray, " k"]
    index: Int[np.ndarray, " t"]
    resolution: float


def eigenvalues(ax: "Axes", series: SpectrumSeries) -> None:
    """The spectrum on log axes, with the tasks marked on it.

    Args:
        ax: Where to draw.
        series: Eigenvalues and marks.
    """
    lam, index = series.eigenvalues, series.index
    number = np.arange(1, len(lam) + 1)
    ax.loglog(number[lam > 0], lam[lam > 0], color=INK, linewidth=1.8)
    ax.loglog(
        index + 1,
        lam[index],
        linestyle="none",
        marker="o",
        markerfacecolor="white",
        markeredgecolor=INK,
        markeredgewidth=1.6,
        label="eigenfunctions made into tasks",
    )
    ax.axhspan(
        min(series.resolution, lam[lam > 0].min()) / 3,
        series.resolution,
        color=MUTED,
        alpha=0.15,
        linewidth=0,
        label="below the resolution of the Gram matrix",
    )
    _index_axis(ax, number)
    ax.set_ylabel("eigenvalue of the Gram matrix")
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=2)


def learning_curves(
    axes: "np.ndarray",
    index: Int[np.ndarray, " t"],
    network: Float[np.ndarray, "t e"],
    linearized: Float[np.ndarray, "t e"],
) -> None:
    """Training loss of both models, one panel per task.

    Args:
        axes: At least one `Axes` per task; those left over stay empty.
        index: Index of each task's eigenfunction.
        network: Mean training loss of each epoch.
        linearized: Likewise.
    """
    epochs = np.arange(1, network.shape[1] + 1)
    for ax in axes[len(index) :]:
        ax.set_axis_off()
    for panel, ax in enumerate(axes[: len(index)]):
        marker = "o" if len(epochs) < 3 else None  # a line needs two points
        for losses, color, label in (
            (linearized[panel], LINEARIZED, "linearization"),
            (network[panel], NETWORK, "network"),
        ):
            ax.semilogy(epochs, losses, color=color, label=label, marker=marker)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_title(f"eigenfunction {index[panel] + 1}", fontsize=11)
    for ax in axes[: len(index)][-2:]:
        ax.set_xlabel("epoch")
    for ax in axes[: len(index) : 2]:
        ax.set_ylabel("training loss")
    handles, labels = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(handles, labels, loc="outside upper left", ncols=2)


@dataclass(frozen=True)
class Gallery:
    """Images at both ends of each eigenfunction.

    Attributes:
        index: Index of each eigenfunction shown.
        lowest: The images where it is smallest, from the extreme inwards.
        highest: The images where it is largest, likewise.
    """

    index: Int[np.ndarray, " t"]
    lowest: Float[np.ndarray, "t k h w c"]
    highest: Float[np.ndarray, "t k h w c"]


def gallery(figure: "Figure", images: Gallery) -> None:
    """What an eigenfunction looks for: its extreme images, one row each.

    Args:
        figure: An empty figure.
        images: The images.
    """
    rows, columns = images.lowest.shape[:2]
    axes = figure.subplots(rows, 2 * columns + 1, squeeze=False)
    for ax in axes.ravel():
        ax.set_axis_off()
    for row in range(rows):
        left, right = images.lowest[row], images.highest[row][::-1]
        for column in range(columns):
            _picture(axes[row, column], left[column])
            _picture(axes[row, columns + 1 + column], right[column])
        axes[row, columns].text(
            0.5,
            0.5,
            f"φ$_{{{images.index[row] + 1}}}$",
            ha="center",
            va="center",
            fontsize=15,
        )
    axes[0, 0].set_title("smallest values", color=MUTED, fontsize=11)
    axes[0, -1].set_title("largest values", color=MUTED, fontsize=11, loc="right")


def _picture(ax: "Axes", image: Float[np.ndarray, "h w c"]) -> None:
    span = np.ptp(image)
    scaled = (image - image.min()) / (span if span else 1)
    if image.shape[-1] == 3:
        ax.imshow(scaled)
    else:
        ax.imshow(scaled[..., 0], cmap="gray_r")


def _index_axis(ax: "Axes", number: np.ndarray) -> None:
    ax.set_xscale("log")
    ax.set_xlim(0.85, number.max() * 1.2)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_minor_formatter(lambda value, _: "")
    ax.set_xlabel(_NUMBER)
