"""The report of the bounds experiment, from its run folder alone."""

import numpy as np

from ...analysis import Claim
from ...report.page import Highlight, Report, Section
from ...report.tables import Column, Row, Table
from ...store import Run
from . import figures
from .claims import Measured, claims, read_measured

_VACUOUS = "vacuous: the bound is 1 or more"


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the bounds experiment.

    Returns:
        Summary, claims, table and figures.
    """
    cases = read_measured(run)
    judged = claims(cases, run.config.failure)
    return Report(
        title="Bounds on the test error, and the test error",
        summary=_summary(run, cases),
        sections=_sections(run),
        console_table=_table(run),
        highlights=_highlights(cases, judged),
        claims=judged,
        claims_caption="Intervals are Student's 95 % intervals over "
        f"{run.config.draws} draws of training samples.",
    )


def _summary(run: Run, cases: tuple[Measured, ...]) -> str:
    config = run.config
    parts = []
    for number, case in enumerate(cases):
        saved = run.arrays(f"case-{number}")["by_size"].mean(axis=0)
        bound, _, error = saved[int(np.argmax(config.sizes))]
        parts.append(f"{case.name}: bound {bound:.2f}, error {error:.3f}")
    return (
        f"With {max(config.sizes):,} truly labeled samples, {'; '.join(parts)}. A "
        "bound of 1 or more says nothing; random labels always get one, whatever the "
        "kernel. What the labels cost in the norm of the kernel tells both apart long "
        "before the bound does."
    )


def _highlights(
    cases: tuple[Measured, ...], judged: tuple[Claim, ...]
) -> tuple[Highlight, ...]:
    smallest = min(float(case.bound.min()) for case in cases)
    made = [Highlight(f"{smallest:.2f}", "smallest bound of all draws")]
    for case in cases:
        ratio = case.shuffled_labels[:, 0].mean() / case.true_labels[:, 0].mean()
        label = f"times what true labels cost, for shuffled ones ({case.name})"
        made.append(Highlight(f"{ratio:.1f}", label))
    kept = sum(claim.verdict == "confirmed" for claim in judged)
    made.append(Highlight(f"{kept} of {len(judged)}", "claims confirmed"))
    return tuple(made)


def _table(run: Run) -> Table:
    config, rows = run.config, []
    for number, name in enumerate(config.cases):
        saved = run.arrays(f"case-{number}")
        by_size, by_share = (saved[k].mean(axis=0) for k in ("by_size", "by_share"))
        labels = [(size, 0.0) for size in config.sizes]
        labels += [(max(config.sizes), share) for share in config.corruptions]
        for (size, share), numbers in zip(
            labels, np.concatenate([by_size, by_share]), strict=True
        ):
            cells = name, size, share, *map(float, numbers)
            row = Row(cells, _VACUOUS if numbers[0] >= 1 else "")
            rows += [row] if row not in rows else []
    columns = (
        Column("case", align="left"),
        Column("samples", "d"),
        Column("random labels", ".0%"),
        Column("bound", ".2f"),
        Column("leading term", ".2f"),
        Column("test error", ".3f"),
    )
    caption = f"Means over {config.draws} draws of training samples."
    return Table(columns, tuple(rows), caption)


def _sections(run: Run) -> tuple[Section, ...]:
    config = run.config
    kernel = f"the tangent kernel of {config.depth} hidden ReLU layers, infinitely wide"
    return (
        Section(
            "True labels: the bound against the error",
            f"Kernel regression with {kernel}. The bound holds with probability "
            f"{1 - config.failure:.0%} for samples that are independent and a kernel "
            "that was chosen before they were seen. Bands are Student's 95 % intervals "
            "over draws.",
            {"sizes": figures.size_figure(run)},
        ),
        Section(
            "The more labels are random, the less is promised",
            "A share of all labels, in training and in the test, is replaced by a fair "
            "coin. All are interpolated; the error goes to chance, and the bound "
            "knows it beforehand, from the training labels alone.",
            {"corruption": figures.share_figure(run)},
        ),
        Section(
            "What labels cost",
            f"The squared norm that interpolates the labels, for the true ones and for "
            f"{config.permutations} shuffled copies of them; first draw.",
            {"labels": figures.label_figure(run)},
        ),
    )
