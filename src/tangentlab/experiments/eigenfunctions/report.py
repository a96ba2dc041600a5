"""The report of the eigenfunctions experiment, from its run folder alone."""

import numpy as np

from ...analysis import Claim, Finding
from ...report.claims import MARKS, estimate_text
from ...report.page import Highlight, Report, Section
from ...report.tables import Column, Row, Table
from ...store import Run
from . import figures as drawing
from .claims import claims, trends
from .results import Results, read_results


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
        summary=_summary(results),
        sections=tuple(_sections(run, results, judged)),
        console_table=_table(results),
        highlights=_highlights(results, judged),
        claims=judged,
        claims_caption=_caption(results),
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


def _caption(results: Results) -> str:
    left_out = "The leading eigenfunction and degenerate tasks are left out."
    if len(results.seeds) == 1:
        return (
            "Intervals are 95 % bootstrap intervals over tasks: with one seed they say "
            f"nothing about other initializations (--seeds 5 does). {left_out}"
        )
    return (
        "Numbers are means over seeds, intervals 95 % bootstrap intervals over "
        f"{len(results.seeds)} seeds. {left_out}"
    )


def _highlights(results: Results, judged: tuple[Claim, ...]) -> tuple[Highlight, ...]:
    by_id = {claim.id: claim for claim in judged}
    lead, falls = by_id["D3"].findings[0], by_id["D1"].findings
    agree = by_id["D2"].findings[1]
    return (
        Highlight(
            _short(lead), "lead of the linearization, mean over indices from 10 on"
        ),
        Highlight(_short(falls[0]), "rank correlation of index and accuracy, network"),
        Highlight(
            _short(falls[1]), "rank correlation of index and accuracy, linearization"
        ),
        Highlight(_short(agree), "rank correlation of the two accuracies"),
    )


def _short(finding: Finding) -> str:
    value = finding.estimate.value
    if np.isnan(value):
        return "–"
    text = f"{100 * value:+.1f} pts" if finding.percent else f"{value:+.2f}"
    return text.replace("-", "−")


def _table(results: Results) -> Table:
    shown = drawing.accuracies(results)
    close = "labels may depend on rounding: eigenvalues here are within the resolution"
    flags = np.where(results.unresolved.any(axis=0), close, "")
    flags = np.where(shown.degenerate, "degenerate: one class has over 95 %", flags)
    flags = np.where(shown.diverged, "training diverged", flags)
    columns = zip(
        results.index,
        results.eigenvalue.mean(axis=0),
        results.balance.mean(axis=0),
        shown.network,
        shown.linearized,
        flags,
        strict=True,
    )
    rows = [
        Row((int(i), *map(float, (lam, b, f, g, f - g))), str(why))
        for i, lam, b, f, g, why in columns
    ]
    headings = (
        Column("index", "d"),
        Column("eigenvalue", ".4g"),
        Column("class balance", ".1%"),
        Column("network", ".1%"),
        Column("linearized", ".1%"),
        Column("advantage", "+.1%"),
    )
    over = "" if len(results.seeds) == 1 else f", mean over {len(results.seeds)} seeds"
    caption = (
        f"Test accuracy at the end of training{over}. Index 0 is the paper's phi_1, "
        "number 1 in the figures; class balance is the share of class 1; advantage is "
        "network minus linearization."
    )
    if results.reference is not None:
        network, linearized = (ended.accuracy.mean() for ended in results.reference)
        caption += (
            f" For reference, the first five classes against the others: network "
            f"{network:.1%}, linearized {linearized:.1%}."
        )
    return Table(headings, tuple(rows), caption)


def _trend_table(results: Results) -> Table:
    found = trends(results)
    rows = []
    for network, linearized in zip(found[::2], found[1::2], strict=True):
        name = network.name.removeprefix("network, ")
        rows.append(
            Row(
                (
                    name,
                    *(estimate_text(each.estimate) for each in (network, linearized)),
                )
            )
        )
    never = [int(np.isinf(ended.iterations).sum()) for ended in results.pair]
    return Table(
        (
            Column("quantity", align="left"),
            Column("network", align="left"),
            Column("linearization", align="left"),
        ),
        tuple(rows),
        "Kendall's tau-b of the index and each quantity, with 95 % intervals. The loss "
        f"was never reached in {never[0]} runs of the network and {never[1]} of the "
        "linearization, which rank as ties at the end.",
    )


def _sections(run: Run, results: Results, judged: tuple[Claim, ...]) -> list[Section]:
    made = [
        Section(
            "Accuracy against eigenfunction index",
            "Where the blue curve is above the orange one, the linear model "
            f"generalizes better than the network it came from. {_bars(results)} "
            "Dashes are what the larger class alone would score. Below, the share of "
            f"samples labeled 1, and {_verdicts(judged)}.",
            {"accuracy": drawing.accuracy_figure(results, judged)},
        ),
        Section(
            "The spectrum of the kernel",
            _spectrum_text(run, results),
            {
                "spectrum": drawing.spectrum_figure(run, results),
                "energy": drawing.energy_figure(run, results),
            },
        ),
        Section(
            "How far and how fast",
            "Steps until the mean training loss of an epoch is 0.01, and how far "
            "parameters end from where they began. Triangles at the top: never within "
            "the epochs given.",
            {"growth": drawing.growth_figure(results)},
            _trend_table(results),
        ),
        Section(
            "How both fit their training samples",
            "Mean training loss of each epoch, from the leading eigenfunctions to the "
            "last. Same parameters at the start, same batches, same recipe.",
            {"training": drawing.training_figure(run, results)},
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


def _bars(results: Results) -> str:
    if len(results.seeds) == 1:
        return "Bars are Wilson's 95 % intervals of the finite test split."
    return "Bars are Student's 95 % intervals over seeds."


def _verdicts(judged: tuple[Claim, ...]) -> str:
    parts = [f"{c.id} {MARKS[c.verdict]} {c.verdict}" for c in judged]
    return f"what follows: {', '.join(parts)}"


def _spectrum_text(run: Run, results: Results) -> str:
    arrays = run.arrays(f"spectrum-{results.seeds[0]}")
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
    overlap = arrays["overlap"][1:]
    if len(overlap):
        text += (
            " Signs keep "
            f"{overlap.mean():.2f} of an eigenfunction in the mean, so that part of a "
            "label's energy lies in other modes, as the second figure shows."
        )
    return text
