"""The figures of the paper's exact statements."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.style import INK, LINEARIZED, MUTED, NETWORK, style
from ..stages.panels import COLORS, new_figure
from .activity import part_of
from .claims import EXACT
from .results import Active, Lemma, Results, Theorem
from .theorem import DIRECTIONS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GAUSSIAN = np.sqrt(2 / np.pi)  # overlap of Gaussian noise with its signs
_SUPPLEMENT = 0.78
_LEAST = np.finfo(float).eps / 4  # where an error of exactly 0 is drawn


def error_figure(results: Results) -> "Figure":
    """How exact each identity is, and what the network does instead.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    lemma, frozen = results.lemma, results.frozen
    rows = (
        (
            "Lemma 1 is equal on\neigenvectors",
            lemma.slack[:, lemma.on_eigenvectors],
            None,
        ),
        ("alignment, by gradients\nand by Gram matrix", lemma.disagreement, None),
        ("second difference in\nthe parameters", frozen.linearized, frozen.network),
        (
            "effect of images\nbeside one",
            frozen.linearized_beside,
            frozen.network_beside,
        ),
    )
    with style():
        figure = new_figure(4.2)
        ax = figure.subplots()
        for row, (_, errors, contrast) in enumerate(rows):
            _dots(ax, row, errors, LINEARIZED, "s", "exact, up to rounding")
            if contrast is not None:
                _dots(ax, row, contrast, NETWORK, "o", "the network, for comparison")
        ax.axvline(EXACT, color=MUTED, linestyle=(0, (4, 2)), linewidth=1.4)
        ax.text(EXACT * 1.4, -0.42, "criterion", color=MUTED, fontsize=9.5)
        ax.set_xscale("log")
        ax.set_xlim(1e-17, 10)
        ax.set_ylim(len(rows) - 0.5, -0.6)
        ax.set_yticks(range(len(rows)), [name for name, _, _ in rows])
        ax.set_xlabel("relative error")
        _legend(ax)
        return figure


def lemma_figure(lemma: Lemma) -> "Figure":
    """Norm against bound: on the diagonal for eigenvectors, above it for others.

    Args:
        lemma: What was found.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure(4.6)
        ax = figure.subplots()
        kinds = list(dict.fromkeys(lemma.kind.tolist()))
        ends = np.array([lemma.bound.min() / 2, lemma.bound.max() * 2])
        ax.loglog(ends, ends, color=MUTED, linewidth=1.3, label="equality")
        for kind, color, marker in zip(kinds, (INK, *COLORS), "osD^v", strict=False):
            some = lemma.kind == kind
            ax.loglog(
                lemma.bound[:, some].ravel(),
                lemma.squared[:, some].ravel(),
                marker,
                color=color,
                markersize=5.5,
                alpha=0.8,
                markerfacecolor=color if marker == "o" else "none",
                label=kind,
            )
        ax.set_xlabel("bound ‖f‖⁴ / α(f)")
        ax.set_ylabel("squared kernel norm")
        _legend(ax)
        return figure


def theorem_figure(theorem: Theorem, seeds: tuple[int, ...]) -> "Figure":
    """Both sides of Theorem 1, as a ratio with three standard errors.

    Args:
        theorem: What was measured.
        seeds: The seeds.

    Returns:
        The figure.
    """
    ratio = 1 + theorem.difference / theorem.derivative
    bars = 3 * theorem.difference_error / theorem.derivative
    with style():
        figure = new_figure(3.4)
        ax = figure.subplots()
        place = np.arange(len(seeds), dtype=float)
        for column, (name, color) in enumerate(
            zip(DIRECTIONS, (INK, COLORS[0]), strict=True)
        ):
            ax.errorbar(
                place + 0.16 * (column - 0.5),
                ratio[:, column],
                bars[:, column],
                fmt="o",
                color=color,
                capsize=4,
                markersize=6,
                label=name,
            )
        ax.axhline(1, color=MUTED, linewidth=1.3, linestyle=(0, (4, 2)))
        ax.set_xticks(place, [f"seed {seed}" for seed in seeds])
        ax.set_xlim(-0.6, len(seeds) - 0.4)
        ax.set_ylabel("alignment / mean derivative")
        _legend(ax)
        return figure


def active_figure(active: Active) -> "Figure":
    """Active parameters of each part of the network among all of them.

    Args:
        active: Counts by layer.

    Returns:
        The figure.
    """
    part = np.array([part_of(layer) for layer in active.layer])
    counts = np.stack([active.gelu[0], active.relu[0], active.total])
    parts = {name: counts[:, part == name].sum(axis=1) for name in np.unique(part)}
    names = sorted(parts, key=lambda name: -parts[name][0])
    with style():
        figure = new_figure(3.6)
        ax = figure.subplots()
        for row, name in enumerate(names):
            count, with_relu, total = parts[name]
            ax.barh(row, total, color=MUTED, alpha=0.22, height=0.68)
            if count:
                ax.barh(row, count, color=LINEARIZED, height=0.68)
            text = f"  {count:,}" if count == total else f"  {count:,} of {total:,}"
            text += f"   (ReLU: {with_relu:,})" if with_relu < count else ""
            ax.text(total, row, text, va="center", fontsize=10)
        ax.set_xscale("log")
        ax.set_xlim(50, 4e8)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.set_yticks(range(len(names)), names)
        ax.set_xlabel("parameters of the published ResNet18  (log scale)")
        ax.grid(visible=False, axis="y")
        return figure


def overlap_figure(lemma: Lemma) -> "Figure":
    """How much of each eigenvector its signs keep.

    Args:
        lemma: With the overlaps.

    Returns:
        The figure.
    """
    number = np.arange(1, lemma.overlap.shape[1] + 1)
    with style():
        figure = new_figure(3.4)
        ax = figure.subplots()
        for row, values in enumerate(lemma.overlap):
            ax.semilogx(
                number,
                values,
                ".",
                color=INK,
                alpha=0.6,
                markersize=5,
                label="eigenvectors of the Gram matrix" if row == 0 else None,
            )
        lines = ((_GAUSSIAN, (0, (1, 2)), "Gaussian noise: √(2/π)"),)
        lines += ((_SUPPLEMENT, (0, (4, 2)), "the supplement: 0.78"),)
        for height, dots, label in lines:
            ax.axhline(height, color=MUTED, linestyle=dots, linewidth=1.4, label=label)
        ax.set_xlabel("eigenfunction number  (1 = leading, log scale)")
        ax.set_ylabel("‖v‖₁ / √N")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        _legend(ax)
        return figure


def _dots(
    ax: "Axes", row: int, errors: np.ndarray, color: str, marker: str, label: str
) -> None:
    values = np.maximum(np.abs(np.ravel(errors)), _LEAST)
    spread = 0.3 * np.linspace(-0.5, 0.5, len(values)) if len(values) > 1 else 0.0
    known = ax.get_legend_handles_labels()[1]
    ax.plot(
        values,
        row + np.zeros(len(values)) + spread,
        marker,
        color=color,
        markerfacecolor=color if marker == "o" else "none",
        markersize=4.5,
        alpha=0.75,
        label=None if label in known else label,
    )


def _legend(ax: "Axes") -> None:
    columns = 3 if len(ax.get_legend_handles_labels()[1]) > 4 else 4
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=columns)
