"""The report of the landscapes experiment, from its run folder alone."""

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.tables import Column, Row, Table
from ...store import Run
from . import figures
from .claims import CONVERGED, FITTED, Measured, claims, read_measured


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the landscapes experiment.

    Returns:
        Summary, claims, table and figures.
    """
    measured = read_measured(run)
    done, total = int(measured.converged.sum()), measured.converged.size
    stuck = float((measured.starts < 0).mean())
    return Report(
        title="Bad minima, saddles, and what gradient descent does there",
        summary=(
            f"One ReLU unit is stuck from {stuck:.0%} of its starts, a sum of m units "
            "from a share of 2⁻ᵐ. Deep linear networks are not convex and have saddles "
            f"without any curvature, but no bad minimum: of {total} descents {done} "
            "converged, the worst of them "
            f"{_worst(measured):.0e} above the global minimum, relative to it."
        ),
        sections=_sections(run, measured),
        console_table=_table(run),
        highlights=_highlights(run, measured),
        claims=claims(measured),
        claims_caption="Numbers without an interval are exact up to rounding; share "
        "stuck has a bootstrap interval over starts.",
    )


def _worst(measured: Measured) -> float:
    return float(np.abs(measured.excess[measured.converged]).max(initial=0.0))


def _highlights(run: Run, measured: Measured) -> tuple[Highlight, ...]:
    stuck, escape = run.arrays("stuck"), run.arrays("escape")
    last = run.config.units[-1]
    ratio = np.abs(escape["measured"] / escape["expected"] - 1).max()
    return (
        Highlight(f"{stuck['shares'][-1]:.2%}", f"of starts stuck with {last} units"),
        Highlight(f"{stuck['expected'][-1]:.2%}", "expected"),
        Highlight(
            f"{measured.converged.mean():.0%}", "of deep linear descents converged"
        ),
        Highlight(f"{ratio:.1%}", "largest error of a predicted escape time"),
    )


def _sections(run: Run, measured: Measured) -> tuple[Section, ...]:
    return (
        Section(
            "A bad minimum, and how width avoids it",
            "Left: every weight below 0 is a minimum of one ReLU unit on the sample "
            "(1, 1), and gradient descent never leaves it. Right: a sum of m units is "
            "stuck only if all of them are; bars are Wilson's 95 % intervals.",
            {"minimum": figures.minimum_figure(run, measured)},
        ),
        Section(
            "Width and the success of descent",
            f"ReLU networks learn the outputs of one with {run.config.teacher_units} "
            "units, so that the global minimum is 0 at every width. Left: the share of "
            f"{run.config.student_starts} random starts whose loss falls below "
            f"{FITTED:g} of that of the output 0 within "
            f"{run.config.student_steps:,} steps, with Wilson's 95 % intervals. Right: "
            "where each of them ends.",
            {"students": figures.student_figure(run)},
        ),
        Section(
            "Deep linear networks have no bad minimum",
            f"Gradient descent from {run.config.network_starts} random starts, "
            f"{run.config.width} hidden units, targets of rank 4. A descent has "
            f"converged if its gradient is below {CONVERGED:g}; plateaus on the way "
            "are saddles. Gray: still on the way.",
            {"networks": figures.network_figure(run, measured)},
        ),
        Section(
            "How long it takes",
            "Left: a chain of D weights, all equal at the start, until their product "
            "is one half. Right: stochastic gradient descent on a smooth loss that is "
            "not convex, with the best constant rate for each number of steps, and the "
            "theorem's bound.",
            {"speed": figures.speed_figure(run)},
        ),
    )


def _table(run: Run) -> Table:
    saved, rows = run.arrays("stuck"), []
    for number, units in enumerate(run.config.units):
        measured, expected = (saved[k][number] for k in ("shares", "expected"))
        rows.append(Row((units, float(measured), float(expected))))
    columns = (
        Column("ReLU units", "d"),
        Column("share stuck", ".3%"),
        Column("2⁻ᵐ", ".3%"),
    )
    num = f"{run.config.num_draws:,}"
    return Table(columns, tuple(rows), f"{num} normal starts for each number of units.")
