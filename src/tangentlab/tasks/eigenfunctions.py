r"""Tasks made of an eigenfunction of a kernel: the paper's benchmark.

The kernel complexity of the real-valued target is known, $\|\phi_j\|^2 = 1/\lambda_j$;
tasks of one spectrum differ in nothing else. Which kernel the spectrum is of is the
user's choice, and `source` keeps it in words: the network's own at its own
initialization as in the paper, another seed's, another architecture's, an
infinite-width one, or that of the training samples alone.

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770, Section 3.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from .._checks import is_whole
from .._types import AnyArray
from ..data import Dataset
from ..kernels import TiledGram
from ..spectra import Spectrum, extend
from ..spectra.checking import as_array
from .record import Task


def eigenfunction(
    spectrum: Spectrum,
    index: int,
    dataset: Dataset,
    *,
    regression: bool = False,
    source: str = "own",
) -> Task:
    r"""Label samples by the sign of an eigenfunction, $y_i = 1[v_{ij} > 0]$.

    The threshold is zero, so class balance is whatever the eigenfunction has; an exact
    zero is class 0. Labels of test samples come from the same vector. With `regression`
    the target is the eigenfunction itself, $y_i = \phi_j(x_i) = \sqrt n\,v_{ij}$, of
    mean square 1 over all samples. Where the eigenvalue is below the spectrum's
    resolution, or negative, or not told apart from the next, the task is flagged as
    `unresolved`.

    Args:
        spectrum: Of the Gram matrix on all samples of `dataset`, train then test.
        index: Which eigenfunction, from 0 (the paper's $\phi_1$).
        dataset: The samples; its own labels are not used.
        regression: Learn the real values instead of their signs.
        source: Whose kernel the spectrum is of, in a few words: `"own"`, `"seed 7"`,
            `"lenet"`, `"infinite width"`. Kept in the task and printed with it.

    Returns:
        The task.

    Raises:
        ValueError: If the spectrum is of other samples, or has no such eigenfunction.
    """
    _check_kinds(spectrum, dataset)
    n = len(spectrum.eigenvectors)
    if n != len(dataset.x):
        raise ValueError(
            f"The spectrum is of {n} samples, the data set has {len(dataset.x)}: take "
            "the spectrum of the Gram matrix on all samples, train then test, or use "
            "`extended_eigenfunction` for a spectrum of the training samples alone."
        )
    _check_index(spectrum, index)
    phi = math.sqrt(n) * np.asarray(spectrum.eigenvectors[:, index])
    return _task(phi, spectrum, index, dataset, regression, source)


def extended_eigenfunction(
    spectrum: Spectrum,
    index: int,
    dataset: Dataset,
    K_test_train: Float[AnyArray | TiledGram, "m n"] | Sequence[Sequence[float]],
    *,
    regression: bool = False,
    source: str = "extended",
) -> Task:
    r"""Like `eigenfunction`, from the training samples alone.

    The eigenfunction of the $n$ training samples $X$ has a value at any other sample,

    $$\phi_j(x) = \sqrt n\,\Theta(x, X)\,v_j / \mu_j,$$

    which at the training samples is $\sqrt n\,v_{ij}$ again. Test samples have no part
    in the spectrum, so that, unlike with `eigenfunction`, the labels of the test split
    are of samples the kernel's eigenvectors have never seen.

    Args:
        spectrum: Of the Gram matrix on the training split.
        index: Which eigenfunction, from 0 (the paper's $\phi_1$).
        dataset: The samples, train then test; its own labels are not used.
        K_test_train: The same kernel between test samples (rows) and training samples.
        regression: Learn the real values instead of their signs.
        source: Whose kernel it is, in a few words.

    Returns:
        The task.

    Raises:
        ValueError: If spectrum or kernel are of other samples, there is no such
            eigenfunction, or `tl.spectra.extend` refuses it: its eigenvalue is below
            the resolution.
    """
    _check_kinds(spectrum, dataset)
    n = len(spectrum.eigenvectors)
    if n != dataset.num_train:
        raise ValueError(
            f"The spectrum is of {n} samples, the training split has "
            f"{dataset.num_train}: take the spectrum of the Gram matrix on the "
            "training split, or use `eigenfunction` for one on all samples."
        )
    K = as_array(K_test_train)
    if tuple(K.shape) != (dataset.num_test, n):
        raise ValueError(
            f"`K_test_train` must have a row for each of {dataset.num_test} test "
            f"samples and a column for each of {n} training samples, got shape "
            f"{tuple(K.shape)}."
        )
    _check_index(spectrum, index)
    test = extend(spectrum, K, [index])[:, 0]
    train = math.sqrt(n) * np.asarray(spectrum.eigenvectors[:, index], np.float64)
    phi = np.concatenate([train, test])
    return _task(phi, spectrum, index, dataset, regression, source)


def _check_kinds(spectrum: Any, dataset: Any) -> None:
    if not isinstance(spectrum, Spectrum):
        raise TypeError(
            f"`spectrum` must be a `Spectrum`, got {type(spectrum).__name__}: the "
            "arguments are (spectrum, index, dataset), and `tl.spectrum(K)` makes one "
            "of a Gram matrix."
        )
    if not isinstance(dataset, Dataset):
        raise TypeError(
            f"`dataset` must be a `Dataset`, got {type(dataset).__name__}: the "
            "arguments are (spectrum, index, dataset), and "
            "`tl.data.from_arrays(x, y)` makes one of arrays."
        )


def _check_index(spectrum: Spectrum, index: int) -> None:
    num = len(spectrum.eigenvalues)
    if not (is_whole(index) and 0 <= index < num):
        raise ValueError(
            f"`index` must be a whole number in 0..{num - 1} (the spectrum has {num} "
            f"pairs, index 0 is the paper's phi_1), got {index!r}."
        )


def _task(
    phi: Float[np.ndarray, " n"],
    spectrum: Spectrum,
    index: int,
    dataset: Dataset,
    regression: bool,
    source: str,
) -> Task:
    below = spectrum.eigenvalues[index] < spectrum.resolution
    return Task(
        x=dataset.x,
        y=phi if regression else (phi > 0).astype(np.float32),
        num_train=dataset.num_train,
        name=f"{dataset.name} eigenfunction {index}",
        index=int(index),
        unresolved=bool(spectrum.unresolved[index] | below),
        kind="regression" if regression else "binary",
        source=source,
    )
