"""From how runs ended to the record of a training."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .course import Outcome
from .record import History


class Report(NamedTuple):
    """How some of the tasks ended.

    Attributes:
        rows: Their places among all tasks.
        outcome: Arrays with one row for each.
    """

    rows: tuple[int, ...]
    outcome: Outcome


def gather(reports: Sequence[Report]) -> History:
    """Put the tasks back in their order.

    Args:
        reports: How each task ended.

    Returns:
        The history.
    """
    places = [place for report in reports for place in report.rows]
    order = np.argsort(places)
    each = [
        jax.tree.map(lambda leaf, i=i: leaf[i], report.outcome)
        for report in reports
        for i in range(len(report.rows))
    ]
    ends = [each[i] for i in order]
    rows = jnp.stack([jnp.asarray(end.rows) for end in ends])
    distances = jnp.stack([end.distances for end in ends])
    return History(
        train_loss=rows[..., 0],
        train_accuracy=rows[..., 1],
        test_loss=rows[..., 2],
        test_accuracy=rows[..., 3],
        iterations_by_batch=jnp.array([float(end.by_batch) for end in ends]),
        iterations_by_epoch=jnp.array([float(end.by_epoch) for end in ends]),
        distance=distances[:, 0],
        cosine=distances[:, 1],
        outputs=jnp.stack([end.outputs for end in ends]),
        diverged=~jnp.isfinite(rows).all((1, 2)) | ~jnp.isfinite(distances[:, 0]),
        params=tuple(end.learner.params for end in ends),
        states=tuple(end.learner.state for end in ends),
    )
