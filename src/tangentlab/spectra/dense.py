"""Dense eigendecomposition in float64 on the CPU.

>>> import numpy as np
>>> spectrum(np.diag([1.0, 3.0])).eigenvalues.tolist()
[3.0, 1.0]
"""

import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Float

from .._checks import check_square
from .._types import AnyArray
from .record import Spectrum

_LARGEST = 32_766  # LAPACK's 32-bit workspace overflows beyond, and returns NaN


def spectrum(K: Float[AnyArray, "n n"], num: int | None = None) -> Spectrum:
    r"""Eigenpairs of a symmetric matrix, the largest first.

    Cost `O(n^3)` time and `3 n^2` numbers, always in float64: the small eigenvalues of
    a kernel lie far below float32's resolution of the large ones.

    Args:
        K: Symmetric matrix.
        num: How many leading pairs; None for all.

    Returns:
        The spectrum, as numpy arrays.

    Raises:
        ValueError: If `K` is not a finite symmetric matrix, `num` is outside 1..n, or
            n is beyond what LAPACK can take.
    """
    check_square("K", K)
    n = K.shape[0]
    k = n if num is None else num
    if not 1 <= k <= n:
        raise ValueError(f"`num` must lie in 1..{n}, got {num}.")
    if n > _LARGEST:
        raise ValueError(
            f"A dense decomposition on the CPU takes at most n = {_LARGEST} (LAPACK's "
            f"32-bit workspace), got n = {n}. Use a subset of the samples."
        )
    if not jnp.issubdtype(K.dtype, jnp.floating):
        raise ValueError(f"`K` must be real-valued, got dtype {K.dtype}.")
    epsilon = float(jnp.finfo(K.dtype).eps)
    A = _symmetric(np.asarray(K, np.float64), epsilon)
    lam, V = scipy.linalg.eigh(A, subset_by_index=(n - k, n - 1))
    lam, V = lam[::-1], V[:, ::-1]
    V = V * np.where(V[np.abs(V).argmax(axis=0), np.arange(k)] < 0, -1.0, 1.0)
    resolution = epsilon * abs(lam[0])
    return Spectrum(
        eigenvalues=lam.copy(),
        eigenvectors=V,
        residuals=np.linalg.norm(A @ V - V * lam, axis=0),
        unresolved=_unresolved(lam, resolution),
        resolution=resolution,
        num_negative=int((lam < 0).sum()),
        num_below_resolution=int((lam < resolution).sum()),
    )


def _symmetric(K: np.ndarray, epsilon: float) -> np.ndarray:
    if not np.isfinite(K).all():
        row = int((~np.isfinite(K)).any(axis=1).argmax())
        raise ValueError(
            f"`K` holds NaN or infinite entries, the first in row {row}: look at the "
            "network's outputs and gradients there."
        )
    asymmetry, largest = np.abs(K - K.T).max(), np.abs(K).max()
    if asymmetry > 1e3 * epsilon * largest:
        raise ValueError(
            f"`K` must be symmetric, but K and its transpose differ by {asymmetry:.3g} "
            f"(largest entry {largest:.3g}). Compute it on one set of samples."
        )
    return (K + K.T) / 2


def _unresolved(lam: np.ndarray, resolution: float) -> np.ndarray:
    gaps = np.concatenate([[np.inf], -np.diff(lam), [np.inf]])
    return np.minimum(gaps[:-1], gaps[1:]) <= resolution
