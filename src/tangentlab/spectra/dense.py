"""Dense eigendecomposition in float64 on the CPU."""

from typing import Any

import numpy as np
import scipy
from jaxtyping import Float

from .checking import check_finite, check_symmetric
from .describing import Solution, with_fixed_signs

LARGEST = 32_766
"""LAPACK's 32-bit workspace overflows beyond, and it returns NaN."""


def dense_pairs(K: Float[Any, "n n"], num: int, epsilon: float) -> Solution:
    """Decompose a matrix of the host, or on disk, which is read.

    Cost `O(n^3)` time and `3 n^2` numbers.

    Args:
        K: Symmetric matrix.
        num: How many leading pairs.
        epsilon: Machine epsilon of its dtype.

    Returns:
        The pairs.

    Raises:
        ValueError: If n is beyond what LAPACK can take, or the matrix is not finite
            and symmetric.
    """
    n = K.shape[0]
    if n > LARGEST:
        raise ValueError(
            f"A dense decomposition on the CPU takes at most n = {LARGEST} (LAPACK's "
            f"32-bit workspace), got n = {n}. Ask for leading pairs, such as num=1000, "
            "which need products alone, or decompose it on a GPU."
        )
    A = _symmetric(np.asarray(K, np.float64), epsilon)
    lam, V = leading_of(A, min(num + 1, n))
    following = float(lam[num]) if num < n else None
    lam, V = lam[:num].copy(), with_fixed_signs(V[:, :num])
    residuals = np.linalg.norm(A @ V - V * lam, axis=0)
    return Solution(lam, V, residuals, "dense", following=following)


def leading_of(
    A: Float[np.ndarray, "n n"], num: int
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, "n k"]]:
    """The leading pairs of a symmetric matrix, by LAPACK.

    Args:
        A: The matrix, of which the lower triangle is read.
        num: How many.

    Returns:
        Eigenvalues, descending, and vectors as columns.
    """
    n = len(A)
    lam, V = scipy.linalg.eigh(A, subset_by_index=(n - num, n - 1))
    if len(lam) < num:  # some versions lose nearly equal eigenvalues of a part
        lam, V = (part[..., n - num :] for part in np.linalg.eigh(A))
    return lam[::-1], V[:, ::-1]


def _symmetric(K: np.ndarray, epsilon: float) -> np.ndarray:
    check_finite(K)
    check_symmetric(np.abs(K - K.T).max(), np.abs(K).max(), epsilon)
    return (K + K.T) / 2
