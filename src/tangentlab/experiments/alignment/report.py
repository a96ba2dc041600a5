"""The report of the alignment experiment, from its run folder alone."""

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.tables import Column, Row, Table
from ...store import Run
from ..stages.naming import subject
from . import figures as drawing
from .claims import claims
from .results import Measured, Results, read_results


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the alignment experiment.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    name = subject(results.model, results.data)
    return Report(
        title=f"The tangent kernel along training: {name}",
        summary=_summary(results),
        sections=_sections(results),
        console_table=_table(results),
        highlights=_highlights(results),
        claims=claims(results),
        claims_caption=_caption(results),
    )


def _summary(results: Results) -> str:
    found = next(iter(results.measured.values()))
    begin, end = (100 * found.concentration[:, at].mean() for at in (0, -1))
    aligned = (found.centered[:, -1] / found.centered[:, 0]).mean()
    seeds = "One seed." if len(results.seeds) == 1 else f"{len(results.seeds)} seeds."
    return (
        f"While the network learns half of the classes against the others on "
        f"{found.num_train:,} samples, the share of its labels in the "
        f"{results.num_modes} leading eigenvectors of its kernel goes from {begin:.1f} "
        f"to {end:.1f} %, measured on {results.kernel_samples:,} of the samples, and "
        f"its centered alignment to {aligned:.3g} times what it was. Test accuracy is "
        f"{100 * found.accuracy[:, -1].mean():.1f} %. {seeds}"
    )


def _caption(results: Results) -> str:
    if len(results.seeds) == 1:
        return (
            "The interval of the rise is over permuted labels; one seed says nothing "
            "about other initializations (--seeds 5 does)."
        )
    return f"Intervals are Student's 95 % intervals over {len(results.seeds)} seeds."


def _highlights(results: Results) -> tuple[Highlight, ...]:
    found = next(iter(results.measured.values()))
    begin, end = (100 * found.concentration[:, at].mean() for at in (0, -1))
    rise = np.exp(found.log_rise.mean())
    return (
        Highlight(
            f"{begin:.1f} → {end:.1f} %",
            f"of the labels in {results.num_modes} eigenvectors",
        ),
        Highlight(f"{rise:.3g} ×", "rise of the centered alignment with the labels"),
        Highlight(f"{found.distance[:, -1].mean():.2f}", "how far the kernel turned"),
        Highlight(f"{100 * found.accuracy[:, -1].mean():.1f} %", "test accuracy"),
    )


def _table(results: Results) -> Table:
    rows = []
    for found in results.measured.values():
        for name, power in (("norm", 1), ("energy", 2)):
            rows.append(_row(found, f"{found.num_train:,} samples", name, power))
    if results.published is not None:
        rows.append(Row(("paper, Table 1", "?", *results.published, None, None)))
    over = "" if len(results.seeds) == 1 else f", means over {len(results.seeds)} seeds"
    return Table(
        (
            Column("trained on", align="left"),
            Column("share of", align="left"),
            Column("at first", ".1%"),
            Column("at last", ".1%"),
            Column("accuracy", ".1%"),
            Column("rise of alignment", ".2f"),
            Column("kernel distance", ".3f"),
        ),
        tuple(rows),
        f"Share of the labels in the {results.num_modes} leading eigenvectors, of "
        "their norm and of their energy, which is its square, before training and "
        f"after the last epoch; test accuracy{over}. By chance {results.chance:.1%} "
        f"and {results.chance**2:.1%}. Alignment is the centered one.",
    )


def _row(found: Measured, name: str, kind: str, power: int) -> Row:
    shares = (found.concentration**power).mean(axis=0)
    numbers = (
        shares[0],
        shares[-1],
        found.accuracy[:, -1].mean(),
        (found.centered[:, -1] / found.centered[:, 0]).mean(),
        found.distance[:, -1].mean(),
    )
    return Row((name, kind, *map(float, numbers)))


def _sections(results: Results) -> tuple[Section, ...]:
    stars = " Stars are Table 1 of the paper." if results.published else ""
    return (
        Section(
            "Alignment and energy concentration",
            "The kernel's alignment with the labels, raw, over the kernel's trace, and "
            "centered and free of scale, beside all permuted label vectors (gray). "
            f"Lower right, the share of the labels in the {results.num_modes} leading "
            f"eigenvectors: of their norm (solid) and their energy (dashed).{stars}",
            {"alignment": drawing.alignment_figure(results)},
        ),
        Section(
            "How the kernel moves",
            "Cosine distance of the kernel from that at the start; its distance from "
            "the measurement before, per epoch; and the effective rank, the squared "
            "trace over the squared Frobenius norm.",
            {"motion": drawing.motion_figure(results)},
        ),
        Section(
            "Is it the labels?",
            "A kernel that turns changes its alignment with any vector. The line is "
            "the rise for the labels that were learned, the bars that for the same "
            "labels in random order; of the first seed.",
            {"rise": drawing.rise_figure(results)},
        ),
    )
