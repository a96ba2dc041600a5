"""The report of the linearization experiment, from its run folder alone."""

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.scaling_figures import slope_text
from ...report.tables import Column, Row, Table
from ...store import Run
from . import figures
from .claims import Results, claims, read_results, relu_slope


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the experiment.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    return Report(
        title="How far is a network from its linearization?",
        summary=_summary(run, results),
        sections=_sections(run, results),
        console_table=_table(run),
        highlights=(
            Highlight(
                slope_text(relu_slope(results), 3),
                "slope of the worst ReLU error in the width; the theorem has −0.167",
            ),
            Highlight(
                f"{max(r.max() for r in results.smooth.values()):.3f}",
                "of the smooth bound is what an adversary reached",
            ),
        ),
        claims=claims(results),
        claims_caption="Slopes have Student's 95 % intervals over initializations, "
        "rates those of Clopper and Pearson; other numbers are exact.",
    )


def _summary(run: Run, results: Results) -> str:
    config = run.config
    narrow, wide = (
        100 * float(np.median(_gaps(run, config.depths[0], width)[:, -1]))
        for width in (config.widths[0], config.widths[-1])
    )
    return (
        "Moved by "
        f"{config.distances[-1]:g} along the first gradient, a network of "
        f"{config.widths[0]} units is off its linearization by {narrow:.0f} % of the "
        f"change of its outputs, one of {config.widths[-1]} units by {wide:.0f} %. No "
        "weights break the lectures' bounds; the worst there are come close to the "
        "smooth one, and fall with the width as the one for ReLU does."
    )


def _sections(run: Run, results: Results) -> tuple[Section, ...]:
    return (
        Section(
            "Quality against width, depth and distance",
            "What the linearization gets wrong about the change of outputs, along the "
            "direction in which gradient descent sets out. It grows with distance and "
            "depth, and falls faster with the width than the worst case, since descent "
            "moves all units a little where an adversary moves one.",
            {"quality": figures.quality(run)},
        ),
        Section(
            "Smooth activations: the bound and an adversary",
            "The largest error that gradient ascent found within a ball, over the "
            "bound β r² / (2 √m). In a small ball all motion goes into the one unit of "
            "largest curvature, and the bound is nearly reached, at any width.",
            {"smooth": figures.smooth(run, results)},
        ),
        Section(
            "ReLU: the worst weights",
            "The largest error within a ball, exactly, for each of many random "
            "networks, and the bound. The exponent of the bound cannot be improved, "
            "its constant can.",
            {"relu": figures.relu(run, results)},
        ),
    )


def _table(run: Run) -> Table:
    config = run.config
    rows = [
        Row((depth, width, *np.median(_gaps(run, depth, width), axis=0).tolist()))
        for depth in config.depths
        for width in config.widths
    ]
    columns = (Column(f"at {distance:g}", ".2%") for distance in config.distances)
    return Table(
        (Column("hidden layers", "d"), Column("width", "d"), *columns),
        tuple(rows),
        "Median over initializations of the linearization error over the change of "
        "outputs, after so far a move along the first gradient.",
    )


def _gaps(run: Run, depth: int, width: int) -> np.ndarray:
    return run.arrays(f"quality-{depth}-{width}")["gaps"]
