r"""Nystrom's method: the spectrum of many samples from few of them."""

import dataclasses
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from .checking import as_array, as_matrix
from .decomposition import spectrum
from .describing import Solution, describe, with_fixed_signs
from .extension import extend
from .multiplying import multiply_transposed
from .record import AccuracyWarning, Spectrum


def nystrom(
    K_mm: Float[Any, "m m"] | Sequence[Sequence[float]],
    K_nm: Float[Any, "n m"] | Sequence[Sequence[float]],
    num: int,
    *,
    epsilon: float | None = None,
) -> Spectrum:
    r"""Approximate leading pairs of n samples from m landmarks among them.

    With $K_{mm} = U M U^\top$,

    $$\hat\mu_j = \frac nm \mu^{(m)}_j, \qquad
      \hat v_j \propto K_{nm} u_j / \mu^{(m)}_j$$

    the eigenfunctions of the landmarks at all samples, here of unit norm; the paper's
    landmarks are the first m samples. They are nearly orthogonal at best:
    `orthogonality_error` says how nearly. Residuals are estimated from the rows of `K`
    that are known, those of the landmarks: the norm there times $\sqrt{n/m}$, which
    assumes that landmarks are samples like the others. Cost `O(n m num)` and a
    spectrum of m samples.

    Args:
        K_mm: Gram matrix of the landmarks.
        K_nm: Kernel between all samples and the landmarks.
        num: How many pairs, at most m.
        epsilon: Relative error of the matrices, as in `tl.spectrum`.

    Returns:
        The approximate spectrum of the n samples; resolution and trace are those of
        the landmarks, times n / m.

    Raises:
        ValueError: If the matrices do not fit, or eigenvalues of `K_mm` are below its
            resolution.

    Reference:
        Williams and Seeger, "Using the Nystrom method to speed up kernel machines",
        NeurIPS 2000.
    """
    square, tall = as_matrix(K_mm, "K_mm"), as_array(K_nm)
    m = square.shape[0]
    if len(tall.shape) != 2 or tall.shape[1] != m or tall.shape[0] < m:
        raise ValueError(
            f"`K_nm` must hold the kernel between all samples and the {m} landmarks, "
            f"(n, {m}) with n at least {m}, got shape {tuple(tall.shape)}."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # refused below
        few = spectrum(square, num, epsilon=epsilon)
    _check_clear(few)
    n, scale = tall.shape[0], tall.shape[0] / m
    lam = np.asarray(few.eigenvalues) * scale
    V = extend(few, tall) / np.sqrt(n)
    at_landmarks = np.asarray(few.eigenvectors, np.float64) / np.sqrt(scale)
    apart = multiply_transposed(tall, V) - at_landmarks * lam
    length = np.linalg.norm(V, axis=0)
    if not length.all():
        raise ValueError(
            f"`K_nm` makes nothing of eigenvector {int(length.argmin())} of `K_mm`: "
            "among its rows must be those of the landmarks, `K_mm` itself."
        )
    residuals = np.sqrt(scale) * np.linalg.norm(apart, axis=0) / length
    found = Solution(
        lam,
        with_fixed_signs(V / length),
        residuals,
        "nystrom",
        few.num_unconverged,
    )
    error = few.resolution / np.abs(few.eigenvalues).max()
    trace = None if few.trace is None else few.trace * scale
    described = describe(found, epsilon=float(error), trace=trace)
    return dataclasses.replace(described, unresolved=few.unresolved)


def _check_clear(few: Spectrum) -> None:
    """Raise where an eigenvalue is too small to divide by."""
    lam = few.eigenvalues
    clear = int(((lam >= few.resolution) & (lam > 0)).sum())
    if clear < len(lam):
        advice = f" Ask for num={clear}." if clear else ""
        raise ValueError(
            f"Eigenvalue {clear} of `K_mm` is {lam[clear]:.3g}, which is below the "
            f"resolution {few.resolution:.3g}, or not above zero: its eigenfunction is "
            f"not known beyond the landmarks.{advice}"
        )


def orthogonality_error(spectrum: Spectrum) -> float:
    r"""How far eigenvectors are from orthonormal.

    Args:
        spectrum: A spectrum.

    Returns:
        The largest entry of $|V^\top V - I|$.
    """
    V = np.asarray(spectrum.eigenvectors, np.float64)
    return float(np.abs(V.T @ V - np.eye(V.shape[1])).max())
