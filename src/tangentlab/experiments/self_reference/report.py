"""The report of the self-reference experiment, from its run folder alone."""

from typing import TYPE_CHECKING

import numpy as np

from ...analysis import Claim, mean_interval
from ...report.claim_figures import verdict_strip
from ...report.claims import estimate_text
from ...report.page import Highlight, Report, Section
from ...report.style import INK, LINEARIZED, MUTED, NETWORK, style
from ...report.tables import Column, Row, Table
from ...store import Run
from ..stages.naming import subject
from ..stages.panels import new_figure
from .claims import FIRST, advantage, claims, counted
from .results import Results, read_results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def report(run: Run) -> Report:
    """Draw the report.

    Args:
        run: A finished run of the self-reference experiment.

    Returns:
        Summary, claim, table and figures.
    """
    results = read_results(run)
    judged = claims(results)
    return Report(
        title=f"Is the linear advantage self-reference? "
        f"{subject(results.model, results.data)}",
        summary=_summary(results),
        sections=_sections(results, judged),
        console_table=_table(results),
        highlights=_highlights(results),
        claims=judged,
        claims_caption=_caption(results),
    )


def _summary(results: Results) -> str:
    leads = [100 * advantage(results, place).value for place in range(4)]
    if np.isnan(leads).any():
        return "No index can be used with every source of labels."
    parts = [
        f"{'+' if lead > 0 else '−'}{abs(lead):.1f} with labels of {name}"
        for lead, name in zip(leads, results.names, strict=True)
    ]
    return (
        f"Lead of the linearization in points of accuracy, on the same indices: "
        f"{'; '.join(parts)}. {results.num_train:,} training and "
        f"{results.num_test:,} test samples, {len(results.seeds)} seeds."
    )


def _caption(results: Results) -> str:
    kind = f"Student's 95 % intervals over {len(results.seeds)} seeds"
    if len(results.seeds) == 1:
        kind = "95 % bootstrap intervals over indices"
    return (
        f"Intervals are {kind}. Indices below {FIRST}, and those that are degenerate "
        "or below the resolution with any source, are left out with all."
    )


def _highlights(results: Results) -> tuple[Highlight, ...]:
    made = []
    for place, name in enumerate(results.names):
        lead = 100 * advantage(results, place).value
        text = "–" if np.isnan(lead) else f"{lead:+.1f} pts".replace("-", "−")
        made.append(Highlight(text, f"lead of the linearization, labels of {name}"))
    return tuple(made)


def _sections(results: Results, judged: tuple[Claim, ...]) -> tuple[Section, ...]:
    return (
        Section(
            "Lead of the linearization, by the kernel that labels come from",
            "Dots are seeds, means over indices; bars are their mean and its interval. "
            "Were the advantage mere self-reference, only the first row would lie to "
            "the right of 0.",
            {"sources": source_figure(results, judged)},
        ),
        Section(
            "Index by index",
            "Test accuracy of both models against the index, one panel for each source "
            "of labels.",
            {"indices": index_figure(results)},
        ),
    )


def source_figure(results: Results, judged: tuple[Claim, ...]) -> "Figure":
    """Lead of the linearization for each source of labels.

    Args:
        results: Of a run.
        judged: Its claims.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure(3.3 + 0.7 * len(judged))
        top, bottom = figure.subplots(2, 1, height_ratios=(3.0, 0.7 * len(judged)))
        top.axvline(0, color=INK, linewidth=1.0)
        for place in range(len(results.names)):
            _source(top, results, place)
        top.set_yticks(range(len(results.names)), results.names)
        top.set_ylim(len(results.names) - 0.5, -0.5)
        top.grid(axis="y", visible=False)
        top.set_xlabel("lead of the linearization, points of accuracy")
        name = subject(results.model, results.data)
        top.set_title(f"{name}: labels from which kernel?")
        # Only what was judged: the rest is drawn above.
        shown = [c._replace(findings=c.findings[:1], remark="") for c in judged]
        verdict_strip(bottom, shown)
        return figure


def index_figure(results: Results) -> "Figure":
    """Accuracy of both models against the index, for each source.

    Args:
        results: Of a run.

    Returns:
        The figure.
    """
    with style():
        figure = new_figure(5.6)
        axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
        for place, (ax, name) in enumerate(zip(axes, results.names, strict=True)):
            for values, color, marker, label in (
                (results.linearized, LINEARIZED, "s", "linearization"),
                (results.network, NETWORK, "o", "network"),
            ):
                _curve(ax, results, values[:, place], place, color, marker, label)
            ax.set_title(name, fontsize=11)
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            ax.xaxis.set_minor_formatter(lambda value, _: "")
            ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        axes[0].set_ylim(0.45, 1.015)
        for ax in axes[2:]:
            ax.set_xlabel("eigenfunction number")
        for ax in axes[::2]:
            ax.set_ylabel("test accuracy")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=2)
        return figure


def _source(ax: "Axes", results: Results, place: int) -> None:
    found = advantage(results, place)
    if np.isnan(found.value):
        return
    value, low, high = (100 * v for v in (found.value, found.low, found.high))
    ax.hlines(place, low, high, color=LINEARIZED, alpha=0.35, linewidth=9)
    ax.plot(value, place, "|", color=LINEARIZED, markersize=20, markeredgewidth=3)
    use = counted(results)
    leads = [
        100 * row[some].mean()
        for row, some in zip(results.advantage[:, place], use, strict=True)
        if some.any()
    ]
    ax.plot(leads, [place] * len(leads), "o", color=INK, markersize=4, alpha=0.7)


def _curve(
    ax: "Axes",
    results: Results,
    values: np.ndarray,
    place: int,
    color: str,
    marker: str,
    label: str,
) -> None:
    use = results.usable[:, place].all(axis=0)
    number, shown = results.index[use] + 1, values[:, use]
    low, high = np.clip(mean_interval(shown), 0, 1)
    if np.isfinite(low).all():
        ax.vlines(number, low, high, color=color, alpha=0.35, linewidth=3)
    fill = color if marker == "o" else "white"
    line = ax.plot(number, shown.mean(axis=0), marker=marker, color=color, label=label)
    line[0].set(markersize=4.5, markerfacecolor=fill)
    ax.axhline(0.5, color=MUTED, linewidth=1.0, linestyle=(0, (4, 2)))


def _table(results: Results) -> Table:
    use = counted(results)
    rows = []
    for place, name in enumerate(results.names):
        network, linearized = (
            float(values[:, place][use].mean()) if use.any() else np.nan
            for values in (results.network, results.linearized)
        )
        same = float(results.agreement[:, place][use].mean()) if use.any() else np.nan
        lead = estimate_text(advantage(results, place), percent=True)
        rows.append(Row((name, same, network, linearized, lead)))
    columns = (
        Column("labels of", align="left"),
        Column("same labels", ".0%"),
        Column("network", ".1%"),
        Column("linearized", ".1%"),
        Column("lead of the linearization", align="left"),
    )
    count = int(use.sum(axis=1).min())
    return Table(
        columns,
        tuple(rows),
        f"Test accuracy, mean over {count} indices from {FIRST} on and "
        f"{len(results.seeds)} seeds; same labels: as the network's own kernel gives, "
        "up to sign.",
    )
