"""Leading eigenpairs of a network's kernel, found once for all runs that share work."""

import dataclasses
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ...kernels.planning import backend
from ...kernels.request import ERRORS, Precision
from ...spectra import AccuracyWarning, Spectrum, spectrum
from .seeds import Seed
from .sharing import hash_start, read_shared, shared_folder, write_shared


def find_pairs(seed: Seed, K: Any, num: int, precision: Precision) -> Spectrum:
    """Leading pairs of a seed's Gram matrix.

    What is below the resolution is counted in the record, so that there is no warning.

    Args:
        seed: Network, parameters and samples.
        K: Their Gram matrix.
        num: How many pairs.
        precision: Of that matrix.

    Returns:
        The pairs, computed now or by another run: then perhaps of a search for more of
        them, so that runs that differ in `num` still see the same vectors.
    """
    folder = shared_folder(seed.folder)
    error = error_of(seed, precision)
    if folder is None:
        return leading_pairs(K, num, error)
    stem = f"spectrum-{hash_start(seed, seed.dataset.x)[:32]}-{precision}"
    if error is not None:  # what is resolved depends on it
        stem = stem.replace("spectrum-", f"spectrum-within-{error:g}-")
    path = _found(folder, stem, num)
    if path is None:
        found = leading_pairs(K, num, error)
        _write(folder / f"{stem}-{num}.npz", found)
        return found
    return _leading(_read(path), num)


def error_of(seed: Seed, precision: Precision) -> float | None:
    """Relative error of a Gram matrix beyond the rounding of its dtype.

    Args:
        seed: Whose cluster, if any, computes it: on accelerators, for all we know.
        precision: Of the matrix.

    Returns:
        The error, or None where there is none.
    """
    if backend() == "cpu" and seed.cluster is None:
        return None
    return ERRORS.get(precision)


def leading_pairs(K: Any, num: int, epsilon: float | None = None) -> Spectrum:
    """Leading pairs of a Gram matrix, without a warning of what is not resolved.

    Args:
        K: The matrix.
        num: How many pairs.
        epsilon: Relative error of the matrix, see `error_of`.

    Returns:
        The pairs.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        return spectrum(K, None if num == K.shape[0] else num, epsilon=epsilon)


def _found(folder: Path, stem: str, num: int) -> Path | None:
    """The smallest spectrum with enough pairs."""
    there = {int(p.stem.rpartition("-")[2]): p for p in folder.glob(f"{stem}-*.npz")}
    enough = [count for count in there if count >= num]
    return there[min(enough)] if enough else None


def _write(path: Path, found: Spectrum) -> None:
    names = [field.name for field in dataclasses.fields(found)]
    write_shared(path, {name: _plain(found, name) for name in names}, ())


def _read(path: Path) -> Spectrum:
    saved, _ = read_shared(path)
    values: dict[str, Any] = {
        name: array if array.ndim else array.item() for name, array in saved.items()
    }
    if np.isnan(values["trace"]):
        values["trace"] = None
    return Spectrum(**values)


def _leading(found: Spectrum, num: int) -> Spectrum:
    lam = np.asarray(found.eigenvalues)[:num]
    return dataclasses.replace(
        found,
        eigenvalues=lam,
        eigenvectors=found.eigenvectors[:, :num],
        residuals=found.residuals[:num],
        unresolved=found.unresolved[:num],
        num_negative=int((lam < 0).sum()),
        num_below_resolution=int((lam < found.resolution).sum()),
    )


def _plain(found: Spectrum, name: str) -> np.ndarray:
    value = getattr(found, name)
    return np.asarray(np.nan if value is None else value)
