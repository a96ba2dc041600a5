"""The report on the paper's exact statements, from its run folder alone."""

import numpy as np

from ...analysis import Claim
from ...report.page import Highlight, Report, Section
from ...report.tables import Column, Row, Table
from ...store import Run
from . import figures as drawing
from .claims import claims, in_standard_errors
from .results import Active, Results, read_results


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the experiment.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    judged = claims(results)
    return Report(
        title="The paper's exact statements, on real networks",
        summary=_summary(results, judged),
        sections=tuple(_sections(results)),
        console_table=_table(results),
        highlights=_highlights(results),
        claims=judged,
        claims_caption="Errors are decimal logarithms: rounding is about −15.7. There "
        "is no chance in them, so that intervals are the numbers themselves; Theorem 1 "
        "has standard errors.",
    )


def _summary(results: Results, judged: tuple[Claim, ...]) -> str:
    held = [claim.id for claim in judged if claim.verdict == "confirmed"]
    return (
        f"{len(held)} of {len(judged)} statements hold to the last digits that float64 "
        f"has, or within Monte Carlo's errors, for {len(results.seeds)} "
        f"initialization{'s' if len(results.seeds) > 1 else ''}: Lemma 1 and the "
        f"alignment on {results.num_samples:,} samples ({results.data}), Theorem 1 on "
        f"{results.num_draws:,} Gaussian draws, and two facts about ResNet18."
    )


def _highlights(results: Results) -> tuple[Highlight, ...]:
    lemma = results.lemma
    counts = results.active.gelu.sum(axis=1)
    return (
        Highlight(
            _power(lemma.slack[:, lemma.on_eigenvectors]),
            "largest error of Lemma 1 on eigenvectors",
        ),
        Highlight(_power(lemma.disagreement), "largest error of the alignment"),
        Highlight(
            f"{in_standard_errors(results.theorem).max():.1f} s.e.",
            "between both sides of Theorem 1",
        ),
        Highlight(
            " / ".join(f"{count:,}" for count in np.unique(counts)),
            "active parameters in the published ResNet18",
        ),
    )


def _power(errors: np.ndarray) -> str:
    return f"{np.abs(errors).max():.0e}".replace("e-", "e−")


def _table(results: Results) -> Table:
    lemma, theorem, frozen = results.lemma, results.theorem, results.frozen
    equal = lemma.on_eigenvectors
    rows = tuple(
        Row(
            (
                int(seed),
                float(np.abs(lemma.slack[at, equal]).max()),
                float(lemma.slack[at, ~equal].min()),
                float(lemma.disagreement[at].max()),
                float(theorem.derivative[at, 0]),
                float(theorem.alignment[at, 0]),
                float(theorem.difference_error[at, 0]),
                float(frozen.linearized[at]),
                int(results.active.gelu[at].sum()),
                int(results.active.relu[at].sum()),
            )
        )
        for at, seed in enumerate(results.seeds)
    )
    headings = (
        Column("seed", "d"),
        Column("Lemma 1, equality", ".1e"),
        Column("least slack", ".3g"),
        Column("two alignments", ".1e"),
        Column("Theorem 1, derivative", ".4g"),
        Column("alignment", ".4g"),
        Column("± s.e.", ".2g"),
        Column("second difference", ".1e"),
        Column("active, GELU", ",d"),
        Column("ReLU", ",d"),
    )
    return Table(
        headings,
        rows,
        "Relative errors of each identity; both sides of Theorem 1 along a constant "
        "image; parameters of ResNet18 with a gradient.",
    )


def _layers(active: Active) -> Table:
    layers = zip(
        active.layer, active.gelu[0], active.relu[0], active.total, strict=True
    )
    rows = [(str(name), *map(int, counts)) for name, *counts in layers]
    both = active.gelu[0].sum(), active.relu[0].sum(), active.total.sum()
    rows.append(("all", *map(int, both)))
    headings = (
        Column("layer", align="left"),
        Column("active", ",d"),
        Column("active with ReLU", ",d"),
        Column("parameters", ",d"),
    )
    caption = "Parameters with a gradient, by layer, of the first seed."
    return Table(headings, tuple(map(Row, rows)), caption)


def _sections(results: Results) -> list[Section]:
    return [
        Section(
            "How exact the identities are",
            "Relative errors in float64, for each target and seed. What is blue should "
            "be rounding, left of the criterion; what the network itself does is red.",
            {"errors": drawing.error_figure(results)},
        ),
        Section(
            "Lemma 1: kernel norm and its bound",
            "The norm comes from eigenpairs of the Gram matrix, the bound from "
            "averaged gradients. Eigenvectors lie on the diagonal; the further a "
            "target is above it, the less its alignment says about its norm.",
            {"lemma": drawing.lemma_figure(results.lemma)},
        ),
        Section(
            "Theorem 1: two ways to the alignment with a direction",
            f"Both sides on the same {results.num_draws:,} Gaussian draws, one of them "
            "with their mirror images; their ratio with three standard errors. The "
            "squared norm of a sample mean would be too large; inner products of means "
            "over disjoint groups are not.",
            {"theorem": drawing.theorem_figure(results.theorem, results.seeds)},
        ),
        Section(
            "Active parameters of ResNet18",
            "The last scale of each residual branch starts at 0, so that nothing "
            f"inside a branch has a gradient, on any of {results.num_images} inputs. "
            "Light bars are all parameters of a part, dark ones those with a gradient. "
            "With ReLU some channels are off on all of these inputs, and a few more "
            "parameters have none; on more inputs fewer are.",
            {"active": drawing.active_figure(results.active)},
            _layers(results.active),
        ),
        Section(
            "What signs keep of an eigenfunction",
            "Labels are signs of eigenvectors. Their overlap is that of Gaussian noise "
            "but for the leading ones: "
            f"{results.lemma.overlap[:, 1:].mean():.3f} in the mean over all but the "
            "first, where the supplement has 0.78.",
            {"overlap": drawing.overlap_figure(results.lemma)},
        ),
    ]
