"""Samples that occur in both splits."""

import hashlib
import warnings
from collections.abc import Iterator

import numpy as np
from jaxtyping import Int, UInt8

from .._checks import outside
from .._linalg import blocks
from .._types import AnyArray
from .record import Task

_BLOCK = 4096  # samples compared at once
_FEW = 16  # values by which most samples can be told apart


def check_duplicates(task: Task) -> Int[np.ndarray, " k"]:
    """Warn if a test sample is also a training sample, bit by bit (-0 equals 0).

    A network can know such a sample by heart, so it says nothing about generalization;
    and a target that differs between the two cannot be learned. A few values of each
    sample are compared, and all of those that agree in these.

    Args:
        task: Any task.

    Returns:
        Indices into `task.x` of the test samples found, ascending; empty where all is
        well.

    Warns:
        UserWarning: If there are any, with their number and the first pair.
    """
    first: dict[bytes, int] = {}
    pairs = []
    for sample, digest in _digests(task.x, _alike(task.x, task.num_train)):
        if sample < task.num_train:
            first.setdefault(digest, sample)
        elif digest in first:
            pairs.append((sample, first[digest]))
    if pairs:
        y, (test, train) = np.asarray(task.y), np.transpose(pairs)
        warnings.warn(
            f"{task.name}: {len(pairs)} of {len(task.x) - task.num_train} test "
            f"samples are also training samples, the first is sample {test[0]}, equal "
            f"to sample {train[0]}; {int((y[test] != y[train]).sum())} of them have "
            "another target there. Leave them out if that matters.",
            stacklevel=outside(),
        )
    return np.array([test for test, _ in pairs], np.int64)


def _alike(x: AnyArray, num_train: int) -> Int[np.ndarray, " k"]:
    """Samples of both splits that agree in a few values with one of the other."""
    values = x.reshape(len(x), -1)
    columns = np.unique(np.linspace(0, values.shape[1] - 1, _FEW).astype(int))
    some = _bits(np.asarray(values[:, columns]))
    keys = some.view(np.dtype((np.void, some.shape[1]))).ravel()
    both = np.intersect1d(keys[:num_train], keys[num_train:])
    return np.flatnonzero(np.isin(keys, both))


def _digests(
    x: AnyArray, samples: Int[np.ndarray, " k"]
) -> Iterator[tuple[int, bytes]]:
    for rows in blocks(len(samples), _BLOCK):
        some = samples[rows]
        values = _bits(np.asarray(x[some]).reshape(len(some), -1))
        for sample, row in zip(some, values, strict=True):
            yield int(sample), hashlib.blake2b(row, digest_size=16).digest()


def _bits(values: np.ndarray) -> UInt8[np.ndarray, "k b"]:
    # -0 + 0 is 0, which has other bits
    return np.ascontiguousarray(values + 0).view(np.uint8)
