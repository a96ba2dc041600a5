"""The figures of the spectrum experiment."""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ...report import spectrum_figures
from ...report.style import INK, MUTED, style
from ..stages.axes import plain_numbers
from ..stages.panels import COLORS, new_figure
from .results import Found, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PUBLISHED_OVERLAP = 0.78
GAUSSIAN_OVERLAP = float(np.sqrt(2 / np.pi))
_CLASS, _HALVES, _RANDOM, _SIGNS = COLORS[5], COLORS[0], COLORS[2], COLORS[1]
_DOTS, _DASHES = (0, (1, 1.6)), (0, (5, 2))
_NUMBER = "eigenfunction number  (1 = leading, log scale)"
_BINS = 60  # of the mean of neighbors
_MOST = 300  # points of a curve: more cannot be told apart
_THIN: dict[str, Any] = {"linewidth": 1.0, "alpha": 0.7}
_LEGEND: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (-0.01, 1.0)}


def decay_figure(results: Results) -> "Figure":
    """Eigenvalues with a power law and the resolution, other seeds as thin lines.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    first, *others = results.found
    with style():
        figure = new_figure(4.6)
        ax = figure.subplots()
        shown = spectrum_figures.SavedEigenvalues(first.eigenvalues, first.resolution)
        spectrum_figures.eigenvalue_decay(ax, shown, first.law)
        for row, each in enumerate(others):
            _thin_line(ax, each, "other seeds" if row == 0 else None)
        if others:
            highest = max(float(each.eigenvalues[0]) for each in results.found)
            ax.set_ylim(top=2 * highest)
            handles, _ = ax.get_legend_handles_labels()
            handles[0].set_label(f"eigenvalues, seed {results.seeds[0]}")
            handles.insert(1, handles.pop())  # before the long fit
            ax.legend(handles=handles, **_LEGEND, ncols=3, columnspacing=1.4)
        return figure


def _thin_line(ax: "Axes", found: Found, label: str | None) -> None:
    lam = found.eigenvalues
    above = np.flatnonzero((lam > 0) & (lam >= found.resolution))
    at = above[_spread(len(above))]
    ax.plot(at + 1, lam[at], color=COLORS[3], label=label, **_THIN)


def energy_figure(results: Results) -> "Figure":
    """How much of each label vector the leading modes hold, of the first seed.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    classes, drawn = results.classes[0], results.random[0]
    num = len(drawn.energy)
    at = _spread(num)
    running = np.cumsum(classes.energy, axis=0, dtype=np.float64)[at]
    chance = np.cumsum(drawn.energy, axis=0, dtype=np.float64)[at]
    with style():
        figure = new_figure(4.4)
        ax = figure.subplots()
        ends = (chance.min(axis=1), chance.max(axis=1))
        ax.fill_between(at + 1, *ends, color=_RANDOM, alpha=0.3, linewidth=0)
        label = _random_name(results)
        ax.plot(at + 1, chance.mean(axis=1), color=_RANDOM, label=label)
        line = {"color": INK, "linewidth": 1.2, "linestyle": _DOTS}
        ax.plot(at + 1, (at + 1) / results.num_samples, label="chance: k / n", **line)
        _draw_classes(ax, at, running, results)
        ax.set_xscale("log")
        ax.set_xlim(0.9, num * 1.1)
        ax.set_ylim(-0.01, max(1.03, 1.02 * running.max(initial=0)))
        plain_numbers(ax.xaxis)
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        ax.set_xlabel("number k of leading modes  (log scale)")
        ax.set_ylabel("energy in the leading modes")
        ax.legend(**_LEGEND, ncols=2)
        return figure


def _draw_classes(
    ax: "Axes", at: np.ndarray, running: np.ndarray, results: Results
) -> None:
    single = running[:, 1:] if results.halved else running
    name = f"each of {single.shape[1]} classes against the rest"
    if single.shape[1] == 1:
        name = f"{results.names[0]} against the rest"
    for column, values in enumerate(single.T):
        label = name if column == 0 else None
        ax.plot(at + 1, values, color=_CLASS, linewidth=1, alpha=0.6, label=label)
    if results.halved:
        label = _half_name(results)
        ax.plot(at + 1, running[:, 0], color=_HALVES, linewidth=2.6, label=label)


def complexity_figure(results: Results) -> "Figure":
    """Complexity of eigenfunctions, of their signs, of classes and of random labels.

    Args:
        results: Of a run; lines across and markers are of the first seed.

    Returns:
        The figure.
    """
    modes = results.modes
    number = modes.index + 1
    curves = (
        (modes.real, "φ$_j$ itself, real values: n / μ$_j$", INK, "o"),
        (modes.least, "signs of φ$_j$: yᵀ K⁻¹ y", _SIGNS, "s"),
    )
    with style():
        figure = new_figure(4.8)
        ax = figure.subplots()
        _draw_levels(ax, results)
        for values, label, color, marker in curves:
            options: dict[str, Any] = {"color": color, "marker": marker}
            options |= {"markersize": 4.5, "label": label}
            options["markerfacecolor"] = color if marker == "o" else "white"
            ax.plot(number, values[0], **options)
            for other in values[1:]:
                ax.plot(number, other, color=color, **_THIN)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlim(0.9, number.max() * 1.1)
        plain_numbers(ax.xaxis)
        ax.set_xlabel(_NUMBER)
        bound = "" if results.is_whole else ",\nlower bounds for labels"
        ax.set_ylabel(f"complexity in the kernel's space{bound}")
        handles, _ = ax.get_legend_handles_labels()
        handles = handles[-2:] + handles[:-2]
        ax.legend(handles=handles, **_LEGEND, ncols=2)
        return figure


def _draw_levels(ax: "Axes", results: Results) -> None:
    """Lines across for labels that belong to no mode."""
    drawn = results.random[0].least
    ends = (float(drawn.min()), float(drawn.max()))
    ax.axhspan(*ends, color=_RANDOM, alpha=0.25, linewidth=0)
    line: dict[str, Any] = {"linewidth": 1.8, "linestyle": _DOTS, "color": _RANDOM}
    ax.axhline(float(drawn.mean()), label=_random_name(results), **line)
    if results.halved:
        half = float(results.classes[0].least[0])
        line |= {"linestyle": _DASHES, "color": _HALVES}
        ax.axhline(half, label=_half_name(results), **line)


def overlap_figure(results: Results) -> "Figure":
    """How much of each eigenfunction its signs keep.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    first = results.found[0]
    at = np.flatnonzero(first.resolved)
    with style():
        figure = new_figure(4.3)
        ax = figure.subplots()
        options = {"color": MUTED, "alpha": 0.45, "markersize": 3.5}
        label = "eigenfunctions"
        if len(results.seeds) > 1:
            label += f" of seed {results.seeds[0]}"
        ax.plot(at + 1, first.overlap[at], ".", label=label, **options)
        ax.set_xscale("log")
        ax.plot(*_running_mean(first), color=INK, label="mean of neighbors")
        for row, other in enumerate(results.found[1:]):
            label = "other seeds" if row == 0 else None
            ax.plot(*_running_mean(other), color=INK, label=label, **_THIN)
        line: dict[str, Any] = {"color": COLORS[4], "linewidth": 1.6}
        label = f"published: {PUBLISHED_OVERLAP}"
        ax.axhline(PUBLISHED_OVERLAP, linestyle=_DASHES, label=label, **line)
        line["color"] = COLORS[3]
        label = f"Gaussian values: {GAUSSIAN_OVERLAP:.3f}"
        ax.axhline(GAUSSIAN_OVERLAP, linestyle=_DOTS, label=label, **line)
        ax.set_xlim(0.9, (at.max() + 1) * 1.1)
        plain_numbers(ax.xaxis)
        ax.set_xlabel(_NUMBER)
        ax.set_ylabel("overlap with its signs, ‖v‖₁ / √n")
        columns = 4 if len(results.seeds) == 1 else 3
        legend = ax.legend(**_LEGEND, ncols=columns, columnspacing=1.4)
        _enlarge(legend.legend_handles[0])
        return figure


def _enlarge(handle: Any) -> None:
    handle.set_markersize(8)  # a point of the cloud could not be seen


def _half_name(results: Results) -> str:
    text = "five classes against five"
    return f"CIFAR2: {text}" if results.data == "cifar10" else text


def _random_name(results: Results) -> str:
    return f"{len(results.random[0].held)} random labels, mean and range"


def _running_mean(found: Found) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of modes and mean overlaps of those near them on a log scale."""
    values = found.overlap[found.resolved]
    edges = np.geomspace(1, len(values) + 1, _BINS).round().astype(int)
    parts = list(itertools.pairwise(np.unique(edges)))
    number = [np.sqrt(low * (high - 1.0)) for low, high in parts]
    return np.array(number), np.array([values[a - 1 : b - 1].mean() for a, b in parts])


def _spread(num: int) -> np.ndarray:
    """Places from 0 on, evenly spread on a log scale."""
    return np.unique(np.geomspace(1, num, _MOST).round().astype(int)) - 1
