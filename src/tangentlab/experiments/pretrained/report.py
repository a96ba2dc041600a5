"""The report of the comparison with the pretrained kernel, from its run folder."""

import numpy as np

from ...analysis import Claim
from ...report.page import Highlight, Report, Section
from ...report.tables import Column, Row, Table
from ...store import Run
from ..stages.flags import DEGENERATE, DIVERGED
from ..stages.naming import subject
from . import figures as drawing
from .claims import claims
from .results import Results, agreement, details, read_results


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the comparison.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    found = claims(results)
    return Report(
        title=f"The trained tangent kernel: {subject(results.model, results.data)}",
        summary=_summary(results, centered=run.config.centered),
        sections=_sections(results),
        console_table=_table(results),
        highlights=_highlights(found),
        claims=found,
        claims_caption=_caption(results),
        details=details(results),
    )


def _summary(results: Results, *, centered: bool) -> str:
    use = results.usable
    if not use.any():
        return "No task can be used: all are degenerate, or training diverged."
    network, initial, pretrained = (
        f"{100 * each.accuracy[use].mean():.1f}" for each in results.models
    )
    seeds = "One seed." if len(results.seeds) == 1 else f"{len(results.seeds)} seeds."
    start = "output 0" if centered else "the outputs of the network they expand"
    return (
        f"On {int(use.sum(axis=1).min())} eigenfunction tasks with "
        f"{results.num_train:,} training samples the linear model of the kernel at "
        "initialization answers "
        f"{initial} % of the test samples right, that of the kernel after training "
        f"{pretrained} %, the network itself {network} %. {seeds} All start from the "
        f"same batches, the linear models from {start}. Degenerate tasks are left out, "
        "as is any on which training diverged."
    )


def _caption(results: Results) -> str:
    if len(results.seeds) == 1:
        return (
            "Intervals are 95 % bootstrap intervals over tasks: with one seed they say "
            "nothing about other initializations (--seeds 5 does)."
        )
    return (
        "Numbers are means over seeds, intervals Student's 95 % intervals over "
        f"{len(results.seeds)} seeds."
    )


def _highlights(found: tuple[Claim, ...]) -> tuple[Highlight, ...]:
    faster, overfits = found
    ratio = np.exp(faster.findings[0].estimate.value)
    gap, same = (each.estimate.value for each in overfits.findings[:2])
    if np.isnan(ratio):
        return ()
    return (
        Highlight(f"{ratio:.2g} ×", "steps of the trained kernel over the initial one"),
        Highlight(_points(gap), "accuracy, trained less initial kernel"),
        Highlight(_points(same), "answers like the network's, trained less initial"),
    )


def _points(share: float) -> str:
    return f"{100 * share:+.1f} pts".replace("-", "−")


def _table(results: Results) -> Table:
    network, initial, pretrained = results.models
    same = [agreement(each, network)[0] for each in (initial, pretrained)]
    columns = (
        *(each.accuracy.mean(axis=0) for each in results.models),
        *(each.mean(axis=0) for each in same),
        *(results.steps(each).mean(axis=0) for each in results.models),
    )
    rows = [
        Row(
            (
                int(index),
                *(None if np.isinf(number) else float(number) for number in numbers),
            ),
            str(flag),
        )
        for index, flag, *numbers in zip(
            results.index, _flags(results), *columns, strict=True
        )
    ]
    over = "" if len(results.seeds) == 1 else f", means over {len(results.seeds)} seeds"
    return Table(
        (
            Column("index", "d"),
            Column("network", ".1%"),
            Column("initial", ".1%"),
            Column("trained", ".1%"),
            Column("initial as network", ".1%"),
            Column("trained as network", ".1%"),
            Column("steps, network", ".0f"),
            Column("steps, initial", ".0f"),
            Column("steps, trained", ".0f"),
        ),
        tuple(rows),
        "Test accuracy of the network and of the linear models of its initial and its "
        "trained kernel; share of test samples that these answer as the network does; "
        f"steps to a training loss of {results.target_loss:g}, a dash where it is "
        f"never reached{over}. Index 0 is the paper's phi_1.",
    )


def _flags(results: Results) -> np.ndarray:
    _, initial, pretrained = results.models
    diverged = np.any([each.diverged for each in results.models], axis=(0, 1))
    unstable = np.any([initial.unstable, pretrained.unstable], axis=(0, 1))
    beyond = "the rate is beyond what a linear model bears in theory"
    flags = np.where(unstable, f"{beyond}, with one of the kernels", "")
    degenerate = results.degenerate.any(axis=0)
    flags = np.where(degenerate, DEGENERATE, flags)
    return np.where(diverged, DIVERGED, flags)


def _sections(results: Results) -> tuple[Section, ...]:
    return (
        Section(
            "Accuracy, and who answers like the network",
            "Left, test accuracy: where blue is above purple, the kernel that the "
            "network made for itself generalizes worse than the one it started with. "
            "Right, the share of test samples that a linear model answers as the "
            "network does.",
            {"accuracy": drawing.accuracy_figure(results)},
        ),
        Section(
            "Who learns faster",
            f"Steps until the mean training loss is {results.target_loss:g}. "
            "Triangles: never within the epochs given.",
            {"speed": drawing.speed_figure(results)},
        ),
        Section(
            "How all three fit their training samples",
            "Mean training loss of each epoch on some of the tasks, with the loss to "
            "which steps are counted. What is below a thousandth of it is not shown.",
            {"training": drawing.training_figure(results)},
        ),
    )
