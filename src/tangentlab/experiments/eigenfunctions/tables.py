"""The tables of the eigenfunctions experiment."""

import numpy as np

from ...analysis import Finding
from ...report.claims import estimate_text
from ...report.figures import Accuracies
from ...report.tables import Column, Row, Table
from ...store import Run
from ..stages.courses import MODELS
from ..stages.flags import DEGENERATE, DIVERGED
from . import figures as drawing
from .rates import best
from .results import Results

_CLOSE = "labels may depend on rounding: eigenvalues here are within the resolution"


def accuracy_table(results: Results) -> Table:
    """Accuracies of both models on each task.

    Args:
        results: Of a run.

    Returns:
        A row for each task.
    """
    shown = drawing.accuracies(results)
    columns = zip(
        results.index,
        results.eigenvalue.mean(axis=0),
        results.complexity.mean(axis=0),
        results.balance.mean(axis=0),
        shown.network,
        shown.linearized,
        _flags(results, shown),
        strict=True,
    )
    rows = [
        Row((int(i), *map(float, (lam, cost, b, f, g, f - g))), why)
        for i, lam, cost, b, f, g, why in columns
    ]
    headings = (
        Column("index", "d"),
        Column("eigenvalue", ".4g"),
        Column("complexity", ".4g"),
        Column("class balance", ".1%"),
        Column("network", ".1%"),
        Column("linearized", ".1%"),
        Column("advantage", "+.1%"),
    )
    over = "" if len(results.seeds) == 1 else f", mean over {len(results.seeds)} seeds"
    caption = (
        f"Test accuracy at the end of training{over}. Index 0 is the paper's phi_1, "
        "number 1 in the figures; complexity is y' K^-1 y of its labels, or a lower "
        "bound of that where not all eigenpairs were computed; class balance is the "
        "share of class 1; advantage is network minus linearization."
    )
    if results.reference is not None:
        network, linearized = (ended.accuracy.mean() for ended in results.reference)
        caption += (
            f" For reference, the first five classes against the others: network "
            f"{network:.1%}, linearized {linearized:.1%}."
        )
    return Table(headings, tuple(rows), caption)


def _flags(results: Results, shown: Accuracies) -> list[str]:
    """Why a task is left out, and whether its labels can be trusted."""
    left_out = np.where(shown.degenerate, DEGENERATE, "")
    left_out = np.where(shown.diverged, DIVERGED, left_out)
    close = np.where(results.unresolved.any(axis=0), _CLOSE, "")
    return ["; ".join(filter(None, both)) for both in zip(left_out, close, strict=True)]


def trend_table(results: Results, found: tuple[Finding, ...]) -> Table:
    """How steps and distances grow with the index.

    Args:
        results: Of a run.
        found: Their `trends`.

    Returns:
        A row for each quantity.
    """
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


def rate_table(run: Run, results: Results) -> Table:
    """Which learning rate each model answered best with.

    Args:
        run: A run that chose among rates.
        results: Its results.

    Returns:
        A row for each rate.
    """
    saved = run.arrays(f"rates-{results.seeds[0]}")
    chosen = {model: best(saved[model]) for model in MODELS}
    rows = []
    for place, rate in enumerate(saved["rates"]):
        cells = [
            f"{saved[model][place].mean():.1%}" + " ✓" * (chosen[model] == place)
            for model in MODELS
        ]
        rows.append(Row((float(rate), *cells)))
    tasks = ", ".join(map(str, saved["index"]))
    return Table(
        (Column("learning rate", "g"), Column("network"), Column("linearization")),
        tuple(rows),
        "Mean accuracy on the tenth of the training samples that was kept back, on "
        f"indices {tasks}; ✓ is the rate that was taken for all tasks and seeds.",
    )
