"""Figures and report of the losses experiment, from its run folder alone."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.scaling_figures import COLORS
from ...report.style import INK, MUTED, style
from ...report.tables import Column, Row, Table
from ...store import Run
from .claims import Results, claims, growth_rates, read_results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SQUARE, _ENTROPY = COLORS[0], COLORS[1]


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the experiment.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    rates = growth_rates(results)
    turned = results.to_margin[:, -1]
    return Report(
        title="One kernel, two losses, two ends",
        summary=(
            f"The linearization of a network of {run.config.width} units, "
            f"{run.config.num_train} samples ({run.config.data}), two losses, one "
            "Gram matrix. Square loss has converged to the interpolant of least norm. "
            f"Cross-entropy has not: its norm grows with log t, {rates.mean():.2f} "
            "times as fast as the hard margin predicts, and its cosine to that "
            f"classifier is {turned.mean():.3f}."
        ),
        sections=(
            Section(
                "Norm and direction",
                "Distance of the parameters from the start, and the cosine between "
                "that move and the hard-margin classifier. Early on both losses move "
                "alike; then square loss stops, and cross-entropy goes on and turns. "
                "Thin lines are other initializations.",
                {"losses": _figure_of(run, results)},
            ),
        ),
        console_table=_table(run),
        highlights=(
            Highlight(f"{rates.mean():.2f}", "growth of the norm over its prediction"),
            Highlight(f"{turned.mean():.3f}", "cosine to the hard margin at the end"),
            Highlight(
                f"{results.ends_cosine.mean():.3f}",
                "cosine of the two losses' ends",
            ),
        ),
        claims=claims(results),
        claims_caption="Intervals are Student's 95 % intervals over initializations.",
    )


def _figure_of(run: Run, results: Results) -> "Figure":
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=(10.4, 4.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        for number in range(run.config.seeds):
            arrays = run.arrays(f"flows-{number}")
            first = number == 0
            look = {"linewidth": 2.2 if first else 0.9, "alpha": 1.0 if first else 0.4}
            for name, color in (("square", _SQUARE), ("entropy", _ENTROPY)):
                label = {"square": "square loss", "entropy": "cross-entropy"}[name]
                shown = {"color": color, "label": label if first else None, **look}
                times = arrays["times"]
                left.semilogx(times, arrays[f"{name}_norm"], **shown)
                right.semilogx(times, arrays[f"{name}_to_margin"], **shown)
        times, last = results.times[0], 2 * results.times.shape[1] // 3
        line = results.norms[0, -1] + results.margin_norm[0] * np.log(times / times[-1])
        left.plot(
            times[last // 2 :],
            line[last // 2 :],
            color=INK,
            linestyle=(0, (5, 2)),
            linewidth=1.4,
            label="hard margin's norm × log t",
        )
        left.set_xlabel("time: learning rate x steps")
        left.set_ylabel("distance from the start")
        left.set_title("Square loss converges")
        left.legend()
        right.axhline(1, color=MUTED, linewidth=1.2)
        right.set_ylim(top=1.01)
        right.set_xlabel("time: learning rate x steps")
        right.set_ylabel("cosine to the hard-margin classifier")
        right.set_title("Cross-entropy turns to the hard margin")
        right.legend()
        return figure


def _table(run: Run) -> Table:
    saved = [run.arrays(f"flows-{number}") for number in range(run.config.seeds)]
    names = {"square loss": "square", "cross-entropy": "entropy"}
    rows = []
    for label, name in names.items():
        parts = ("norm", "to_least", "to_margin", "accuracy")
        cells = [
            float(np.mean([each[f"{name}_{part}"][-1] for each in saved]))
            for part in parts
        ]
        rows.append(Row((label, *cells)))
    return Table(
        (
            Column("loss", align="left"),
            Column("norm", ".2f"),
            Column("cosine to least norm", ".4f"),
            Column("cosine to hard margin", ".4f"),
            Column("test accuracy", ".1%"),
        ),
        tuple(rows),
        "At the last time, means over initializations.",
    )
