"""Data sets from arrays: in memory, or in an `.npz` file."""

import os
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from .._types import AnyArray
from .dataset import Dataset

_MAX_UNNAMED = 1000
"""More classes than this, and than samples, are taken for a mistake in the labels."""


def from_arrays(
    x: Shaped[AnyArray, "n ..."],
    y: Shaped[AnyArray, " n"],
    *,
    num_train: int | None = None,
    names: Sequence[str] | None = None,
    name: str = "arrays",
) -> Dataset:
    """Make a data set of arrays from memory.

    Args:
        x: Samples along the first axis, the training split first. Floats are kept as
            they are; `uint8` is taken for images and divided by 255 into float32.
        y: Class of each sample, integers from 0 on.
        num_train: Length of the training split; all samples if not given.
        names: Class names; `"0"`, `"1"`, ... up to the largest label if not given.
        name: What the data set is called in tables and figures.

    Returns:
        The data set, in host memory.

    Raises:
        ValueError: If samples or labels are of another type, or labels have more than
            one axis.

    Example:
        >>> import numpy as np
        >>> from_arrays(np.zeros((4, 2)), np.array([0, 1, 2, 0]), num_train=3).names
        ('0', '1', '2')
    """
    labels = _integer_labels(name, np.asarray(y))
    if names is None:
        names = _numbered_names(name, labels)
    return Dataset(
        _float_samples(name, np.asarray(x)),
        labels,
        names=tuple(names),
        num_train=len(x) if num_train is None else num_train,
        name=name,
    )


def load_npz(path: str | os.PathLike[str]) -> Dataset:
    """Read a data set from an `.npz` file.

    The file holds `x` and `y` and, optionally, the integer `num_train` and the strings
    `names`; or `x_train`, `y_train` and, optionally, `x_test`, `y_test`, `names`. All
    are taken as by `from_arrays`.

    Args:
        path: The file.

    Returns:
        The data set, called after the file.

    Raises:
        ValueError: If arrays are missing, or hold Python objects, or make no data set.
    """
    path = Path(path)
    arrays = _read_arrays(path)
    if {"x", "y"} <= set(arrays):
        x, y = arrays["x"], arrays["y"]
        num_train = _stored_num_train(path, arrays)
    elif {"x_train", "y_train"} <= set(arrays):
        x = _join_splits(path, arrays, "x")
        y = _join_splits(path, arrays, "y")
        num_train = len(arrays["x_train"])
    else:
        raise ValueError(
            f"{path} needs arrays `x` and `y`, or `x_train` and `y_train`; it has "
            f"{_listed(arrays)}."
        )
    names = _stored_names(path, arrays)
    try:
        return from_arrays(x, y, num_train=num_train, names=names, name=path.stem)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file {path}. Relative paths start at {Path.cwd()}."
        )
    if not zipfile.is_zipfile(path):
        raise ValueError(
            f"{path} is not an .npz archive, or was cut off. Write it with "
            "`numpy.savez(path, x=x, y=y)`."
        )
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise ValueError(
            f"{path} cannot be read: {error}. Only plain numbers and strings are read, "
            "no Python objects. Write it again with `numpy.savez(path, x=x, y=y)`."
        ) from error


def _join_splits(path: Path, arrays: dict[str, np.ndarray], key: str) -> np.ndarray:
    # The training split of `x` or `y`, then the test split where there is one.
    train, test = arrays[f"{key}_train"], arrays.get(f"{key}_test")
    if ("x_test" in arrays) != ("y_test" in arrays):
        raise ValueError(
            f"{path} needs both `x_test` and `y_test` or neither; it has "
            f"{_listed(arrays)}."
        )
    if test is None:
        return train
    if train.shape[1:] != test.shape[1:] or train.dtype != test.dtype:
        raise ValueError(
            f"{path}: `{key}_train` and `{key}_test` must agree but for their length, "
            f"got {train.dtype} {train.shape} and {test.dtype} {test.shape}."
        )
    return np.concatenate([train, test])


def _stored_num_train(path: Path, arrays: dict[str, np.ndarray]) -> int | None:
    value = arrays.get("num_train")
    if value is None:
        return None
    if value.shape != () or value.dtype.kind not in "iu":
        raise ValueError(
            f"{path}: `num_train` must be one integer, got {value.dtype} of shape "
            f"{value.shape}."
        )
    return int(value)


def _stored_names(path: Path, arrays: dict[str, np.ndarray]) -> list[str] | None:
    value = arrays.get("names")
    if value is None:
        return None
    if value.ndim != 1 or value.dtype.kind not in "US":
        raise ValueError(
            f"{path}: `names` must be one string for each class, got {value.dtype} of "
            f"shape {value.shape}."
        )
    return [str(item) for item in value.astype(np.str_)]


def _float_samples(name: str, x: np.ndarray) -> np.ndarray:
    if x.dtype == np.uint8:
        return x / np.float32(255)
    if not np.issubdtype(x.dtype, np.floating):
        raise ValueError(
            f"{name}: samples must be floats, or uint8 images, got {x.dtype}. Convert "
            "them, for instance with `x.astype('float32')`."
        )
    return x


def _integer_labels(name: str, y: np.ndarray) -> np.ndarray:
    if y.ndim != 1 or y.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: labels must be one integer for each sample, shape (n,), got "
            f"{y.dtype} of shape {y.shape}. Use `y.argmax(1)` for one-hot rows, "
            "`y.ravel()` for a column, `y.astype(int)` for whole floats."
        )
    # Clipped, for a cast of larger numbers would wrap around into the valid range.
    limit = np.iinfo(np.int32).max
    return np.clip(y.astype(np.float64), -1, limit).astype(np.int32)


def _numbered_names(name: str, y: np.ndarray) -> tuple[str, ...]:
    num = int(y.max(initial=0)) + 1
    if num > max(_MAX_UNNAMED, len(y)):
        raise ValueError(
            f"{name}: the largest label is {num - 1}, with {len(y)} samples. Number "
            "the classes from 0 on, or pass `names`."
        )
    return tuple(map(str, range(num)))


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in sorted(keys)) or "no arrays"
