"""Fewer classes: group some, or keep some."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from .._checks import check_known
from .dataset import Dataset

Class = int | str
"""A class by its index or by its name."""


def group_labels(
    dataset: Dataset,
    groups: Sequence[Sequence[Class]],
    *,
    names: Sequence[str] | None = None,
) -> Dataset:
    """Merge classes into groups, which become the new classes.

    Args:
        dataset: The data set.
        groups: The classes of each group, by index or name. Every class belongs to
            exactly one group.
        names: Names of the groups; the joined names of their classes if not given.

    Returns:
        The same samples; the label of each is the index of its group.

    Raises:
        ValueError: If a class is in no group or in two, or `names` do not fit.

    Example:
        >>> from tangentlab.data import load
        >>> odd = group_labels(load("digits"), [range(0, 10, 2), range(1, 10, 2)])
        >>> odd.names, odd.y[:4].tolist()
        (('0/2/4/6/8', '1/3/5/7/9'), [0, 1, 0, 1])
    """
    members = [[_class_index(dataset, item) for item in group] for group in groups]
    flat = sorted(index for group in members for index in group)
    if flat != list(range(len(dataset.names))):
        raise ValueError(
            f"{dataset.name}: each of the {len(dataset.names)} classes must be in "
            f"exactly one group, got {members}. Use `select_classes` first to leave "
            "classes out."
        )
    if names is None:
        names = ["/".join(dataset.names[index] for index in group) for group in members]
    if len(names) != len(members):
        raise ValueError(
            f"{dataset.name}: {len(members)} groups need as many names, got {names}."
        )
    new_label = np.empty(len(dataset.names), np.int32)
    for label, group in enumerate(members):
        new_label[group] = label
    y = new_label[np.asarray(dataset.y)]
    return dataclasses.replace(dataset, y=y, names=tuple(names))


def select_classes(dataset: Dataset, classes: Sequence[Class]) -> Dataset:
    """Keep the samples of some classes only.

    Args:
        dataset: The data set.
        classes: Classes to keep, by index or name; their order numbers them anew.

    Returns:
        The samples of these classes, in their original order within each split.

    Raises:
        ValueError: If a class is named twice, or none has a training sample.
    """
    kept = [_class_index(dataset, item) for item in classes]
    if len(set(kept)) != len(kept):
        raise ValueError(f"{dataset.name}: a class occurs twice among {list(classes)}.")
    y = np.asarray(dataset.y)
    rows = np.isin(y, kept)
    num_train = int(rows[: dataset.num_train].sum())
    if num_train == 0:
        raise ValueError(
            f"{dataset.name}: no training sample belongs to {list(classes)}."
        )
    new_label = np.full(len(dataset.names), -1, np.int32)
    new_label[kept] = np.arange(len(kept))
    return dataclasses.replace(
        dataset,
        x=np.asarray(dataset.x)[rows],
        y=new_label[y[rows]],
        names=tuple(dataset.names[index] for index in kept),
        num_train=num_train,
    )


def cifar2(dataset: Dataset) -> Dataset:
    """Two classes of ten: label 1 for the first five, 0 for the last five.

    For CIFAR-10 this is the paper's CIFAR2: airplane, automobile, bird, cat, deer
    against dog, frog, horse, ship, truck.

    Args:
        dataset: CIFAR-10, or another data set of ten classes.

    Returns:
        The same samples with labels 0 and 1.

    Raises:
        ValueError: If the data set does not have ten classes.
    """
    if len(dataset.names) != 10:
        raise ValueError(
            f"{dataset.name}: CIFAR2 halves ten classes, got {len(dataset.names)}. Use "
            "`group_labels` for other groups."
        )
    name = "cifar2" if dataset.name == "cifar10" else f"{dataset.name}-2"
    halves = group_labels(dataset, [range(5, 10), range(5)])
    return dataclasses.replace(halves, name=name)


def _class_index(dataset: Dataset, item: Class) -> int:
    if isinstance(item, str):
        check_known("class", item, dataset.names)
        return dataset.names.index(item)
    if not 0 <= item < len(dataset.names):
        raise ValueError(
            f"{dataset.name}: class indices lie in 0..{len(dataset.names) - 1}, got "
            f"{item}."
        )
    return item
