r"""Quadratic forms with the inverse of a Gram matrix, refused where it has none."""

import numpy as np
import scipy
from jaxtyping import Float

from .._checks import check_same_rows, check_square
from .._types import AnyArray
from .checking import check_finite, check_not_negative, rounding_of

_LEAST = 10  # roundings of an entry; smaller reciprocal condition numbers are noise


def inverse_forms(
    K: Float[AnyArray, "n n"], Y: Float[AnyArray, "n t"], jitter: float | int = 0.0
) -> Float[np.ndarray, " t"]:
    r"""$y^\top (K + \epsilon I)^{-1} y$ for each column, in float64.

    By a Cholesky factor, $\|L^{-1} y\|^2$, which cannot come out negative.

    Args:
        K: Symmetric positive definite matrix.
        Y: Vectors, as columns.
        jitter: $\epsilon$.

    Returns:
        One number a column.
    """
    check_same_rows("K", K, "Y", Y)
    check_finite("Y", Y)
    L = cholesky(K, jitter)
    solved = scipy.linalg.solve_triangular(L, np.asarray(Y, np.float64), lower=True)
    return (solved**2).sum(axis=0)


def inverse_trace(K: Float[AnyArray, "n n"], jitter: float | int = 0.0) -> float:
    r"""$\operatorname{tr} (K + \epsilon I)^{-1}$, in float64.

    Args:
        K: Symmetric positive definite matrix.
        jitter: $\epsilon$.

    Returns:
        The trace.
    """
    L = cholesky(K, jitter)
    inverse = scipy.linalg.solve_triangular(L, np.eye(len(L)), lower=True)
    return float((inverse**2).sum())


def cholesky(
    K: Float[AnyArray, "n n"], jitter: float | int = 0.0
) -> Float[np.ndarray, "n n"]:
    r"""Cholesky factor of $K + \epsilon I$ in float64.

    Args:
        K: Symmetric positive definite matrix.
        jitter: $\epsilon$.

    Returns:
        The lower triangular factor.

    Raises:
        ValueError: If the matrix is not finite, not positive definite, or singular up
            to the rounding of its own dtype: what was computed in float32 is not known
            any better in float64.
    """
    check_square("K", K)
    check_finite("K", K)
    check_not_negative("jitter", jitter)
    full = np.asarray(K, np.float64)
    full = full + jitter * np.eye(len(full))
    try:
        L = scipy.linalg.cholesky(full, lower=True)
    except scipy.linalg.LinAlgError as error:
        raise ValueError(_message("not positive definite", full)) from error
    norm = np.abs(full).sum(axis=0).max()
    (condition,) = scipy.linalg.get_lapack_funcs(("pocon",), (L,))
    reciprocal, _ = condition(L, norm, uplo="L")
    if reciprocal < _LEAST * rounding_of(K):
        raise ValueError(_message(f"singular, condition {1 / reciprocal:.1e}", full))
    return L


def _message(what: str, K: Float[np.ndarray, "n n"]) -> str:
    diagonal = np.diagonal(K)
    return (
        f"`K` of shape {K.shape} is {what} up to rounding (its mean diagonal is "
        f"{diagonal.mean():.3g}), so that its inverse is noise. Look for equal samples "
        "and for features that are fewer than samples (a constant coordinate may be "
        "missing), compute it in float64, or pass a ridge or jitter where the function "
        "has one."
    )
