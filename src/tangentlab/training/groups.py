"""Tasks that share their samples and can be trained together."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from .._linalg import blocks
from .._types import AnyArray
from ..data.dataset import check_finite
from ..tasks import Task, check_duplicates
from .losses import LossName, targets


class Group(NamedTuple):
    """Tasks on the same samples.

    Attributes:
        rows: Their places among all tasks.
        x: The samples, train then test.
        y: One row of targets per task.
        num_train: Number of training samples.
    """

    rows: tuple[int, ...]
    x: AnyArray
    y: Float[np.ndarray, "t n"]
    num_train: int

    def cut(self, most: int) -> "Iterator[Group]":
        """Cut into smaller groups of about equal size, each of which is compiled for.

        Args:
            most: The largest number of tasks in one.

        Yields:
            The groups, in order.
        """
        parts = math.ceil(len(self.rows) / most)
        for part in blocks(len(self.rows), math.ceil(len(self.rows) / parts)):
            yield self._replace(rows=self.rows[part], y=self.y[part])


def as_tasks(tasks: Task | Sequence[Task]) -> list[Task]:
    """Check what is passed as tasks.

    Args:
        tasks: One task or several.

    Returns:
        A list of tasks, all of the same size.

    Raises:
        ValueError: If there are none, or of unequal sizes or shapes.
        TypeError: If something else is passed.
    """
    found = list(tasks) if isinstance(tasks, Iterable) else [tasks]
    if not found:
        raise ValueError("`tasks` is empty: pass at least one task.")
    for task in found:
        if not isinstance(task, Task):
            raise TypeError(
                f"`tasks` must hold `Task` records, got {type(task).__name__}: make "
                "one with `tl.tasks`, such as `tl.tasks.from_labels(dataset, labels)`."
            )
    sizes = {(len(task.x), task.num_train) for task in found}
    if len(sizes) > 1:
        (n, m), (other_n, other_m), *_ = sorted(sizes)
        raise ValueError(
            "Tasks trained together need the same number of samples and the same "
            f"split, got {m} of {n} and {other_m} of {other_n} for training: train "
            "them in separate calls."
        )
    shapes = sorted({task.x.shape[1:] for task in found})
    if len(shapes) > 1:
        raise ValueError(
            "Tasks trained together need samples of one shape, got "
            f"{' and '.join(map(str, shapes))}: train them in separate calls."
        )
    return found


def group_tasks(tasks: Sequence[Task], loss: LossName) -> list[Group]:
    """Put tasks together that share their samples.

    Args:
        tasks: Tasks of one size.
        loss: Decides what the targets are.

    Returns:
        The groups, in the order of their first tasks. Warns of samples that are in
        both splits.

    Raises:
        ValueError: If samples are not finite.
    """
    found: list[list[int]] = []
    for row, task in enumerate(tasks):
        for rows in found:
            if _same(tasks[rows[0]].x, task.x):
                rows.append(row)
                break
        else:
            check_finite(task.name or "The task", task.x)
            check_duplicates(task)
            found.append([row])
    return [
        Group(
            tuple(rows),
            tasks[rows[0]].x,
            np.stack([targets(tasks[row], loss) for row in rows]),
            tasks[rows[0]].num_train,
        )
        for rows in found
    ]


def _same(x: AnyArray, other: AnyArray) -> bool:
    if x is other:
        return True
    return x.dtype == other.dtype and np.array_equal(np.asarray(x), np.asarray(other))
