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

_NUMBER = "eigenfunction number  (1 = leading, log scale)"


@dataclass(frozen=True)
class Accuracies:
    """Test accuracy of both models on each task, averaged over seeds.

    Attributes:
        index: Index of each task's eigenfunction, from 0.
        network: Accuracy of the network.
        linearized: Accuracy of its linearization.
        network_interval: Lower and upper ends of the network's interval.
        linearized_interval: Likewise.
        chance: Accuracy of the better constant answer.
        degenerate: Tasks where one class has nearly all samples.
        diverged: Tasks on which training of one of the models diverged.
        reference: Accuracy of network and linearization on another task, drawn as
            lines; None for no lines.
        reference_name: Of that task.
    """

    index: Int[np.ndarray, " t"]
    network: Float[np.ndarray, " t"]
    linearized: Float[np.ndarray, " t"]
    network_interval: Float[np.ndarray, "2 t"]
    linearized_interval: Float[np.ndarray, "2 t"]
    chance: Float[np.ndarray, " t"]
    degenerate: Bool[np.ndarray, " t"]
    diverged: Bool[np.ndarray, " t"]
    reference: tuple[float, float] | None = None
    reference_name: str = "CIFAR2"

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
        markersize=13 if len(number) < 25 else 8,
        markeredgewidth=1.8,
        color=MUTED,
        label="larger class alone",
    )
    _left_out(ax, results)
    if results.reference is not None:
        _reference(ax, results.reference, results.reference_name)
    _index_axis(ax, number)
    low = min(results.network_interval.min(), results.linearized_interval.min())
    ax.set_ylim(min(0.45, low - 0.02), 1.015)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    ax.set_ylabel("test accuracy")
    handles, _ = ax.get_legend_handles_labels()
    columns = 4 if len(handles) <= 4 else 3
    place = {"loc": "lower left", "bbox_to_anchor": (-0.01, 1.0), "columnspacing": 1.4}
    ax.legend(handles=handles, ncols=columns, **place)


def _curve(ax: "Axes", results: Accuracies, values, interval, color: str) -> None:
    """One model's accuracies with their intervals; the network's markers are filled."""
    number, use, filled = results.index + 1, results.usable, color == NETWORK
    many = len(number) >= 25
    width = 3 if many else 4
    ax.vlines(number[use], *interval[:, use], color=color, alpha=0.35, linewidth=width)
    ax.plot(
        number[use],
        values[use],
        color=color,
        marker="o" if filled else "s",
        markersize=4.5 if many else 6.5,
        markerfacecolor=color if filled else "white",
        markeredgewidth=1.6,
        label="network" if filled else "linearization",
    )


def _left_out(ax: "Axes", results: Accuracies) -> None:
    kinds = {
        "x": ("degenerate, left out", results.degenerate & ~results.diverged),
        "+": ("diverged, left out", results.diverged),
    }
    for marker, (label, some) in kinds.items():
        if some.any():
            number, values = results.index[some] + 1, results.network[some]
            crosses = ax.plot(number, values, marker, color=INK, markersize=8)
            crosses[0].set(markeredgewidth=2.0, linestyle="none", label=label)


def _reference(ax: "Axes", pair: tuple[float, float], name: str) -> None:
    gap = pair[0] - pair[1]
    for value, color, sign in ((pair[0], NETWORK, 1), (pair[1], LINEARIZED, -1)):
        ax.axhline(value, color=color, linewidth=1.1, linestyle=(0, (1, 2)))
        above = sign * gap >= 0
        ax.annotate(
            name,
            (0.0, value),
            xycoords=("axes fraction", "data"),
            xytext=(4, 3 if above else -3),
            textcoords="offset points",
            ha="left",
            va="bottom" if above else "top",
            fontsize=9,
            color=color,
        )


def class_balance(
    ax: "Axes",
    index: Int[np.ndarray, " t"],
    balance: Float[np.ndarray, "s t"],
    degenerate: Bool[np.ndarray, "s t"],
) -> None:
    """Share of samples labeled 1, per task; crosses are degenerate.

    Args:
        ax: Where to draw.
        index: Index of each task's eigenfunction, from 0.
        balance: Share of samples labeled 1, for each seed.
        degenerate: Where one class has nearly all samples.
    """
    number = np.broadcast_to(index + 1, balance.shape)
    many = balance.size >= 25
    ax.axhline(0.5, color=MUTED, linewidth=1.2, linestyle=(0, (4, 2)))
    ax.vlines(number.ravel(), 0.5, balance.ravel(), color=MUTED, linewidth=1.2)
    use = ~degenerate
    ax.plot(number[use], balance[use], "o", color=INK, markersize=3.2 if many else 4.5)
    if degenerate.any():  # an empty curve that is not clipped spoils the layout
        crosses = {"markersize": 8, "markeredgewidth": 2.0, "clip_on": False}
        ax.plot(number[degenerate], balance[degenerate], "x", color=INK, **crosses)
    _index_axis(ax, index + 1)
    ax.set_ylim(-0.06, 1.06)
    ax.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    ax.set_ylabel("share of\nclass 1")


@dataclass(frozen=True)
class Growth:
    """A quantity of both models on each task.

    Attributes:
        name: Of the quantity, for its axis.
        network: Of the network, on each task; infinite where it was never reached.
        linearized: Of its linearization, likewise.
    """

    name: str
    network: Float[np.ndarray, " t"]
    linearized: Float[np.ndarray, " t"]


def growth_against_index(
    ax: "Axes", index: Int[np.ndarray, " t"], shown: Growth
) -> None:
    """A quantity of both models; triangles above are runs that never got there.

    Args:
        ax: Where to draw.
        index: Index of each task's eigenfunction, from 0.
        shown: The quantity.
    """
    number = index + 1
    series = ((shown.linearized, LINEARIZED, "s"), (shown.network, NETWORK, "o"))
    top = 1.15 * max(v.max(where=np.isfinite(v), initial=0.0) for v, _, _ in series)
    top = top if top > 0 else 1.0
    never = False
    for row, (values, color, marker) in enumerate(series):
        there, missing = np.isfinite(values), np.isinf(values)
        ax.plot(
            number[there],
            values[there],
            color=color,
            marker=marker,
            markersize=4.5,
            markerfacecolor=color if marker == "o" else "white",
            label="network" if marker == "o" else "linearization",
        )
        if missing.any():
            heights = np.full(missing.sum(), top * (1.08 + 0.07 * row))
            ax.plot(number[missing], heights, "^", color=color, markersize=4.5)
            never = True
    if never:
        ax.axhline(top, color=MUTED, linewidth=1.2, linestyle=(0, (4, 2)))
        ax.text(0.95, top * 1.23, "never", fontsize=9, color=MUTED)
    if not any(np.isfinite(values).any() for values, _, _ in series):
        ax.set_yticks([])
    ax.set_ylim(0, top * (1.33 if never else 1.0))
    ax.set_yticks([tick for tick in ax.get_yticks() if tick <= top])
    ax.set_title(shown.name, fontsize=11)
    _index_axis(ax, number)
    ax.set_xlabel("eigenfunction number")


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
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.yaxis.set_minor_formatter(_two_or_five)
        ax.set_title(f"eigenfunction {index[panel] + 1}", fontsize=11)
    for ax in axes[: len(index)][-2:]:
        ax.set_xlabel("epoch")
    for ax in axes[: len(index) : 2]:
        ax.set_ylabel("training loss")
    handles, labels = axes[0].get_legend_handles_labels()
    axes[0].figure.legend(handles, labels, loc="outside upper left", ncols=2)


def _two_or_five(value: float, _: object = None) -> str:
    """Labels between powers of ten, few enough to be read."""
    return f"{value:g}" if f"{value:e}"[0] in "25" else ""


def _index_axis(ax: "Axes", number: np.ndarray) -> None:
    ax.set_xscale("log")
    ax.set_xlim(0.85, number.max(initial=1) * 1.2)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_minor_formatter(lambda value, _: "")
    ax.set_xlabel(_NUMBER)
