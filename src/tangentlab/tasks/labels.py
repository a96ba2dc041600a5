"""Tasks made of class labels: the data set's own, grouped, or the user's."""

import numpy as np
from jaxtyping import Bool, Float, Int

from .. import data
from .._types import AnyArray
from ..data import Dataset
from .record import Task


def from_labels(
    dataset: Dataset,
    labels: Float[AnyArray, " n"] | Int[AnyArray, " n"] | Bool[AnyArray, " n"],
    *,
    name: str = "labels",
) -> Task:
    """A task with the user's own binary labels.

    Args:
        dataset: The samples.
        labels: 0 or 1 for each sample, train then test.
        name: What the task is called in tables and figures.

    Returns:
        The task.
    """
    y = np.asarray(labels, np.float32)
    return Task(x=dataset.x, y=y, num_train=dataset.num_train, name=name)


def cifar2(dataset: Dataset) -> Task:
    """CIFAR2: the first five of ten classes against the other five.

    Class 1 holds airplane, automobile, bird, cat and deer; class 0 the rest. Any other
    data set of ten classes is halved the same way.

    Args:
        dataset: A data set of ten classes; `tl.data.cifar2` refuses others.

    Returns:
        The task.
    """
    halves = data.cifar2(dataset)
    return from_labels(halves, halves.y, name=halves.name)
