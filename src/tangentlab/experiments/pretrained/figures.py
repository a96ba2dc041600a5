"""The figures of the comparison with the pretrained kernel."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...analysis import accuracy_interval, mean_interval
from ...report.style import LINEARIZED, MUTED, NETWORK, style
from ..stages.axes import index_axis, plain_numbers
from ..stages.panels import COLORS, new_figure
from .results import Learned, Results, agreement

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TRAINED = COLORS[1]
_LOWEST = 1e-3  # of the target loss, that an axis of losses shows
_ROOM = 1.5  # above the largest loss


class _Look(NamedTuple):
    """How a model is drawn."""

    name: str
    color: str
    marker: str
    fill: str


_LOOKS = (
    _Look("network", NETWORK, "o", NETWORK),
    _Look("linear, initial kernel $\\Theta_0$", LINEARIZED, "s", "white"),
    _Look("linear, trained kernel $\\Theta_T$", _TRAINED, "D", "white"),
)


def accuracy_figure(results: Results) -> "Figure":
    """Test accuracy of the three models, and how close the linear ones come.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure(4.2)
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        for look, model in zip(_LOOKS, results.models, strict=True):
            _accuracies(left, results, look, model)
        use = results.used
        chance = results.chance.mean(axis=0)[use]
        left.plot(
            results.index[use] + 1,
            chance,
            "_",
            color=MUTED,
            markersize=10,
            markeredgewidth=1.8,
            label="larger class alone",
        )
        left.set_title("test accuracy", fontsize=11)
        for look, model in zip(_LOOKS[1:], results.models[1:], strict=True):
            same, _ = agreement(model, results.network)
            _curve(right, results, look, same)
        right.set_title("answers equal to the network's", fontsize=11)
        for ax in (left, right):
            index_axis(ax, results.index)
            ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=4)
        return figure


def speed_figure(results: Results) -> "Figure":
    """Steps to the target loss, against index.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure(3.9)
        ax = figure.subplots()
        use = results.used
        for look, model in zip(_LOOKS, results.models, strict=True):
            steps = results.steps(model)
            never = np.logical_or.reduce(np.isinf(steps), axis=0) & use
            _curve(ax, results, look, steps, ~never)
            if never.any():  # an empty curve that is not clipped spoils the layout
                top = np.full(never.sum(), results.num_steps)
                number = results.index[never] + 1
                ax.plot(number, top, "^", color=look.color, markersize=7, clip_on=False)
        ax.axhline(results.num_steps, color=MUTED, linewidth=1.2, linestyle=(0, (4, 2)))
        ax.annotate(
            "end of training",
            (1.0, results.num_steps),
            xycoords=("axes fraction", "data"),
            xytext=(0, 4),
            textcoords="offset points",
            ha="right",
            fontsize=9,
            color=MUTED,
        )
        ax.set_yscale("log")
        plain_numbers(ax.yaxis)
        ax.set_ylabel(f"steps to a loss of {results.target_loss:g}")
        index_axis(ax, results.index)
        handles, labels = ax.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=3)
        return figure


def training_figure(results: Results) -> "Figure":
    """Training loss of some tasks, of the first seed.

    Losses below a thousandth of the target are cut off.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    usable = np.flatnonzero(results.usable[0])
    places = usable if len(usable) else np.arange(len(results.index))
    some = np.linspace(0, len(places) - 1, min(3, len(places))).round().astype(int)
    with style():
        figure = new_figure(3.5)
        axes = figure.subplots(1, len(some), sharex=True, sharey=True, squeeze=False)[0]
        for ax, at in zip(axes, places[some], strict=True):
            for look, model in zip(_LOOKS, results.models, strict=True):
                loss = model.loss[0, at]
                epochs = np.arange(1, len(loss) + 1)
                marker = "o" if len(loss) < 3 else None
                ax.plot(epochs, loss, color=look.color, label=look.name, marker=marker)
            ax.axhline(
                results.target_loss, color=MUTED, linewidth=1.2, linestyle=(0, (4, 2))
            )
            ax.set_yscale("log")
            ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            ax.set_title(f"eigenfunction {results.index[at] + 1}", fontsize=11)
            ax.set_xlabel("epoch")
        _cut(axes[0], _LOWEST * results.target_loss)
        axes[0].set_ylabel("training loss")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=3)
        return figure


def _cut(ax: "Axes", lowest: float) -> None:
    """Make an axis fit the part of its curves that is not below a number."""
    values = np.concatenate([np.ravel(line.get_ydata()) for line in ax.lines])
    if (values[values > 0] < lowest).any():
        shown = values[np.isfinite(values) & (values >= lowest)]
        ax.set_ylim(lowest, _ROOM * shown.max(initial=lowest))


def _accuracies(ax: "Axes", results: Results, look: _Look, model: Learned) -> None:
    use = results.used
    interval = accuracy_interval(model.accuracy[0], results.num_test)
    if len(results.seeds) > 1:
        interval = np.clip(mean_interval(model.accuracy.astype(float)), 0, 1)
    number = results.index[use] + 1
    ax.vlines(number, *interval[:, use], color=look.color, alpha=0.3, linewidth=3)
    _curve(ax, results, look, model.accuracy)


def _curve(
    ax: "Axes",
    results: Results,
    look: _Look,
    values: np.ndarray,
    some: np.ndarray | None = None,
) -> None:
    use = results.used
    use = use if some is None else use & some
    ax.plot(
        results.index[use] + 1,
        values.mean(axis=0)[use],
        color=look.color,
        marker=look.marker,
        markersize=5,
        markerfacecolor=look.fill,
        label=look.name,
    )
