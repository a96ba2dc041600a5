"""The report of the spectrum experiment, from its run folder alone."""

import numpy as np

from ...report.page import Highlight, Report, Section
from ...store import Run
from ..stages.naming import subject
from . import figures as drawing
from .results import Found, Results, read_results
from .tables import bound_text, label_table, mode_table, summary_table


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the spectrum experiment.

    Returns:
        Summary, tables and figures.
    """
    results = read_results(run)
    return Report(
        title=f"Spectrum of the tangent kernel: {subject(results.model, results.data)}",
        summary=_summary(results),
        sections=(
            _decay_section(results),
            _energy_section(results),
            _complexity_section(results),
            _overlap_section(results),
        ),
        console_table=mode_table(results),
        highlights=_highlights(results),
    )


def _mean(results: Results, name: str) -> float:
    return float(np.mean([getattr(each, name) for each in results.found]))


def _exponent(results: Results) -> str:
    laws = [each.law for each in results.found if each.law]
    return f"{np.mean([law.exponent for law in laws]):.2f}" if laws else "–"


def _summary(results: Results) -> str:
    fewest = min(len(each.eigenvalues) for each in results.found)
    several = len(results.seeds) > 1
    text = (
        f"The {fewest:,} leading eigenvalues of the Gram matrix of "
        f"{results.num_samples:,} samples, train and test together, have an effective "
        f"rank of {_mean(results, 'effective_rank'):.1f} and fall like a power "
        f"−{_exponent(results)} of their number"
        f"{f', in the mean over {len(results.seeds)} seeds' if several else ''}."
    )
    if results.halved:
        text += (
            f" The labels of {results.names[0]} are {results.over_random(0):.2f} times "
            "as complex as random ones"
        )
        if not results.is_whole:
            held = np.mean([each.held[0] for each in results.classes])
            text += f", by lower bounds: these modes hold {held:.0%} of their energy"
        text += "."
    return text


def _highlights(results: Results) -> tuple[Highlight, ...]:
    rank = _mean(results, "effective_rank")
    overlap = _mean(results, "mean_overlap")
    return (
        Highlight(f"{rank:.1f}", "effective rank of the Gram matrix"),
        Highlight(_exponent(results), "exponent of the power law"),
        Highlight(
            "–" if np.isnan(overlap) else f"{overlap:.3f}",
            "overlap of eigenfunctions and their signs (published: "
            f"{drawing.PUBLISHED_OVERLAP})",
        ),
    )


def _decay_section(results: Results) -> Section:
    return Section(
        "How eigenvalues fall",
        f"{_counts(results.found[0], len(results.seeds))} The straight line is the "
        "power law that fits the modes it is drawn along; dots continue it.",
        {"decay": drawing.decay_figure(results)},
        summary_table(results),
    )


def _counts(found: Found, num_seeds: int) -> str:
    of = "" if num_seeds == 1 else " of the first seed"
    text = f"The {len(found.eigenvalues):,} leading eigenvalues{of}."
    if found.method == "nystrom":
        text += (
            " They are those of the landmarks, scaled: Nystrom's method. Its "
            "eigenvectors are orthogonal up to "
            f"{found.orthogonality_error:.2g}, so that energies do not quite add up."
        )
    if found.num_below_resolution:
        below = found.num_below_resolution
        text += f" {below:,} are below the resolution of the matrix: rounding."
    if found.num_negative:
        text += f" {found.num_negative:,} are below zero."
    if found.num_unconverged:
        text += f" {found.num_unconverged:,} did not converge."
    return text


def _energy_section(results: Results) -> Section:
    text = (
        "Share of the squared norm of labels in the leading modes"
        f"{'' if len(results.seeds) == 1 else ', first seed'}. The sooner a curve "
        "rises above chance, the better the kernel fits the labels."
    )
    if len(results.names) > 1:
        text += (
            " Labels of one class against the rest are mostly -1, and the leading "
            "mode, which is nearly constant, holds most of that."
        )
    if results.is_approximate:
        text += (
            " Modes from landmarks are not quite orthogonal, so that shares may add up "
            "to more than 100 %."
        )
    return Section(
        "Where the energy of labels is",
        text,
        {"energy": drawing.energy_figure(results)},
    )


def _complexity_section(results: Results) -> Section:
    return Section(
        "What labels cost in the space of the kernel",
        "The inverse eigenvalue is the complexity of the real-valued eigenfunction "
        "alone. Its signs have energy in many other modes, and the small eigenvalues "
        "of these decide what the labels cost. The band is the range of random labels"
        f"{'' if len(results.seeds) == 1 else '; thin lines are other seeds'}. "
        f"{bound_text(results)}",
        {"complexity": drawing.complexity_figure(results)},
        label_table(results),
    )


def _overlap_section(results: Results) -> Section:
    overlap = _mean(results, "mean_overlap")
    measured = "" if np.isnan(overlap) else f", here {overlap:.3f} in the mean"
    return Section(
        "What signs keep of eigenfunctions",
        "The scalar product of each eigenfunction with its signs, both of unit norm"
        f"{measured} over the resolved modes but the leading one.",
        {"overlap": drawing.overlap_figure(results)},
    )
