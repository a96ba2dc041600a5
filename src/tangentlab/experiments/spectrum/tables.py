"""The tables of the spectrum experiment."""

from collections.abc import Sequence

import numpy as np

from ...report.tables import Column, Row, Table
from .results import Found, Measured, Results

LEADING = (10, 100)
"""Modes whose share of labels the table has."""
_CLOSE = "signs may depend on rounding: eigenvalues here are within the resolution"


def mode_table(results: Results) -> Table:
    """Eigenfunctions and their signs.

    Args:
        results: Of a run.

    Returns:
        A row for each of some modes.
    """
    modes = results.modes
    names = ("eigenvalue", "balance", "overlap", "real", "signs", "held", "least")
    columns = [np.mean(getattr(modes, name), axis=0) for name in names]
    flags = np.where(modes.unresolved.any(axis=0), _CLOSE, "")
    rows = [
        Row((int(index), *map(float, cells)), str(flag))
        for index, *cells, flag in zip(modes.index, *columns, flags, strict=True)
    ]
    headings = (
        Column("index", "d"),
        Column("eigenvalue", ".4g"),
        Column("class balance", ".1%"),
        Column("overlap", ".3f"),
        Column("complexity", ".4g"),
        Column("of signs", ".4g"),
        Column("energy held", ".1%"),
        Column("at least", ".4g"),
    )
    caption = (
        f"Eigenfunctions and their signs{_over(results)}. Index 0 is the paper's "
        "phi_1, number 1 in the figures; class balance is the share of positive signs; "
        "complexity is n over the eigenvalue, that of the real-valued eigenfunction. "
        f"{bound_text(results)}"
    )
    return Table(headings, tuple(rows), caption)


def label_table(results: Results) -> Table:
    """The labels of the data and random ones.

    Args:
        results: Of a run.

    Returns:
        A row for each label vector, and one for the mean of the random ones.
    """
    shown = [k for k in LEADING if all(k <= len(f.eigenvalues) for f in results.found)]
    headings = (
        Column("labels", align="left"),
        Column("class balance", ".1%"),
        *(Column(f"in {k} modes", ".1%") for k in shown),
        Column("energy held", ".1%"),
        Column("complexity", ".4g"),
        Column("at least", ".4g"),
        Column("over random", ".2f"),
    )
    rows = []
    for column, name in enumerate(results.names):
        is_half = results.halved and column == 0
        text = name if is_half else f"{name} against the rest"
        chosen = [_taken(each, column) for each in results.classes]
        numbers = (*_label_numbers(chosen, shown), results.over_random(column))
        rows.append(Row((text, float(results.balance[column]), *numbers)))
    drawn = [each.least for each in results.random]
    numbers = (*_label_numbers(results.random, shown), 1.0)
    rows.append(Row((f"{len(drawn[0])} random, mean", None, *numbers)))
    deviation = float(np.mean([np.std(each, ddof=1) for each in drawn]))
    caption = (
        f"Labels of -1 and +1{_over(results)}. The last column is the one before it, "
        "over that of random labels, whose standard deviation is "
        f"{deviation:.2g}. {bound_text(results)}"
    )
    return Table(headings, tuple(rows), caption)


def _taken(measured: Measured, column: int) -> Measured:
    """A single label vector."""
    return Measured(
        measured.energy[:, column, None],
        measured.complexity[column, None],
        measured.held[column, None],
        measured.least[column, None],
    )


def _label_numbers(
    measured: Sequence[Measured], shown: Sequence[int]
) -> tuple[float, ...]:
    """Means over seeds and label vectors."""
    shares = [np.mean([each.within(k) for each in measured]) for k in shown]
    held = np.mean([each.held for each in measured])
    sums = np.mean([each.complexity for each in measured])
    least = np.mean([each.least for each in measured])
    return tuple(map(float, (*shares, held, sums, least)))


def summary_table(results: Results) -> Table:
    """The spectrum of each seed in a few numbers.

    Args:
        results: Of a run.

    Returns:
        A row for each seed.
    """
    headings = (
        Column("seed", "d"),
        Column("trace", ".4g"),
        Column("captured", ".2%"),
        Column("effective rank", ".1f"),
        Column("participation ratio", ".2f"),
        Column("exponent"),
        Column("modes of the fit"),
        Column("negative", "d"),
        Column("below resolution", "d"),
        Column("unconverged", "d"),
        Column("largest residual", ".1e"),
    )
    pairs = zip(results.seeds, results.found, strict=True)
    return Table(
        headings,
        tuple(Row((seed, *_numbers(found))) for seed, found in pairs),
        "The computed pairs of each seed. Captured is their share of the trace; ranks "
        "are those of the computed part; the residual is relative to the largest "
        "eigenvalue. The error of the exponent takes deviations for independent, which "
        "they are not: it is a lower limit.",
    )


def _numbers(found: Found) -> tuple[float | int | str | None, ...]:
    law = found.law
    return (
        found.trace,
        found.captured if np.isfinite(found.captured) else None,
        found.effective_rank,
        found.participation_ratio,
        f"{law.exponent:.3f} ± {law.standard_error:.1g}" if law else None,
        f"{law.start + 1} to {law.stop}" if law else None,
        found.num_negative,
        found.num_below_resolution,
        found.num_unconverged,
        found.largest_residual,
    )


def _over(results: Results) -> str:
    return "" if len(results.seeds) == 1 else f", means over {len(results.seeds)} seeds"


def bound_text(results: Results) -> str:
    """What complexities are sums over.

    Args:
        results: Of a run.

    Returns:
        A sentence.
    """
    if results.is_whole:
        return "All modes are resolved, so that complexities are whole."
    found = "that landmarks resolve" if results.is_approximate else "that were computed"
    text = (
        f"Complexities of labels are sums over the resolved modes {found}, which hold "
        "a share of their energy. What is left lies at smaller eigenvalues: with the "
        "last one for all of it, this gives the lower bound on the whole."
    )
    if results.is_approximate:
        text += " With landmarks all of these are estimates."
    return text
