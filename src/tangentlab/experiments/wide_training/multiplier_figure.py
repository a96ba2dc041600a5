"""How far networks are from regression, against the factor of their output."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.page import Section
from ...report.style import MUTED, style
from ...store import Run
from ..stages.panels import curve_with_spread, new_figure, plain_ticks
from .computing import multiplied_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def multiplier_section(run: Run) -> Section:
    """The section on small factors.

    Args:
        run: A finished run with multipliers.

    Returns:
        Text and figure.
    """
    return Section(
        "A small factor before the output",
        "Distance at test samples from regression with the infinite kernel, which "
        "starts at 0, for networks whose output is multiplied by κ; bands are "
        "Student's 95 % intervals over initializations. As κ falls, so do the outputs "
        "that the network starts from (dots), and the distance with them. Below some κ "
        "it grows again, since weights have to move by 1/κ as much; a wider network is "
        "nearer, and most so where κ is small. Hence the theorem's two conditions, a "
        "small κ and a width that is polynomial in 1/κ.",
        {"multiplier": _figure(run)},
    )


def _figure(run: Run) -> "Figure":
    from matplotlib import colormaps

    config = run.config
    factors = np.array(config.multipliers)
    widths = config.multiplier_widths
    shades = colormaps["viridis"](np.linspace(0.05, 0.8, len(widths)))
    with style():
        figure = new_figure(4.4)
        axes = figure.subplots(1, len(config.activations), sharey=True, squeeze=False)
        for ax, activation in zip(axes[0], config.activations, strict=True):
            ax.set(xscale="log", yscale="log")
            for width, color in zip(widths, shades, strict=True):
                saved = run.arrays(multiplied_name(activation, width))
                options = {"color": color, "marker": "o", "label": f"width {width:,}"}
                curve_with_spread(ax, factors, saved["gaps"], **options)
            widest = run.arrays(multiplied_name(activation, widths[-1]))
            starts = np.exp(np.log(widest["starts"]).mean(axis=0))
            dots = {"color": MUTED, "linestyle": (0, (1, 2)), "linewidth": 1.6}
            ax.plot(factors, starts, label="outputs before training", **dots)
            ax.set_xlabel("factor κ of the output")
            ax.set_title(activation)
            plain_ticks(ax, factors)
        low, high = axes[0, 0].get_ylim()
        ticks = [t for t in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1) if low <= t <= high]
        axes[0, 0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes[0, 0].set_ylabel("distance to the infinite kernel")
        axes[0, 0].legend()
        return figure
