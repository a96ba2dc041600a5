"""Decode the batches of CIFAR-10, binary or pickled."""

import pickle

import numpy as np
from jaxtyping import Float32, Int32, UInt8

from .contents import Content, damaged, read_contents
from .dataset import Dataset
from .lookup import Found
from .unpickle import unpickle_bytes

_NUM_RECORDS = 10_000  # in every official batch
_NUM_PIXELS = 3 * 32 * 32
_NUM_TRAIN = 50_000

Labels = Int32[np.ndarray, " n"]
Planes = UInt8[np.ndarray, "n 3072"]
"""Each image as its red, then its green, then its blue plane."""


def read_cifar10(found: Found) -> Dataset:
    """Read CIFAR-10: 50,000 training images, then 10,000 test images.

    Args:
        found: The official files in any layout.

    Returns:
        Images (32, 32, 3) in [0, 1], in the official order.
    """
    members = found.layout.members
    n = len(members) * _NUM_RECORDS
    x = np.empty((n, 32, 32, 3), np.float32)
    y = np.empty(n, np.int32)
    for content in read_contents(found):
        start = members.index(content.member) * _NUM_RECORDS
        rows = slice(start, start + _NUM_RECORDS)
        decode = _decode_binary if content.member.endswith(".bin") else _decode_pickle
        planes, y[rows] = decode(content)
        _check_labels(content, y[rows])
        _fill_images(x[rows], planes)
    names = found.entry.names
    return Dataset(x, y, names=names, num_train=_NUM_TRAIN, name=found.entry.name)


def _fill_images(x: Float32[np.ndarray, "n 32 32 3"], planes: Planes) -> None:
    # Write color planes into `x` as images in [0, 1], without a copy in between.
    images = planes.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    np.divide(images, np.float32(255), out=x)


def _decode_binary(content: Content) -> tuple[Planes, Labels]:
    # Records of one label byte and 3,072 pixel bytes.
    expected = _NUM_RECORDS * (1 + _NUM_PIXELS)
    if len(content.data) != expected:
        reason = f"expected {expected} bytes, got {len(content.data)}"
        raise ValueError(damaged(content.source, reason))
    records = np.frombuffer(content.data, np.uint8).reshape(_NUM_RECORDS, -1)
    return records[:, 1:], records[:, 0].astype(np.int32)


def _decode_pickle(content: Content) -> tuple[Planes, Labels]:
    # A dict with the array `data` and the list `labels`.
    try:
        batch = unpickle_bytes(content.data)
    except pickle.UnpicklingError as error:
        raise ValueError(damaged(content.source, str(error))) from error
    planes, labels = batch.get(b"data"), batch.get(b"labels")
    shape = (_NUM_RECORDS, _NUM_PIXELS)
    if not isinstance(planes, np.ndarray) or planes.shape != shape:
        reason = f"expected an array `data` of shape {shape}, got {_describe(planes)}"
        raise ValueError(damaged(content.source, reason))
    if (
        not isinstance(labels, list)
        or len(labels) != _NUM_RECORDS
        or not all(type(label) is int for label in labels)
    ):
        reason = f"expected {_NUM_RECORDS} integers `labels`, got {_describe(labels)}"
        raise ValueError(damaged(content.source, reason))
    # Clipped so that a wild integer fits, and is then found out of range.
    return planes, np.array([min(max(label, -1), 10) for label in labels], np.int32)


def _check_labels(content: Content, y: Labels) -> None:
    wrong = np.flatnonzero((y < 0) | (y > 9))
    if wrong.size:
        reason = (
            f"labels must lie in 0..9, but that of record {wrong[0]} does not "
            f"({wrong.size} records do not)"
        )
        raise ValueError(damaged(content.source, reason))


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"shape {value.shape}"
    if isinstance(value, list):
        return f"a list of length {len(value)}"
    return f"an object of type {type(value).__name__}"
