"""Training and test samples chosen by their indices."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from jaxtyping import Integer

from .._types import AnyArray
from .dataset import Dataset

_FEW = 5  # indices that a message names


def split(
    dataset: Dataset,
    train: Integer[AnyArray, " k"] | Sequence[int],
    test: Integer[AnyArray, " m"] | Sequence[int],
) -> Dataset:
    """Choose training and test samples by index.

    Both are counted over all samples of the data set, whichever split they were in.
    Samples that are in neither set are left out.

    Args:
        dataset: The data set.
        train: Indices of the training samples, from 0.
        test: Indices of the test samples.

    Returns:
        The training samples, then the test samples, each in the order given.

    Raises:
        ValueError: If a sample is in both sets, or twice in one; if a set is empty, or
            holds anything but indices of samples.

    Example:
        >>> from .arrays import from_arrays
        >>> points = from_arrays(np.zeros((4, 2)), np.array([0, 1, 2, 3]))
        >>> split(points, [3, 0], [2]).y.tolist()
        [3, 0, 2]
    """
    first = _checked(dataset, "train", np.asarray(train))
    second = _checked(dataset, "test", np.asarray(test))
    both = np.intersect1d(first, second)
    if len(both):
        raise ValueError(
            f"{dataset.name}: training and test samples overlap, both hold the "
            f"indices {_named(both)}. Leave each out of one of them."
        )
    rows = np.concatenate([first, second])
    return dataclasses.replace(
        dataset,
        x=np.asarray(dataset.x)[rows],
        y=np.asarray(dataset.y)[rows],
        num_train=len(first),
    )


def _checked(dataset: Dataset, name: str, indices: np.ndarray) -> np.ndarray:
    what, n = f"{dataset.name}: `{name}`", len(dataset.x)
    if indices.size == 0:
        raise ValueError(f"{what} is empty, but both splits need samples.")
    if indices.dtype == bool:
        raise ValueError(
            f"{what} is a mask, but must hold indices: pass `np.flatnonzero({name})`."
        )
    if indices.ndim != 1 or not np.issubdtype(indices.dtype, np.integer):
        raise ValueError(
            f"{what} must be whole numbers along one axis, got {indices.dtype} of "
            f"shape {indices.shape}."
        )
    outside = indices[(indices < 0) | (indices >= n)]
    if len(outside):
        raise ValueError(
            f"{what} must hold indices in 0..{n - 1}, got {_named(outside)}."
        )
    found, counts = np.unique(indices, return_counts=True)
    if len(found) < len(indices):
        raise ValueError(
            f"{what} must hold every index once, got more than once: "
            f"{_named(found[counts > 1])}."
        )
    return indices.astype(np.intp)


def _named(indices: np.ndarray) -> str:
    more = len(indices) - _FEW
    named = ", ".join(map(str, indices[:_FEW]))
    return f"{named} and {more} more" if more > 0 else named
