"""The report of the separation experiment, from its run folder alone."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.style import LINEARIZED, MUTED, NETWORK, style
from ...report.tables import Column, Row, Table
from ...store import Run
from ..stages.panels import curve_with_spread, new_figure, plain_ticks
from .results import MODELS, Needs, read_needs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS = ({"color": NETWORK, "marker": "o"}, {"color": LINEARIZED, "marker": "s"})
_UNREACHED = "not reached with the samples tried"
_FEWEST = "reached with the fewest samples tried: fewer may do"


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the separation experiment.

    Returns:
        Summary, table and figures.
    """
    needs = read_needs(run)
    network, kernel = (_exponent(each) for each in needs.exponents)
    degree = run.config.degree
    return Report(
        title=f"Parity of {degree} of d bits: the network needs fewer samples",
        summary=(
            f"The label is a product of {degree} coordinates out of d. For a test "
            f"accuracy of {run.config.level:.0%} samples grow like d to the power "
            f"{network} for the trained network and {kernel} for its infinitely wide "
            f"kernel, which cannot tell the {math.comb(needs.dims[-1], degree):,} "
            f"products of {degree} of {needs.dims[-1]} coordinates apart."
        ),
        sections=(
            Section(
                "Samples needed against dimension",
                "Where the mean accuracy over draws first reaches the level, on a "
                "logarithmic scale. Dashes: as many samples as there are products, "
                "where a kernel could learn all of them.",
                {"samples": _needs_figure(run, needs)},
            ),
            Section(
                "Accuracy against samples",
                "One panel a dimension; bands are Student's 95 % intervals over draws, "
                "the same for both; the network's accuracy is a mean over "
                f"{run.config.seeds} initializations on each.",
                {"accuracy": _accuracy_figure(run)},
            ),
        ),
        console_table=_table(run, needs),
        highlights=(
            Highlight(network, "exponent of the dimension, network"),
            Highlight(kernel, "exponent of the dimension, kernel"),
        ),
    )


def _exponent(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _needs_figure(run: Run, needs: Needs) -> "Figure":
    dims = np.array(needs.dims, float)
    with style():
        figure = new_figure(4.0, 6.6)
        ax = figure.subplots()
        for row, name in enumerate(MODELS):
            known = np.isfinite(needs.samples[row])
            label = f"{name}, exponent {_exponent(needs.exponents[row])}"
            options = {**_LOOKS[row], "label": label}
            ax.loglog(dims[known], needs.samples[row, known], **options)
        counts = [math.comb(int(dim), run.config.degree) for dim in dims]
        dashes = {"linestyle": (0, (4, 2)), "linewidth": 1.2}
        ax.loglog(dims, counts, color=MUTED, label="number of such products", **dashes)
        ax.set(xlabel="dimension d", ylabel="samples needed")
        plain_ticks(ax, needs.dims)
        low, high = ax.get_ylim()
        ticks = [t for t in (50, 100, 200, 400, 800, 1600, 3200) if low <= t <= high]
        ax.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
        ax.legend()
        return figure


def _accuracy_figure(run: Run) -> "Figure":
    dims = run.config.dims
    with style():
        figure = new_figure(3.4)
        axes = figure.subplots(1, len(dims), sharey=True, squeeze=False)[0]
        for ax, dim in zip(axes, dims, strict=True):
            saved = run.arrays(f"dim-{dim}")
            ax.set_xscale("log")
            for row, name in enumerate(MODELS):
                values = saved["accuracies"][..., row]
                options = {**_LOOKS[row], "label": name, "markersize": 4.5}
                curve_with_spread(ax, saved["sizes"], values, (0, 1), **options)
            level = run.config.level
            ax.axhline(level, color=MUTED, linewidth=1.2, linestyle=(0, (1, 2)))
            ax.set_title(f"d = {dim}", fontsize=11)
            ax.set(xlabel="samples", ylim=(0.42, 1.03))
            plain_ticks(ax, saved["sizes"][::2])
        axes[0].set_ylabel("test accuracy")
        handles = axes[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside upper left", ncols=2)
        return figure


def _table(run: Run, needs: Needs) -> Table:
    rows = []
    for dim, network, kernel in zip(needs.dims, *needs.samples, strict=True):
        cells = [float(x) if np.isfinite(x) else None for x in (network, kernel)]
        products = math.comb(dim, run.config.degree)
        fewest = float(run.arrays(f"dim-{dim}")["sizes"][0])
        flag = _FEWEST if fewest in cells else ""
        flag = _UNREACHED if None in cells else flag
        rows.append(Row((dim, *cells, products), flag))
    columns = (
        Column("dimension", "d"),
        Column("network", ".0f"),
        Column("kernel", ".0f"),
        Column("products", "d"),
    )
    caption = f"Samples needed for a test accuracy of {run.config.level:.0%}."
    return Table(columns, tuple(rows), caption)
