"""Load a data set by its name."""

import os
from pathlib import Path

import numpy as np

from .._checks import check_known
from .arrays import load_npz
from .catalog import CATALOG, EMBEDDED
from .cifar import read_cifar10
from .dataset import Dataset
from .idx import read_idx_dataset
from .lookup import EMBEDDED_FILE, find, known_entry

_NUM_DIGITS_TRAIN = 1437  # the first 80 % of 1,797


def load(
    name: str | os.PathLike[str], *, directory: str | os.PathLike[str] | None = None
) -> Dataset:
    """Load a data set.

    | name | training + test | sample |
    |---|---|---|
    | `digits` | 1,437 (the first 80 %) + 360 | (8, 8, 1) |
    | `cifar10` | 50,000 + 10,000 | (32, 32, 3) |
    | `mnist`, `fashion_mnist` | 60,000 + 10,000 | (28, 28, 1) |
    | path ending in `.npz` | `num_train` of the file, or all as training | as stored |

    `digits` comes with the package; the others are looked for in `directory`, then in
    `$TANGENTLAB_DATA`, then in the user's cache, where `tangentlab data fetch NAME`
    puts them. CIFAR-10 is read from `cifar-10-batches-bin/`, `cifar-10-batches-py/`,
    `cifar-10-binary.tar.gz` or `cifar-10-python.tar.gz`, MNIST from `MNIST/raw/` or
    `mnist/`, Fashion-MNIST from `FashionMNIST/raw/` or `fashion_mnist/`, gzipped or
    not. `directory` may also be the folder of the files itself.

    Args:
        name: A name of the table.
        directory: A folder to search first; where a relative `.npz` path starts.

    Returns:
        Images as float32 in [0, 1], in the original order: training, then test.

    Raises:
        FileNotFoundError: If `directory` is no folder, or the files are nowhere; says
            which file to put where.

    Example:
        >>> digits = load("digits")
        >>> digits.x.shape, digits.num_train
        ((1797, 8, 8, 1), 1437)
    """
    text = os.fspath(name)
    if text.endswith(".npz"):
        return load_npz(Path(directory or "", text).expanduser())
    check_known("data set", text, [*CATALOG, EMBEDDED, "PATH.npz"])
    entry = known_entry(text)
    if entry is None:
        return _load_digits()
    if directory is not None and not Path(directory).expanduser().is_dir():
        raise FileNotFoundError(
            f"directory= is {os.fspath(directory)}, and there is no such folder: leave "
            "it out to look elsewhere."
        )
    found = find(entry, directory)
    return read_cifar10(found) if text == "cifar10" else read_idx_dataset(found)


def _load_digits() -> Dataset:
    # Eight by eight images with 17 gray levels; see `digits.txt` for their origin.
    with np.load(EMBEDDED_FILE, allow_pickle=False) as archive:
        x, y = archive["x"], archive["y"]
    return Dataset(
        x[..., None] / np.float32(16),
        y.astype(np.int32),
        names=tuple("0123456789"),
        num_train=_NUM_DIGITS_TRAIN,
        name="digits",
    )
