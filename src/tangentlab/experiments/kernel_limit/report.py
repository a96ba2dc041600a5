"""The report of the kernel limit experiment, from its run folder alone."""

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.scaling_figures import slope_text
from ...report.tables import Column, Row, Table
from ...store import Run
from ..stages.scaling import slope
from . import figures
from .claims import Results, claims, read_results


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the experiment.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    return Report(
        title="How fast does a kernel reach infinite width?",
        summary=_summary(results),
        sections=_sections(run, results),
        console_table=_table(results),
        highlights=_highlights(results),
        claims=claims(results),
        claims_caption="Intervals are Student's 95 % intervals over initializations; "
        "errors of formulas are exact numbers.",
    )


def _summary(results: Results) -> str:
    widest = int(results.widths[-1])
    parts = [
        f"{100 * np.exp(np.log(errors[:, -1]).mean()):.1f} % ({name})"
        for name, errors in results.errors.items()
    ]
    return (
        "The kernel of one random network is off its limit by about one over the root "
        f"of the width: at {widest} units by {', '.join(parts)}. The lectures' closed "
        "forms are compared with integrals; the printed κ belongs to another factor."
    )


def _sections(run: Run, results: Results) -> tuple[Section, ...]:
    made = [
        Section(
            "From finite width to infinite",
            "Relative distance in Frobenius norm between the tangent kernel of a "
            "random network and that of infinite width. Small dots are draws.",
            {"convergence": figures.convergence(results)},
        ),
        Section(
            "Closed forms and integrals",
            "The kernel of two layers of ReLU as a function of the angle between two "
            "inputs: as the CentraleSupelec lecture prints it, corrected, and as a "
            "random network of many units has it. Below, the distance from quadrature.",
            {"formulas": figures.formulas(results)},
        ),
    ]
    if run.config.depths and run.config.deep_widths:
        made.append(
            Section(
                "Depth over width",
                "Relative variance over initializations, of the kernel of a sample "
                "with itself and of the last hidden layer's squared norm. The latter "
                "has a formula, the line. Networks of one ratio of depth to width "
                "fluctuate alike: wide is not enough if deep. Faint points come out "
                "low: a single draw holds more than a tenth of their variance, and "
                "rarer, larger ones were not drawn.",
                {"fluctuations": figures.fluctuations(run)},
            )
        )
    return tuple(made)


def _table(results: Results) -> Table:
    rows = []
    for name, errors in results.errors.items():
        for width, values in zip(results.widths, errors.T, strict=True):
            numbers = np.quantile(values, [0.5, 0.05, 0.95])
            rows.append(Row((name, int(width), *map(float, numbers))))
    return Table(
        (
            Column("network", align="left"),
            Column("width", "d"),
            Column("median error", ".2%"),
            Column("5 %", ".2%"),
            Column("95 %", ".2%"),
        ),
        tuple(rows),
        "Relative distance of finite kernels from the infinite one, with quantiles "
        "over initializations.",
    )


def _highlights(results: Results) -> tuple[Highlight, ...]:
    return tuple(
        Highlight(slope_text(slope(results.widths, errors)), f"slope, {name}")
        for name, errors in results.errors.items()
    )
