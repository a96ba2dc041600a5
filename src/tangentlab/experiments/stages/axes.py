"""Axes that several experiments draw alike."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_FEW_DECADES = 3.5


def plain_numbers(axis: "Axis") -> None:
    """Label a logarithmic axis at 1, 2 and 5 times powers of ten, written out.

    Args:
        axis: The x or y axis of an `Axes`. One of many decades is labeled at powers of
            ten alone.
    """

    def between(value: float, _: object) -> str:
        low, high = np.log10(axis.get_view_interval())
        few = abs(high - low) < _FEW_DECADES
        return f"{value:g}" if few and f"{value:e}"[0] in "25" else ""

    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(between)


def index_axis(ax: "Axes", index: np.ndarray) -> None:
    """Eigenfunctions along a logarithmic x axis, counted from 1.

    Args:
        ax: Whose x axis.
        index: Those that are shown, from 0.
    """
    ax.set_xscale("log")
    plain_numbers(ax.xaxis)
    ax.set_xlim((index.min() + 1) / 1.12, (index.max() + 1) * 1.12)
    ax.set_xlabel("eigenfunction number")
