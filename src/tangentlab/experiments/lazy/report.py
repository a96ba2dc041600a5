"""Figures and report of the lazy training experiment, from its run folder alone."""

from typing import TYPE_CHECKING

import numpy as np

from ...report.page import Highlight, Report, Section
from ...report.scaling_figures import COLORS, MARKERS, Scaling, scalings, slope_text
from ...report.style import style
from ...report.tables import Column, Row, Table
from ...store import Run
from .claims import LIMITS, MEASURES, Flows, claims, exponent, read_results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LABELS = {
    "weight_distance": "weights moved",
    "weight_gap": "weights from linearization's",
    "output_gap": "outputs from linearization's",
}


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the experiment.

    Returns:
        Summary, claims, table and figures.
    """
    results = read_results(run)
    return Report(
        title="When is training lazy?",
        summary=_summary(run, results),
        sections=_sections(results),
        console_table=_table(results),
        highlights=tuple(
            Highlight(slope_text(exponent(results[0], measure)), _LABELS[measure])
            for measure in MEASURES
        ),
        claims=claims(results),
        claims_caption="Intervals are Student's 95 % intervals over initializations.",
    )


def _sections(results: tuple[Flows, ...]) -> tuple[Section, ...]:
    made = [
        Section(
            "Flows against the output scale",
            "Largest distances on the way, for each scale of the output. Gray dashes "
            "are the theorem's slopes, which are upper limits. Where two copies are "
            "subtracted the outputs' gap falls faster than it must: its first-order "
            "term cancels.",
            {"flows": _flow_figure(results)},
        )
    ]
    if len(results[0].kappa):
        made.append(
            Section(
                "The criterion, before training",
                "The criterion κ is known at initialization and takes no training. "
                "Each dot is a seed and a scale: where κ is small, outputs stay by the "
                "linearization's.",
                {"criterion": _criterion_figure(results)},
            )
        )
    return tuple(made)


def _summary(run: Run, results: tuple[Flows, ...]) -> str:
    first, last = run.config.scales[0], run.config.scales[-1]
    parts = []
    for flows in results:
        near, far = (100 * _middle(flows.output_gap)[i] for i in (0, -1))
        parts.append(
            f"{flows.start}: {near:.2g} % of the targets at α = {first:g}, {far:.2g} % "
            f"at α = {last:g}"
        )
    return (
        "A large output scale makes training lazy: weights hardly move, and outputs "
        "stay by those of the linearization. Their largest distance on the way, "
        f"{'; '.join(parts)}."
    )


def _flow_figure(results: tuple[Flows, ...]) -> "Figure":
    with style():
        figure = _figure(5.6 * len(results), 5.4)
        axes = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
        for ax, flows in zip(axes, results, strict=True):
            shown = tuple(
                Scaling(
                    _LABELS[measure],
                    flows.scales,
                    getattr(flows, measure),
                    exponent(flows, measure),
                    LIMITS[measure],
                )
                for measure in MEASURES
            )
            scalings(ax, shown)
            ax.set_xlabel("output scale α")
            ax.set_title(f"Output at 0: {flows.start}", pad=92)
            ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), fontsize=9)
        axes[0].set_ylabel("largest distance on the way")
        return figure


def _criterion_figure(results: tuple[Flows, ...]) -> "Figure":
    with style():
        figure = _figure(7.2, 4.6)
        ax = figure.subplots()
        for flows, color, marker in zip(results, COLORS, MARKERS, strict=False):
            ax.loglog(
                flows.kappa.ravel(),
                flows.output_gap[: len(flows.kappa)].ravel(),
                marker,
                color=color,
                markerfacecolor="white",
                markersize=5,
                label=flows.start,
            )
        ax.set_xlabel("criterion κ at initialization")
        ax.set_ylabel("outputs from linearization's,\nover the targets")
        ax.set_title("κ tells how lazy training will be")
        ax.legend()
        return figure


def _table(results: tuple[Flows, ...]) -> Table:
    rows = []
    for flows in results:
        middle = [_middle(getattr(flows, measure)) for measure in MEASURES]
        some = len(flows.kappa) > 0
        kappa = _middle(flows.kappa) if some else np.full(len(flows.scales), np.nan)
        for number, scale in enumerate(flows.scales):
            cells = (float(values[number]) for values in (kappa, *middle))
            rows.append(Row((flows.start, float(scale), *cells)))
    return Table(
        (
            Column("start", align="left"),
            Column("α", "g"),
            Column("κ", ".3g"),
            *(Column(_LABELS[measure], ".2e") for measure in MEASURES),
        ),
        tuple(rows),
        "Geometric means over initializations of the largest distances on the way; "
        "outputs in root mean square over that of the targets.",
    )


def _middle(values: np.ndarray) -> np.ndarray:
    return np.exp(np.log(values).mean(axis=0))


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
