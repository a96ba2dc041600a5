"""The report of the eigenfunctions experiment, from its run folder alone."""

from collections.abc import Mapping

import numpy as np

from ...analysis import Claim, Finding
from ...report.claims import MARKS
from ...report.page import Highlight, Report, Section
from ...store import Run
from . import figures as drawing
from .claims import about_accuracy, claims
from .dynamics import trends
from .gap_figures import approximation_figure, lead_figure
from .measuring import agreement, falls, lead
from .results import Results, details, read_results
from .tables import accuracy_table, rate_table, trend_table


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the eigenfunctions experiment.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    judged = claims(results)
    title = f"Eigenfunctions of the tangent kernel: {drawing.subject(results)}"
    return Report(
        title=title,
        summary=_summary(results) + _source(run),
        sections=tuple(_sections(run, results, judged)),
        console_table=accuracy_table(results),
        highlights=_highlights(results),
        claims=judged,
        claims_caption=_caption(results),
        details=details(results),
    )


def _summary(results: Results) -> str:
    shown = drawing.accuracies(results)
    gap = (shown.network - shown.linearized)[shown.usable]
    if not len(gap):
        return "No task can be used: all are degenerate, or training diverged."
    ahead = "linearization" if gap.mean() < 0 else "network"
    lead = f"the {ahead} is ahead by {100 * abs(gap.mean()):.1f} points of accuracy"
    better = int((gap < 0).sum())
    if better in (0, len(gap)):
        lead += f" in the mean, and on each of {len(gap)} tasks"
    else:
        lead += f" in the mean over {len(gap)} tasks"
        lead += f"; the linear model is the better one on {better}"
    seeds = "One seed." if len(results.seeds) == 1 else f"{len(results.seeds)} seeds."
    return (
        f"Trained on {results.num_train:,} samples labeled by the sign of one "
        f"eigenfunction at a time and tested on {results.num_test:,}, {lead}. {seeds} "
        "Degenerate tasks are shown and left out of all numbers, as is any whose "
        "training diverged."
    )


def _source(run: Run) -> str:
    """Whose kernel labels come from, where it is not the network's own."""
    config = run.config
    if config.label_activation is None:
        return ""
    return (
        f" Labels come from the kernel with {config.label_activation} at the same "
        f"parameters; both models that learn them have {config.activation}."
    )


def _caption(results: Results) -> str:
    left_out = "The leading eigenfunction and degenerate tasks are left out."
    if len(results.seeds) == 1:
        return (
            "Intervals are 95 % bootstrap intervals over tasks: with one seed they say "
            f"nothing about other initializations (--seeds 5 does). {left_out}"
        )
    return (
        "Numbers are means over seeds, intervals Student's 95 % intervals over "
        f"{len(results.seeds)} seeds. {left_out}"
    )


def _highlights(results: Results) -> tuple[Highlight, ...]:
    network, linearized = falls(results)
    _, raw = agreement(results)
    fall = "rank correlation of index and accuracy"
    return (
        Highlight(
            _short(lead(results)),
            "lead of the linearization, mean over indices from 10 on",
        ),
        Highlight(_short(network), f"{fall}, network"),
        Highlight(_short(linearized), f"{fall}, linearization"),
        Highlight(_short(raw), "rank correlation of the two accuracies"),
    )


def _short(finding: Finding) -> str:
    value = finding.estimate.value
    if np.isnan(value):
        return "–"
    text = f"{100 * value:+.1f} pts" if finding.percent else f"{value:+.2f}"
    return text.replace("-", "−")


def _sections(run: Run, results: Results, judged: tuple[Claim, ...]) -> list[Section]:
    made = [
        _accuracy_section(results, about_accuracy(judged)),
        *_gap_sections(results, judged),
        *_spectrum_sections(run, results),
        Section(
            "How far and how fast",
            "Steps until the mean training loss of an epoch is 0.01, and how far "
            "parameters end from where they began. Triangles at the top: never within "
            "the epochs given.",
            {"growth": drawing.growth_figure(results)},
            trend_table(results, _trends(results, judged)),
        ),
        Section(
            "How both fit their training samples",
            "Mean training loss of each epoch, from the leading eigenfunctions to the "
            "last. Same parameters at the start, same batches, same recipe"
            f"{' but for the rate' if run.config.rates else ''}.",
            {"training": drawing.training_figure(run, results)},
            rate_table(run, results) if run.config.rates else None,
        ),
    ]
    if (run.path / "gallery.npz").is_file():
        made.append(
            Section(
                "What eigenfunctions look at",
                "The images at both ends of some eigenfunctions. The label changes "
                "somewhere between the two halves of a row, unless the task is "
                "degenerate.",
                {"gallery": drawing.gallery_figure(run)},
            )
        )
    return made


def _trends(results: Results, judged: tuple[Claim, ...]) -> tuple[Finding, ...]:
    """As they were judged; a run that speaks about other claims measures them here."""
    found = [claim.findings for claim in judged if claim.id == "D9"]
    return found[0] if found else trends(results)


def _accuracy_section(results: Results, shown: tuple[Claim, ...]) -> Section:
    return Section(
        "Accuracy against eigenfunction index",
        "Where the blue curve is above the orange one, the linear model "
        f"generalizes better than the network it came from. {_bars(results)} "
        "Dashes are what the larger class alone would score. Below, the share of "
        f"samples labeled 1, and {_verdicts(shown)}.",
        {"accuracy": drawing.accuracy_figure(results, shown)},
    )


def _gap_sections(
    results: Results, judged: tuple[Claim, ...]
) -> tuple[Section, Section]:
    return (
        Section(
            "How far network and linearization are apart",
            "Above 0 the linearization is ahead, below it the network.",
            {"lead": lead_figure(results, judged)},
        ),
        Section(
            "Where the linearization tells most",
            "Each dot is a task: how far the two differ on the test samples against "
            "how far the network's weights went. Dots that rise to the right within "
            "one color say that the linearization tells most where weights stay near "
            "their start.",
            {"approximation": approximation_figure(results)},
        ),
    )


def _bars(results: Results) -> str:
    if len(results.seeds) == 1:
        return "Bars are Wilson's 95 % intervals of the finite test split."
    return "Bars are Student's 95 % intervals over seeds."


def _verdicts(judged: tuple[Claim, ...]) -> str:
    parts = [f"{c.id} {MARKS[c.verdict]} {c.verdict}" for c in judged]
    return f"what follows: {', '.join(parts)}"


def _spectrum_sections(run: Run, results: Results) -> tuple[Section, Section]:
    arrays = run.arrays(f"spectrum-{results.seeds[0]}")
    return (
        Section(
            "The spectrum of the kernel",
            _spectrum_text(arrays),
            {"spectrum": drawing.spectrum_figure(run, results)},
        ),
        Section(
            "Where the energy of labels is",
            _energy_text(arrays),
            {"energy": drawing.energy_figure(run, results)},
        ),
    )


def _spectrum_text(arrays: Mapping[str, np.ndarray]) -> str:
    num, below = len(arrays["eigenvalues"]), int(arrays["num_below_resolution"])
    text = (
        f"The {num:,} leading eigenvalues of the Gram matrix at initialization, train "
        "and test samples together. A task's kernel complexity is the inverse of its "
        f"eigenvalue. The effective rank is {float(arrays['effective_rank']):.1f}."
    )
    if below:
        text += f" {below:,} of them are below the resolution of the matrix: rounding."
    if int(arrays["num_unconverged"]):
        text += f" {int(arrays['num_unconverged']):,} did not converge."
    return text


def _energy_text(arrays: Mapping[str, np.ndarray]) -> str:
    text = (
        "Share of the energy of some labels in the leading modes. Labels are signs of "
        "eigenfunctions, so that part of it lies in other modes than their own."
    )
    overlap = arrays["overlap"][1:]
    if len(overlap):
        text += f" Signs keep {overlap.mean():.2f} of an eigenfunction in the mean."
    return text
