r"""Tasks whose labels are signs of an eigenfunction: the paper's benchmark.

The kernel complexity of the real-valued target is known, $\|\phi_j\|^2 = 1/\lambda_j$;
tasks of one spectrum differ in nothing else.
"""

import numpy as np

from ..data import Dataset
from ..spectra import Spectrum
from .record import Task


def eigenfunction(spectrum: Spectrum, index: int, dataset: Dataset) -> Task:
    r"""Label samples by the sign of an eigenfunction, $y_i = 1[v_{ij} > 0]$.

    The threshold is zero, so class balance is whatever the eigenfunction has; an exact
    zero is class 0. Labels of test samples come from the same vector.

    Args:
        spectrum: Of the Gram matrix on all samples of `dataset`, train then test.
        index: Which eigenfunction, from 0 (the paper's $\phi_1$).
        dataset: The samples; its own labels are not used.

    Returns:
        The task.

    Raises:
        ValueError: If the spectrum is of other samples, or has no such eigenfunction.
    """
    n, num = spectrum.eigenvectors.shape
    if n != len(dataset.x):
        raise ValueError(
            f"The spectrum is of {n} samples, the data set has {len(dataset.x)}: take "
            "the spectrum of the Gram matrix on all samples, train then test."
        )
    if not 0 <= index < num:
        raise ValueError(
            f"`index` must lie in 0..{num - 1} (the spectrum has {num} pairs, index 0 "
            f"is the paper's phi_1), got {index}."
        )
    v = np.asarray(spectrum.eigenvectors[:, index])
    return Task(
        x=dataset.x,
        y=(v > 0).astype(np.float32),
        num_train=dataset.num_train,
        name=f"{dataset.name} eigenfunction {index}",
        index=index,
        unresolved=bool(spectrum.unresolved[index]),
    )
