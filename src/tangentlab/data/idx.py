"""Decode the idx files of MNIST and Fashion-MNIST."""

import struct

import numpy as np
from jaxtyping import Int32, UInt8

from .catalog import FIRST_LABELS
from .contents import Content, damaged, read_contents
from .dataset import Dataset
from .lookup import Found

_IMAGE_SHAPE = (28, 28)
_NUM_TRAIN, _NUM_TEST = 60_000, 10_000
_UNSIGNED_BYTE = 0x08  # the third byte of an idx file names the type of its items


def read_idx_dataset(found: Found) -> Dataset:
    """Read MNIST or Fashion-MNIST: 60,000 training images, then 10,000 test images.

    Args:
        found: The four official files, gzipped or not.

    Returns:
        Images (28, 28, 1) in [0, 1], in the official order.
    """
    contents = {content.member: content for content in read_contents(found)}
    train_images, train_labels, test_images, test_labels = (
        contents[member] for member in found.layout.members
    )
    y = [
        _decode_labels(train_labels, _NUM_TRAIN),
        _decode_labels(test_labels, _NUM_TEST),
    ]
    _check_identity(found.entry.name, train_labels.source, y[0])
    x = np.empty((_NUM_TRAIN + _NUM_TEST, *_IMAGE_SHAPE, 1), np.float32)
    for rows, content in (
        (slice(_NUM_TRAIN), train_images),
        (slice(_NUM_TRAIN, None), test_images),
    ):
        shape = (len(x[rows]), *_IMAGE_SHAPE)
        np.divide(_decode_idx(content, shape), np.float32(255), out=x[rows, ..., 0])
    return Dataset(
        x,
        np.concatenate(y),
        names=found.entry.names,
        num_train=_NUM_TRAIN,
        name=found.entry.name,
    )


def _decode_idx(content: Content, shape: tuple[int, ...]) -> UInt8[np.ndarray, "..."]:
    # Unsigned bytes after a header of magic number and big-endian sizes.
    header = struct.pack(
        f">{1 + len(shape)}I", _UNSIGNED_BYTE << 8 | len(shape), *shape
    )
    found = content.data[: len(header)]
    if found != header:
        reason = f"expected the header {header.hex(' ', 4)}, got {found.hex(' ', 4)}"
        raise ValueError(damaged(content.source, reason))
    expected = len(header) + int(np.prod(shape))
    if len(content.data) != expected:
        reason = f"expected {expected} bytes, got {len(content.data)}"
        raise ValueError(damaged(content.source, reason))
    return np.frombuffer(content.data, np.uint8, offset=len(header)).reshape(shape)


def _decode_labels(content: Content, num: int) -> Int32[np.ndarray, " n"]:
    labels = _decode_idx(content, (num,)).astype(np.int32)
    wrong = np.flatnonzero(labels > 9)
    if wrong.size:
        reason = f"labels must lie in 0..9, but label {wrong[0]} is {labels[wrong[0]]}"
        raise ValueError(damaged(content.source, reason))
    return labels


def _check_identity(name: str, source: str, y: Int32[np.ndarray, " n"]) -> None:
    # Refuse the one data set under the name of the other: they share file names.
    for other, first in FIRST_LABELS.items():
        if other != name and tuple(y[: len(first)].tolist()) == first:
            raise ValueError(
                f"{source} holds the labels of {other}, not of {name}: the two share "
                f"file names. Load {other!r}, or point `directory` at {name}."
            )
