"""The report of the experiment on anisotropy directions, from its folder alone."""

import numpy as np

from ...analysis import Claim
from ...report.claims import MARKS
from ...report.page import Highlight, Report, Section
from ...report.tables import Column, Row, Table
from ...store import Run
from . import figures as drawing
from .claims import claims
from .results import Learned, Results, read_results


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the experiment.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    judged = claims(results)
    name = drawing.model_name(results)
    return Report(
        title=f"Where {name} looks first: neural anisotropy directions",
        summary=_summary(results),
        sections=tuple(_sections(results, judged)),
        console_table=_table(results),
        highlights=_highlights(results, judged),
        claims=judged,
        claims_caption=_caption(results),
    )


def _summary(results: Results) -> str:
    found, d = results.found, results.found.energies.shape[1]
    text = (
        f"Of {d:,} directions of input space the tangent kernel of "
        f"{drawing.model_name(results)} has half of its energy in the first "
        f"{_half(found.energies[0])}. The ten leading directions at the origin and on "
        f"average over {results.num_average:,} samples share "
        f"{found.overlap.mean():.0%} of their span"
    )
    if results.learned is None:
        return f"{text}. Nothing was trained."
    learned = results.learned
    first, last = (
        [float(each[:, at].mean()) for each in (learned.network, learned.linearized)]
        for at in (0, -1)
    )
    return (
        f"{text}. From the first direction learned to the last the network falls from "
        f"{first[0]:.1%} to {last[0]:.1%} test accuracy, its linearization from "
        f"{first[1]:.1%} to {last[1]:.1%}, though all of these tasks are linearly "
        "separable with the same margin."
    )


def _half(energies: np.ndarray) -> int:
    total = np.cumsum(np.maximum(energies, 0))
    return int(np.searchsorted(total, total[-1] / 2)) + 1


def _caption(results: Results) -> str:
    if len(results.seeds) == 1:
        return (
            "With one seed intervals are 95 % bootstrap intervals over directions, and "
            "say nothing about other initializations (--seeds 5 does)."
        )
    return f"Intervals are Student's 95 % intervals over {len(results.seeds)} seeds."


def _highlights(results: Results, judged: tuple[Claim, ...]) -> tuple[Highlight, ...]:
    made = [
        Highlight(
            f"{results.found.overlap.mean():.2f}",
            "overlap of the leading directions, at the origin and on average",
        )
    ]
    for claim in judged:
        if claim.id == "D19":
            for finding in claim.findings[:2]:
                value = f"{finding.estimate.value:+.2f}".replace("-", "−")
                label = f"rank correlation of index and accuracy, {finding.name}"
                made.append(Highlight(value, label))
    return tuple(made)


def _table(results: Results) -> Table:
    return _energies(results) if results.learned is None else _learned(results.learned)


def _learned(learned: Learned) -> Table:
    rows = []
    for at, index in enumerate(learned.index):
        network, linearized = (
            float(each[:, at].mean()) for each in (learned.network, learned.linearized)
        )
        flag = "training diverged" if learned.diverged[:, at].any() else ""
        if not learned.resolved[:, at].all():
            flag = flag or "energy below rounding: one of many equal directions"
        energy = float(learned.energy[:, at].mean())
        cells = (int(index), energy, network, linearized, network - linearized)
        rows.append(Row(cells, flag))
    headings = (
        Column("index", "d"),
        Column("energy", ".3g"),
        Column("network", ".1%"),
        Column("linearized", ".1%"),
        Column("advantage", "+.1%"),
    )
    return Table(
        headings,
        tuple(rows),
        "Test accuracy at the end of training, means over seeds. Index 0 is the "
        "paper's first NAD, number 1 in the figures; advantage is network minus "
        "linearization.",
    )


def _energies(results: Results) -> Table:
    found, num = results.found, results.found.squared_cosines.shape[1]
    rows = tuple(
        Row(
            (
                at,
                float(found.energies[:, at].mean()),
                float(found.mean_energies[:, at].mean()),
                float(found.squared_cosines[:, at].mean()),
            )
        )
        for at in range(num)
    )
    headings = (
        Column("index", "d"),
        Column("energy at the origin", ".3g"),
        Column("energy on average", ".3g"),
        Column("squared cosine", ".3f"),
    )
    return Table(
        headings,
        rows,
        "Leading directions, means over seeds; squared cosines are those of the "
        "principal angles between the two leading subspaces, by decreasing size.",
    )


def _sections(results: Results, judged: tuple[Claim, ...]) -> list[Section]:
    made = [
        Section(
            "What the leading directions look like",
            "Above, directions as images, red and blue for positive and negative; "
            "below, the magnitude of their Fourier transform with frequency 0 in the "
            "middle. Numbers are energies, as a share of the first.",
            {"leading": drawing.leading_figure(results)},
        ),
        Section(
            "What the others look like",
            "The same for directions from the first to the last, by falling energy.",
            {"later": drawing.later_figure(results)},
        ),
        Section(
            "Energies, at the origin and on average",
            "Left, the squared singular values of the mixed derivative. Right, squared "
            "cosines of the principal angles between the leading directions at the "
            f"origin and those of the mean over {results.num_average:,} samples "
            f"({results.data}).",
            {"energy": drawing.energy_figure(results)},
        ),
    ]
    if results.learned is None:
        return made
    verdicts = ", ".join(f"{c.id} {MARKS[c.verdict]} {c.verdict}" for c in judged)
    learning = [
        Section(
            "Accuracy along each direction",
            "Network and linearization, trained on data that one direction alone "
            "labels and noise fills elsewhere. Directions are ordered by index. What "
            f"follows: {verdicts}.",
            {"accuracy": drawing.accuracy_figure(results, results.learned, judged)},
        ),
        Section(
            "Accuracy against alignment",
            "The same accuracies against the alignment of the kernel with each "
            "direction, the largest first.",
            {"alignment": drawing.alignment_figure(results.learned)},
        ),
    ]
    return [*learning, *made]
