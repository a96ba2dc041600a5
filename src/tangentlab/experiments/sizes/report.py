"""The report of the size study, from its run folder alone."""

import numpy as np

from ...analysis import Claim
from ...report.page import Highlight, Report, Section
from ...report.tables import Column, Row, Table
from ...store import Run
from ..stages.naming import subject
from .claims import claims
from .figures import accuracy_figure, gap_figure
from .results import Results, read_results


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the size study.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    judged = claims(results)
    name = subject(results.model, results.data)
    return Report(
        title=f"Training-set size: {name}",
        summary=_summary(results),
        sections=_sections(results, judged),
        console_table=_table(results),
        highlights=_highlights(results),
        claims=judged,
        claims_caption=(
            "Intervals of leads are Student's 95 % intervals, those of spreads are "
            f"bootstrap intervals, over {len(results.seeds)} draws of initialization "
            "and training samples, on the same test samples."
        ),
    )


def _summary(results: Results) -> str:
    gap = 100 * results.gap[..., 0].mean(axis=0)
    ends = [f"{abs(value):.1f} points" for value in (gap[0], gap[-1])]
    leaders = [
        "network" if value > 0 else "linearization" for value in (gap[0], gap[-1])
    ]
    then = "" if leaders[0] == leaders[1] else f"the {leaders[1]} "
    return (
        f"On {results.tasks[0]} the {leaders[0]} is ahead by {ends[0]} with "
        f"{results.sizes[0]:,} training samples and {then}by {ends[1]} with "
        f"{results.sizes[-1]:,}, tested on the same {results.num_test:,} samples. "
        f"{len(results.seeds)} draws of initialization and training samples."
    )


def _highlights(results: Results) -> tuple[Highlight, ...]:
    gap = 100 * results.gap[..., 0].mean(axis=0)
    return tuple(
        Highlight(
            f"{gap[place]:+.1f} pts".replace("-", "−"),
            f"lead of the network on {results.tasks[0]}, {results.sizes[place]:,} "
            "training samples",
        )
        for place in sorted({0, len(gap) - 1})
    )


def _sections(results: Results, judged: tuple[Claim, ...]) -> tuple[Section, ...]:
    return (
        Section(
            "Who is ahead at which size",
            "Above 0 the network generalizes better. Thin lines are single draws, "
            "thick ones their mean.",
            {"gap": gap_figure(results, judged)},
        ),
        Section(
            "Accuracy against training samples",
            "Bars are Student's 95 % intervals over draws. Eigenfunctions are those of "
            "the network's kernel on the samples of the largest size and the test "
            "samples; a smaller size sees fewer of the same labels. Epochs are the "
            "same at every size.",
            {"sizes": accuracy_figure(results)},
        ),
    )


def _table(results: Results) -> Table:
    rows = []
    for place, task in enumerate(results.tasks):
        for at, size in enumerate(results.sizes):
            usable = results.usable[:, at, place]
            means = [
                float(values[usable, at, place].mean()) if usable.any() else np.nan
                for values in (results.network, results.linearized, results.best)
            ]
            flag = (
                "" if usable.all() else "draws that diverged or are degenerate left out"
            )
            rows.append(Row((task, size, *means, means[0] - means[1]), flag))
    caption = (
        f"Test accuracy, mean over {len(results.seeds)} draws. Best epoch is that of "
        "the linearization on the test samples; lead is network minus linearization."
    )
    if results.long is not None:
        caption += (
            f" On {results.tasks[0]} with {results.sizes[-1]:,} samples the "
            f"linearization has {results.long.mean():.1%} after {results.epochs[1]:,} "
            "epochs."
        )
    columns = (
        Column("task", align="left"),
        Column("training samples", ",d"),
        Column("network", ".1%"),
        Column("linearized", ".1%"),
        Column("best epoch", ".1%"),
        Column("lead", "+.1%"),
    )
    return Table(columns, tuple(rows), caption)
