"""Figures of a spectrum: arrays in, a drawing on the given axes out.

Modes are numbered from 1 on the axes, because a logarithmic axis has no 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from .._types import AnyArray
from ..spectra import Energy, PowerLaw
from .style import INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NUMBER = "mode number  (1 = leading, log scale)"
_FIT = "#15803d"
_TARGETS = (INK, "#15803d", "#7e22ce", "#a16207", "#0e7490", "#be185d")
_LEGEND: dict[str, Any] = {
    "loc": "lower left",
    "bbox_to_anchor": (-0.01, 1.0),
    "columnspacing": 1.4,
}
_DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))


@runtime_checkable
class Eigenvalues(Protocol):
    """What is drawn of a spectrum; a `Spectrum` has it."""

    @property
    def eigenvalues(self) -> Float[AnyArray, " k"]:
        """Descending."""
        ...

    @property
    def resolution(self) -> float:
        """Eigenvalues below are rounding."""
        ...


class SavedEigenvalues(NamedTuple):
    """Eigenvalues read from a file.

    Attributes:
        eigenvalues: Descending.
        resolution: Eigenvalues below are rounding.
    """

    eigenvalues: Float[AnyArray, " k"]
    resolution: float


def eigenvalue_decay(
    ax: "Axes", spectrum: Eigenvalues, fit: PowerLaw | None = None
) -> None:
    """Eigenvalues on log axes, with a power law and where rounding begins.

    Args:
        ax: Where to draw.
        spectrum: What to draw; eigenvalues at or below zero have no place on the axis.
        fit: Drawn along its range, and thinner beyond.
    """
    lam = np.asarray(spectrum.eigenvalues)
    number = np.arange(1, len(lam) + 1)
    known = (lam > 0) & (lam >= spectrum.resolution)
    lost = (lam > 0) & ~known
    few = known.sum() < 40
    ax.loglog(
        number[known],
        lam[known],
        color=INK,
        linewidth=2.2,
        marker="o" if few else None,
        markersize=4,
        label="eigenvalues",
    )
    ax.loglog(number[lost], lam[lost], ".", color=MUTED, markersize=3)
    if fit is not None:
        _draw_fit(ax, fit, len(lam))
    _draw_resolution(ax, spectrum, lam)
    _number_axis(ax, len(lam))
    ax.set_ylabel("eigenvalue of the Gram matrix")
    ax.legend(**_LEGEND, ncols=2)


def mark_modes(
    ax: "Axes", spectrum: Eigenvalues, index: Sequence[int], label: str
) -> None:
    """Mark some of the eigenvalues drawn before.

    Args:
        ax: Where they were drawn.
        spectrum: What was drawn.
        index: Which ones, from 0.
        label: What they are, for the legend.
    """
    at = np.asarray(index, int)
    lam = np.asarray(spectrum.eigenvalues)[at]
    ax.plot(
        at[lam > 0] + 1,
        lam[lam > 0],
        linestyle="none",
        marker="o",
        markersize=6 if len(at) < 25 else 4,
        markerfacecolor="white",
        markeredgecolor=INK,
        markeredgewidth=1.5,
        label=label,
        zorder=3,
    )
    handles, _ = ax.get_legend_handles_labels()
    handles.insert(1, handles.pop())  # beside the eigenvalues, before the long fit
    ax.legend(handles=handles, **_LEGEND, ncols=3)


def _draw_fit(ax: "Axes", fit: PowerLaw, num: int) -> None:
    ends = np.array([fit.start + 1, fit.stop])
    label = (
        f"$\\mu_j \\propto j^{{-\\alpha}}$, "
        f"$\\alpha$ = {fit.exponent:.3f} ± {fit.standard_error:.1g}, "
        f"modes {fit.start + 1} to {fit.stop}"
    )
    ax.loglog(ends, _line(fit, ends), color=_FIT, linewidth=2.2, label=label)
    whole = np.array([1, num])
    dots = (0, (1, 2))
    ax.loglog(whole, _line(fit, whole), color=_FIT, linewidth=1.1, linestyle=dots)


def _line(fit: PowerLaw, number: np.ndarray) -> np.ndarray:
    return fit.prefactor * number.astype(float) ** -fit.exponent


def _draw_resolution(ax: "Axes", spectrum: Eigenvalues, lam: np.ndarray) -> None:
    """A line where rounding begins, if it is anywhere near."""
    smallest, largest = lam[lam > 0].min(initial=np.inf), lam.max()
    low = smallest / 3
    if 0 < spectrum.resolution > smallest / 100:
        ax.axhline(
            spectrum.resolution, color=MUTED, linewidth=1.2, linestyle=(0, (4, 2))
        )
        low = min(low, spectrum.resolution / 6)
        ax.axhspan(low, spectrum.resolution, color=MUTED, alpha=0.10, linewidth=0)
        ax.annotate(
            "below: rounding of the matrix",
            (0.015, spectrum.resolution),
            xycoords=("axes fraction", "data"),
            xytext=(0, -4),
            textcoords="offset points",
            va="top",
            fontsize=9.5,
            color=MUTED,
        )
    ax.set_ylim(low, largest * 2)


@dataclass(frozen=True)
class Target:
    """A target's energy, to be drawn.

    Attributes:
        name: Of the target, for the legend.
        cumulative: Share of its squared norm in the leading modes.
    """

    name: str
    cumulative: Float[np.ndarray, " k"]


def targets(names: list[str], energy: Energy) -> list[Target]:
    """Columns of an energy by name.

    Args:
        names: One for each target.
        energy: Of as many targets.

    Returns:
        The targets.
    """
    columns = energy.cumulative.reshape(len(energy.cumulative), -1).T
    return [Target(*pair) for pair in zip(names, columns, strict=True)]


def cumulative_energy(ax: "Axes", shown: list[Target], num_samples: int) -> None:
    """How much of each target the leading modes hold, against how many they are.

    Args:
        ax: Where to draw.
        shown: The targets, six at most.
        num_samples: Over which chance is drawn: a random target has k / n in k modes.

    Raises:
        ValueError: If there are more targets than colors.
    """
    if not 1 <= len(shown) <= len(_TARGETS):
        raise ValueError(
            f"A figure takes 1 to {len(_TARGETS)} targets, got {len(shown)}: draw the "
            "others on axes of their own."
        )
    num = len(shown[0].cumulative)
    number = np.arange(1, num + 1)
    ax.plot(
        number,
        number / num_samples,
        color=MUTED,
        linewidth=1.4,
        linestyle=(0, (1, 1.5)),
        label="random target",
    )
    for at, target in enumerate(shown):
        ax.plot(
            number,
            target.cumulative,
            color=_TARGETS[at],
            linestyle=_DASHES[at % len(_DASHES)],
            label=target.name,
        )
    _number_axis(ax, num)
    ax.set_ylim(-0.01, 1.03)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    ax.set_ylabel("energy in the leading modes")
    ax.legend(**_LEGEND, ncols=min(4, -(-(len(shown) + 1) // 2)))


def _number_axis(ax: "Axes", num: int) -> None:
    ax.set_xscale("log")
    ax.set_xlim(0.85, max(num, 2) * 1.15)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.xaxis.set_minor_formatter(lambda value, _: "")
    ax.set_xlabel(_NUMBER)
