"""Smaller data sets with the same class proportions and a test split that stays."""

import dataclasses

import jax
import numpy as np
from jaxtyping import Int

from .._keys import AnyKey, as_key
from .._types import PRNGKey
from .dataset import Dataset


def subset(
    dataset: Dataset, num_train: int, *, num_test: int | None = None, key: AnyKey
) -> Dataset:
    """Take a stratified part of the training split, and the same test split always.

    Each class keeps its share of the split: the exact share rounded down, and the rest
    to the largest remainders, ties broken at random. The sum is exactly `num_train`,
    and no class is off its share by one sample or more. With fewer samples than classes
    some classes have none.

    The samples of a class are drawn by a fixed shuffle, of which more samples take
    more: with one key, a smaller subset lies within every larger one if the classes
    are of equal size, as in CIFAR-10. (With unequal sizes the largest remainders
    may now and then take one sample of a class back as the total grows by one.)

    The test split depends on `num_test` alone, neither on `key` nor on `num_train`, so
    that accuracies across sizes and keys are comparable.

    For CIFAR2 take the subset first and group the labels after, to keep the proportions
    of the ten classes.

    Args:
        dataset: The data set.
        num_train: How many training samples to keep.
        num_test: How many test samples to keep, stratified; all if not given.
        key: Draws the training samples.

    Returns:
        The kept samples in their original order.

    Raises:
        ValueError: If there are fewer samples than asked for, or no test split, or
            `key` is no random key.
    """
    key = as_key(key)
    num_test = dataset.num_test if num_test is None else num_test
    if not 1 <= num_train <= dataset.num_train:
        raise ValueError(
            f"{dataset.name}: `num_train` must lie in 1..{dataset.num_train}, the size "
            f"of the training split, got {num_train}."
        )
    if num_test > 0 and dataset.num_test == 0:
        raise ValueError(
            f"{dataset.name} has no test split, but {num_test} test samples are asked "
            "for. Give it one: the integer `num_train`, or `x_test` and `y_test`, in "
            "an .npz file; `num_train=` in `from_arrays`."
        )
    if not 0 <= num_test <= dataset.num_test:
        raise ValueError(
            f"{dataset.name}: `num_test` must lie in 0..{dataset.num_test}, the size "
            f"of the test split, got {num_test}."
        )
    y = np.asarray(dataset.y)
    train, test = y[: dataset.num_train], y[dataset.num_train :]
    fixed_key = jax.random.key(0)
    kept = np.concatenate(
        [
            _stratified_draw(train, num_train, key),
            _stratified_draw(test, num_test, fixed_key) + dataset.num_train,
        ]
    )
    return dataclasses.replace(
        dataset, x=np.asarray(dataset.x)[kept], y=y[kept], num_train=num_train
    )


def _stratified_draw(
    y: Int[np.ndarray, " n"], num: int, key: PRNGKey
) -> Int[np.ndarray, " num"]:
    # Indices of `num` labels, the same share of every class, in ascending order.
    if num == len(y):
        return np.arange(num)
    class_key, sample_key = jax.random.split(key)
    shuffled = np.asarray(jax.random.permutation(sample_key, len(y)))
    counts = np.bincount(y)
    priority = np.asarray(jax.random.permutation(class_key, len(counts)))
    allotted = _allot(counts, num, priority)
    # The position of each shuffled sample within its class decides: the first ones win.
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    position = np.arange(len(y)) - np.repeat(starts, counts)
    return np.sort(by_class[position < np.repeat(allotted, counts)])


def _allot(
    counts: Int[np.ndarray, " classes"],
    num: int,
    priority: Int[np.ndarray, " classes"],
) -> Int[np.ndarray, " classes"]:
    # Largest remainders, in exact integer arithmetic; `priority` breaks ties.
    allotted, remainder = np.divmod(counts * num, counts.sum())
    order = np.lexsort([priority, -remainder])
    allotted[order[: num - allotted.sum()]] += 1
    return allotted
