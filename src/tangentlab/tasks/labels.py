"""Tasks made of class labels: the data set's own, grouped, random, or the user's."""

from collections.abc import Sequence

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from .. import data
from .._keys import AnyKey, as_key
from .._types import AnyArray
from ..data import Dataset
from .randomness import draw, sample_keys
from .record import Task, is_real


def from_labels(
    dataset: Dataset,
    labels: Float[AnyArray, " n"] | Int[AnyArray, " n"] | Bool[AnyArray, " n"],
    *,
    name: str = "labels",
    regression: bool = False,
) -> Task:
    """A task with the user's own labels.

    Args:
        dataset: The samples.
        labels: 0 or 1 for each sample, train then test; any number for regression.
        name: What the task is called in tables and figures.
        regression: Take the labels as real-valued targets, in their own precision.

    Returns:
        The task.
    """
    y = np.asarray(labels)
    if is_real(y.dtype) and not (regression and np.issubdtype(y.dtype, np.floating)):
        y = y.astype(np.float32)
    kind = "regression" if regression else "binary"
    return Task(x=dataset.x, y=y, num_train=dataset.num_train, name=name, kind=kind)


def grouping(
    dataset: Dataset, groups: Sequence[Sequence[int | str]], *, name: str | None = None
) -> Task:
    """Some classes against the others.

    Args:
        dataset: The data set. Every class belongs to one of the groups; use
            `tl.data.select_classes` first to leave classes out.
        groups: The classes labeled 0 and the classes labeled 1, by index or name.
        name: What the task is called; the two groups if not given.

    Returns:
        The task.

    Raises:
        ValueError: If there are not two groups, or a class is in none or in both.

    Example:
        >>> digits = data.load("digits")
        >>> grouping(digits, [range(0, 10, 2), range(1, 10, 2)], name="odd digits")
        Task(odd digits, 1,797 samples, 1,437 train, balance 0.50)
    """
    if len(groups) != 2:
        raise ValueError(
            f"{dataset.name}: a binary task needs two groups of classes, those labeled "
            f"0 and those labeled 1, got {len(groups)}."
        )
    grouped = data.group_labels(dataset, groups)
    if name is None:
        name = f"{dataset.name} {grouped.names[1]} against {grouped.names[0]}"
    return from_labels(grouped, grouped.y, name=name)


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


def random_labels(dataset: Dataset, *, key: AnyKey, share: float = 0.5) -> Task:
    r"""Labels that have nothing to do with the samples, $y_i \sim$ Bernoulli(share).

    Both splits are random, so that no answer to the test split is better than another.
    For random training labels and true test labels use `with_label_noise(task, 1.0)`.

    Args:
        dataset: The samples; its own labels are not used.
        key: Draws the labels. Those of the test split do not depend on the size of the
            training split.
        share: Probability of label 1.

    Returns:
        The task.

    Raises:
        ValueError: If `share` is no probability, or `key` no random key.

    Reference:
        Zhang, Bengio, Hardt, Recht and Vinyals, "Understanding deep learning requires
        rethinking generalization", ICLR 2017, arXiv:1611.03530, Section 2.1.
    """
    key = as_key(key)
    if not 0 <= share <= 1:
        raise ValueError(f"`share` must lie in 0..1, got {share}.")
    keys = sample_keys(key, dataset.num_train, dataset.num_test)
    y = draw(jax.random.uniform, keys).astype(np.float64) < share
    return from_labels(dataset, y, name=f"{dataset.name} random labels")
