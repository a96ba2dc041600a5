"""Dense eigendecomposition in float64 on the CPU."""

from typing import Any

import numpy as np
import scipy
from jaxtyping import Float

from .._linalg import blocks
from .._quantities import bytes_in_words
from ..kernels.planning import host_memory
from .checking import check_finite, check_symmetric
from .describing import Solution, with_fixed_signs

LARGEST = 32_766
"""LAPACK's 32-bit workspace overflows beyond, and it returns NaN."""
_PANEL = 512  # vectors whose residuals are evaluated at once


def dense_pairs(K: Float[Any, "n n"], num: int, epsilon: float) -> Solution:
    """Decompose a matrix of the host, or on disk, which is read.

    Cost `O(n^3)` time and, beside the matrix, `n (2 n + num)` numbers.

    Args:
        K: Symmetric matrix.
        num: How many leading pairs.
        epsilon: Machine epsilon of its dtype.

    Returns:
        The pairs.

    Raises:
        ValueError: If n is beyond what LAPACK can take, or the matrix is not finite
            and symmetric.
        MemoryError: If that does not fit what is free.
    """
    n = K.shape[0]
    if n > LARGEST:
        raise ValueError(
            f"A dense decomposition on the CPU takes at most n = {LARGEST} (LAPACK's "
            f"32-bit workspace), got n = {n}. Ask for leading pairs, such as num=1000, "
            "which need products alone, or decompose it on a GPU."
        )
    _check_room(n, num)
    A = _symmetric(np.asarray(K, np.float64), epsilon)
    lam, V = leading_of(A, min(num + 1, n))
    following = float(lam[num]) if num < n else None
    lam, V = lam[:num].copy(), with_fixed_signs(V[:, :num])
    return Solution(lam, V, _residuals(A, V, lam), "dense", following=following)


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


def dense_fits(n: int, num: int) -> bool:
    """Whether a dense decomposition fits what is free of the host's memory.

    Args:
        n: Side of the matrix.
        num: How many leading pairs.

    Returns:
        True if it does.
    """
    return _needed(n, num) <= host_memory()


def _needed(n: int, num: int) -> int:
    """Bytes beside the matrix: two float64 copies of it, vectors, and a panel."""
    return 8 * n * (2 * n + num + 3 * min(num, _PANEL))


def _check_room(n: int, num: int) -> None:
    if not dense_fits(n, num):
        raise MemoryError(
            f"A dense decomposition of a matrix of {n:,} rows takes "
            f"{bytes_in_words(_needed(n, num))} beside the matrix, in float64 whatever "
            f"its dtype; {bytes_in_words(host_memory())} are free. Ask for leading "
            "pairs alone, such as num=100 with method='krylov', take fewer samples, or "
            "decompose it on a GPU."
        )


def _residuals(
    A: Float[np.ndarray, "n n"], V: Float[np.ndarray, "n k"], lam: np.ndarray
) -> np.ndarray:
    """In panels: no product with all vectors is kept."""
    parts = [
        np.linalg.norm(A @ V[:, at] - V[:, at] * lam[at], axis=0)
        for at in blocks(len(lam), _PANEL)
    ]
    return np.concatenate(parts)


def _symmetric(K: np.ndarray, epsilon: float) -> np.ndarray:
    check_finite(K)
    apart = K - K.T
    asymmetry = np.abs(apart, out=apart).max()
    check_symmetric(asymmetry, max(K.max(), -K.min()), epsilon)
    A = np.add(K, K.T, out=apart)
    A /= 2
    return A
