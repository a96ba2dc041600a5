"""Label vectors that a data set makes, and random ones."""

from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float

from ... import tasks
from ..._types import PRNGKey
from ...data import Dataset

_HALVES = 10  # classes, whose first half stands against the second


class Labels(NamedTuple):
    """Label vectors by name.

    Attributes:
        names: What each says.
        signs: The labels, -1 or +1, as columns.
        halved: The first is one half of the classes against the other.
    """

    names: tuple[str, ...]
    signs: Float[np.ndarray, "n t"]
    halved: bool = False


def class_labels(dataset: Dataset) -> Labels:
    """The labels that the classes of a data set make.

    Args:
        dataset: The samples.

    Returns:
        The first five of ten classes against the others, where there are ten; then
        each class against the rest. Of two classes the second would say the same as
        the first, and of a single one there is nothing to say.
    """
    names, columns = [], []
    if halved := len(dataset.names) == _HALVES:
        names.append("CIFAR2" if dataset.name == "cifar10" else "halved classes")
        columns.append(np.asarray(tasks.cifar2(dataset).y) > 0)
    count = len(dataset.names)
    for number in range(count if count > 2 else count - 1):
        names.append(dataset.names[number])
        columns.append(np.asarray(dataset.y) == number)
    labels = np.array(columns, bool).reshape(len(names), len(dataset.x)).T
    return Labels(tuple(names), signs_of(labels), halved)


def random_labels(dataset: Dataset, num: int, *, key: PRNGKey) -> Labels:
    """Labels that have nothing to do with the samples.

    Args:
        dataset: The samples.
        num: How many label vectors.
        key: Draws them.

    Returns:
        The labels.
    """
    keys = jax.random.split(key, num)
    made = [np.asarray(tasks.random_labels(dataset, key=each).y) > 0 for each in keys]
    names = tuple(f"random {number}" for number in range(1, num + 1))
    return Labels(names, signs_of(np.stack(made, axis=1)))


def signs_of(labels: Bool[np.ndarray, "n t"]) -> Float[np.ndarray, "n t"]:
    """Labels as -1 and +1.

    Args:
        labels: True for class 1.

    Returns:
        The signs.
    """
    return np.where(labels, 1.0, -1.0)
