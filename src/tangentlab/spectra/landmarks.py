r"""Nystrom's method: the spectrum of many samples from few of them."""

import dataclasses
import warnings
from typing import Any

import numpy as np
from jaxtyping import Float

from .._checks import check_square
from .decomposition import spectrum
from .describing import Solution, describe, with_fixed_signs
from .extension import extend
from .multiplying import multiply_transposed
from .record import AccuracyWarning, Spectrum


def nystrom(K_mm: Float[Any, "m m"], K_nm: Float[Any, "n m"], num: int) -> Spectrum:
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
    check_square("K_mm", K_mm)
    m = K_mm.shape[0]
    if len(K_nm.shape) != 2 or K_nm.shape[1] != m or K_nm.shape[0] < m:
        raise ValueError(
            f"`K_nm` must hold the kernel between all samples and the {m} landmarks, "
            f"(n, {m}) with n at least {m}, got shape {K_nm.shape}."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # `extend` refuses instead
        few = spectrum(K_mm, num)
    n, scale = K_nm.shape[0], K_nm.shape[0] / m
    lam = np.asarray(few.eigenvalues) * scale
    V = extend(few, K_nm) / np.sqrt(n)
    at_landmarks = np.asarray(few.eigenvectors, np.float64) / np.sqrt(scale)
    apart = multiply_transposed(K_nm, V) - at_landmarks * lam
    length = np.linalg.norm(V, axis=0)
    residuals = np.sqrt(scale) * np.linalg.norm(apart, axis=0) / length
    found = Solution(
        lam,
        with_fixed_signs(V / length),
        residuals,
        "nystrom",
        few.num_unconverged,
    )
    epsilon = few.resolution / np.abs(few.eigenvalues).max()
    trace = None if few.trace is None else few.trace * scale
    described = describe(found, epsilon=float(epsilon), trace=trace)
    return dataclasses.replace(described, unresolved=few.unresolved)


def orthogonality_error(spectrum: Spectrum) -> float:
    r"""How far eigenvectors are from orthonormal.

    Args:
        spectrum: A spectrum.

    Returns:
        The largest entry of $|V^\top V - I|$.
    """
    V = np.asarray(spectrum.eigenvectors, np.float64)
    return float(np.abs(V.T @ V - np.eye(V.shape[1])).max())
