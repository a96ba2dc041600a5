"""Samples that occur in both splits."""

import hashlib
import warnings

import numpy as np
from jaxtyping import Int

from .._linalg import blocks
from .._types import AnyArray
from .record import Task

_BLOCK = 4096  # samples compared at once


def check_duplicates(task: Task) -> Int[np.ndarray, " k"]:
    """Warn if a test sample is also a training sample, bit by bit (-0 equals 0).

    A network can know such a sample by heart, so it says nothing about generalization;
    and a target that differs between the two cannot be learned. Each sample is read
    once, one second for 60,000 color images of 32 x 32 pixels.

    Args:
        task: Any task.

    Returns:
        Indices into `task.x` of the test samples found, ascending; empty where all is
        well.

    Warns:
        UserWarning: If there are any, with their number and the first pair.
    """
    digests = _digests(task.x)
    first = {}
    for sample, digest in enumerate(digests[: task.num_train]):
        first.setdefault(digest, sample)
    pairs = [
        (sample, first[digest])
        for sample, digest in enumerate(digests[task.num_train :], task.num_train)
        if digest in first
    ]
    if pairs:
        y, (test, train) = np.asarray(task.y), np.transpose(pairs)
        warnings.warn(
            f"{task.name}: {len(pairs)} of {len(digests) - task.num_train} test "
            f"samples are also training samples, the first is sample {test[0]}, equal "
            f"to sample {train[0]}; {int((y[test] != y[train]).sum())} of them have "
            "another target there. Leave them out if that matters.",
            stacklevel=2,
        )
    return np.array([test for test, _ in pairs], np.int64)


def _digests(x: AnyArray) -> list[bytes]:
    found = []
    for rows in blocks(len(x), _BLOCK):
        values = np.asarray(x[rows]).reshape(rows.stop - rows.start, -1)
        values = np.ascontiguousarray(values + 0)  # -0 + 0 is 0, which has other bits
        found += [
            hashlib.blake2b(row, digest_size=16).digest()
            for row in values.view(np.uint8)
        ]
    return found
