"""The report of the rotation experiment, from its run folder alone."""

import numpy as np

from ...analysis import Claim
from ...report.page import Highlight, Report, Section
from ...report.tables import Column, Row, Table
from ...store import Run
from ..stages.flags import DEGENERATE, DIVERGED
from ..stages.naming import subject
from . import figures as drawing
from .claims import claims
from .results import Results, details, read_results

_UNRESOLVED = "below what the Gram matrix resolves"


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the rotation experiment.

    Returns:
        Summary, claim, table and figures.
    """
    results = read_results(run)
    found = claims(results)
    return Report(
        title=f"Rotation of the tangent kernel: {subject(results.model, results.data)}",
        summary=_summary(results),
        sections=_sections(run, results),
        console_table=_table(results),
        highlights=_highlights(results, found),
        claims=found,
        claims_caption=_caption(results),
        details=details(results),
    )


def _summary(results: Results) -> str:
    use = results.usable
    if not use.any():
        return (
            "No task can be used: all are degenerate or below what the Gram matrix "
            "resolves, or training diverged."
        )
    rank = results.turned["all"].rank[use]
    score = results.turned["all"].neighbor_score[use]
    seeds = "One seed." if len(results.seeds) == 1 else f"{len(results.seeds)} seeds."
    return (
        "After the network has learned the sign of one eigenfunction of its kernel, "
        f"the kernel has grown {np.median(score):.2g} times as much along it as along "
        f"its median neighbor, in the median over {len(rank)} tasks, and more than "
        f"along any neighbor on {int((rank == 1).sum())}. {seeds} Degenerate tasks are "
        "left out, as is any whose training diverged, or that the Gram matrix does not "
        "resolve."
    )


def _caption(results: Results) -> str:
    if len(results.seeds) == 1:
        return (
            "Intervals are 95 % bootstrap intervals over tasks: with one seed they say "
            "nothing about other initializations (--seeds 5 does)."
        )
    return (
        "Shares are means over seeds before the largest is taken; intervals are 95 % "
        f"bootstrap intervals over {len(results.seeds)} seeds."
    )


def _highlights(results: Results, found: tuple[Claim, ...]) -> tuple[Highlight, ...]:
    use = results.usable
    if not use.any():
        return ()
    turned = results.turned
    worst = found[0].findings[0].estimate.value
    return (
        Highlight(
            f"{np.median(turned['all'].neighbor_score[use]):.2g} ×",
            "growth over that of the median neighbor, median over tasks",
        ),
        Highlight(
            f"{(turned['all'].rank[use] == 1).sum()} of {use.sum()}",
            "tasks whose eigenfunction grew more than all of its neighbors",
        ),
        Highlight(
            "–" if np.isnan(worst) else f"{100 * worst:.0f} %",
            "of neighbors grew as much in the worst case",
        ),
    )


def _table(results: Results) -> Table:
    degenerate, diverged = (
        np.any(each, axis=0) for each in (results.degenerate, results.diverged)
    )
    all_, train, test = (results.turned[part] for part in ("all", "train", "test"))
    rows = []
    for t, index in enumerate(results.index):
        flag = DEGENERATE if degenerate[t] else ""
        flag = DIVERGED if diverged[t] else flag
        if not flag and not all_.num_neighbors[:, t].all():
            flag = "no neighbors" if all_.rank[:, t].all() else _UNRESOLVED
        numbers = (
            results.accuracy[:, t].mean(),
            all_.neighbor_score[:, t].mean(),
            train.neighbor_score[:, t].mean(),
            test.neighbor_score[:, t].mean(),
            all_.score[:, t].mean(),
        )
        place = f"{all_.rank[:, t].mean():.3g} of {all_.num_neighbors[0, t] + 1}"
        place = "–" if flag == _UNRESOLVED else place
        rows.append(Row((int(index), *map(float, numbers), place), flag))
    over = "" if len(results.seeds) == 1 else f", means over {len(results.seeds)} seeds"
    return Table(
        (
            Column("index", "d"),
            Column("accuracy", ".1%"),
            Column("growth", ".2f"),
            Column("on train", ".2f"),
            Column("on test", ".2f"),
            Column("over all modes", ".2f"),
            Column("rank"),
        ),
        tuple(rows),
        "Growth of the kernel along the eigenfunction that was learned, over that of "
        f"its median neighbor{over}: on all samples, on the training and on the test "
        "samples; over the median of all eigenfunctions; and its rank among its "
        "neighbors. Index 0 is the paper's phi_1.",
    )


def _sections(run: Run, results: Results) -> tuple[Section, ...]:
    return (
        Section(
            "Growth along what was learned",
            "How much the kernel grew along the eigenfunction that was learned "
            "(orange), as a multiple of the growth along its median neighbor. Bars "
            "hold nine of ten neighbors. A single axis stands out where the dot is "
            "above the dash.",
            {"growth": drawing.growth_figure(results)},
        ),
        Section(
            "The kernel along all eigenfunctions",
            "Energy of the kernel along the eigenfunctions of the beginning, before "
            "(gray) and after (blue) a network learned one of them (orange), as in "
            "Figures 6 and 7 of the paper's supplement.",
            {"alignment": drawing.alignment_figure(run, results)},
        ),
    )
