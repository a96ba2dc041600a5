"""Files of the official sizes and formats with made-up pixels."""

import gzip
import pickle
import struct
import tarfile
from pathlib import Path

import numpy as np

CIFAR_BATCHES = [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]
NOISY_RECORDS = [0, 1234, 9_999]
FIRST_FASHION_LABELS = [9, 0, 0, 3, 0, 2, 7, 2, 5, 5]
FIRST_MNIST_LABELS = [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]


def cifar_batch(index):
    """Labels and pixel planes of one batch; every record and every batch differs."""
    rng = np.random.default_rng(index)
    labels = rng.integers(0, 10, 10_000).astype(np.uint8)
    bands = np.repeat(rng.integers(0, 256, 48, dtype=np.uint8), 64)  # quick to pack
    planes = np.arange(10_000).astype(np.uint8)[:, None] * np.uint8(7) + bands[None, :]
    planes[NOISY_RECORDS] = rng.integers(0, 256, (len(NOISY_RECORDS), 3072))
    return labels, planes


def write_cifar_bin(folder):
    folder.mkdir(parents=True)
    for index, name in enumerate(CIFAR_BATCHES):
        labels, planes = cifar_batch(index)
        records = np.concatenate([labels[:, None], planes], axis=1)
        (folder / f"{name}.bin").write_bytes(records.tobytes())


def write_cifar_py(folder):
    folder.mkdir(parents=True)
    for index, name in enumerate(CIFAR_BATCHES):
        labels, planes = cifar_batch(index)
        (folder / name).write_bytes(python_2_batch(labels.tolist(), planes))


def python_2_batch(labels, planes):
    """A batch as the official ones were pickled: protocol 2, Python 2, old numpy.

    Spelled out opcode by opcode, for no Python 3 can write byte strings that way.
    """

    def text(value):
        return pickle.SHORT_BINSTRING + bytes([len(value)]) + value

    def integer(value):
        return pickle.BININT + struct.pack("<i", value)

    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n"
        + (integer(0) + pickle.TUPLE1 + text(b"b") + b"tR")  # an empty array, then:
        + (b"(" + integer(1) + integer(len(planes)) + integer(3072) + pickle.TUPLE2)
        + (b"cnumpy\ndtype\n(" + text(b"u1") + integer(0) + integer(1) + b"tR")
        + (b"(" + integer(3) + text(b"|") + b"NNN" + integer(-1) * 2 + integer(0))
        + (b"tb" + pickle.NEWFALSE)
        + (pickle.BINSTRING + struct.pack("<i", planes.size) + planes.tobytes() + b"tb")
    )
    items = b"".join(pickle.BININT1 + bytes([label]) for label in labels)
    return (
        (pickle.PROTO + b"\x02}(")
        + (text(b"batch_label") + text(b"training batch 1 of 5"))
        + (text(b"labels") + b"](" + items + b"e")
        + (text(b"data") + array)
        + b"u."
    )


def pack(folder, archive):
    """Pack a folder as the official archives are, quickly."""
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(folder, arcname=folder.name)


def write_idx(
    folder: Path, first_labels, *, gzipped=False, num_train=60_000, num_test=10_000
):
    """The four idx files; pixel values and labels count up, after the first labels."""
    folder.mkdir(parents=True, exist_ok=True)
    for prefix, num in (("train", num_train), ("t10k", num_test)):
        labels = np.arange(num) % 10
        labels[: len(first_labels)] = first_labels
        pixels = np.arange(num, dtype=np.uint32)[:, None] + np.arange(784)[None, :]
        images_header = struct.pack(">4I", 2051, num, 28, 28)
        labels_header = struct.pack(">2I", 2049, num)
        for name, data in (
            (f"{prefix}-images-idx3-ubyte", images_header + _bytes(pixels)),
            (f"{prefix}-labels-idx1-ubyte", labels_header + _bytes(labels)),
        ):
            if gzipped:
                (folder / f"{name}.gz").write_bytes(gzip.compress(data, 1))
            else:
                (folder / name).write_bytes(data)


def _bytes(values):
    return values.astype(np.uint8).tobytes()
