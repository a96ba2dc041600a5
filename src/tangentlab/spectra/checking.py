"""What a decomposition refuses, with the messages."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from .._checks import check_square, is_whole
from .._linalg import blocks

_STRIP = 2**24  # entries that are looked at at once
_ROUNDING = 1e3  # times epsilon: more is no rounding
_MOST = 0.05  # of the largest entry, where epsilon itself is large


def as_array(values: Any) -> Any:
    """Whatever is like an array as it is, lists as an array.

    Args:
        values: What was passed for an array.

    Returns:
        The array.
    """
    return values if hasattr(values, "dtype") else np.asarray(values)


def as_matrix(K: Any, name: str = "K") -> Any:
    """A matrix as it is, or nested lists as an array.

    Args:
        K: What was passed for a matrix.
        name: Of the argument, for the message.

    Returns:
        The square matrix.

    Raises:
        TypeError: If it is traced, as under `jax.jit`.
        ValueError: If it is not square, or empty.
    """
    K = as_array(K)
    if isinstance(K, Tracer):
        raise TypeError(
            f"`{name}` is traced, but a spectrum is computed in float64 by programs "
            "that JAX does not know: call this outside `jax.jit`, `jax.grad` and "
            "`jax.vmap`."
        )
    check_square(name, K)
    if K.shape[0] == 0:
        raise ValueError(
            f"`{name}` is empty, of shape (0, 0): there are no eigenpairs."
        )
    return K


def check_real(K: Any) -> None:
    """Raise unless a matrix holds floating-point numbers.

    Args:
        K: The matrix.

    Raises:
        ValueError: If it is of another dtype.
    """
    if not jnp.issubdtype(K.dtype, jnp.floating):
        raise ValueError(
            f"`K` must be real-valued, got dtype {K.dtype}: pass it as floating-point "
            "numbers, as in `K.astype(float)`."
        )


def check_num(num: int, n: int) -> None:
    """Raise unless that many pairs can be asked for.

    Args:
        num: How many pairs.
        n: Side of the matrix.

    Raises:
        ValueError: If `num` is no whole number, or outside 1..n.
    """
    if not is_whole(num):
        raise ValueError(f"`num` must be a whole number of pairs, got {num!r}.")
    if not 1 <= num <= n:
        raise ValueError(f"`num` must lie in 1..{n}, got {num}.")


def check_tolerance(tolerance: float) -> None:
    """Raise unless a tolerance can be met.

    Args:
        tolerance: A share of an eigenvalue.

    Raises:
        ValueError: If it is not between 0 and 1.
    """
    if not 0 < tolerance < 1:
        raise ValueError(
            "`tolerance` is a share of an eigenvalue and must lie between 0 and 1, "
            f"such as 1e-8, got {tolerance}."
        )


def check_epsilon(epsilon: float) -> None:
    """Raise unless a number can be a relative error.

    Args:
        epsilon: Of a matrix, or of products with it.

    Raises:
        ValueError: If it is not in [0, 1).
    """
    if not 0 <= epsilon < 1:
        raise ValueError(
            "`epsilon` is a relative error, of the matrix or of products with it, such "
            f"as 1e-7 for float32, got {epsilon}."
        )


def check_symmetric(asymmetry: float, largest: float, epsilon: float) -> None:
    """Raise where a matrix and its transpose differ by more than rounding.

    Args:
        asymmetry: The largest difference.
        largest: The largest entry.
        epsilon: Machine epsilon of the matrix.

    Raises:
        ValueError: If the difference is a thousand times what rounding makes, or a
            twentieth of the largest entry.
    """
    if asymmetry > _tolerated(epsilon) * largest:
        raise ValueError(
            f"`K` must be symmetric, but K and its transpose differ by {asymmetry:.3g} "
            f"(largest entry {largest:.3g}). Compute it on one set of samples."
        )


def check_symmetric_in_strips(K: Any, epsilon: float) -> None:
    """Raise where a matrix of the host, or on disk, is not symmetric.

    Args:
        K: The matrix, of which some rows and the same columns are read at a time.
        epsilon: Machine epsilon of its dtype.

    Raises:
        ValueError: If it differs from its transpose by more than rounding.
    """
    n, asymmetry, largest = K.shape[0], 0.0, 0.0
    for at in blocks(n, max(1, _STRIP // n)):
        rows = np.asarray(K[at, at.start :], np.float64)
        columns = np.asarray(K[at.start :, at], np.float64)
        asymmetry = max(asymmetry, float(np.abs(rows - columns.T).max()))
        largest = max(largest, float(np.abs(rows).max()), float(np.abs(columns).max()))
    check_symmetric(asymmetry, largest, epsilon)


def check_finite(K: Float[np.ndarray, "n m"]) -> None:
    """Raise where a matrix is not finite.

    Args:
        K: The matrix.

    Raises:
        ValueError: If an entry is NaN or infinite; says in which row.
    """
    for rows in blocks(len(K), max(1, _STRIP // max(1, K.shape[1]))):
        finite = np.isfinite(K[rows]).all(axis=1)
        if not finite.all():
            raise ValueError(finite_message(rows.start + int(finite.argmin())))


def finite_message(row: int) -> str:
    """What to say of a matrix that is not finite.

    Args:
        row: Its first row that is not.

    Returns:
        The message.
    """
    return (
        f"`K` holds NaN or infinite entries, the first in row {row}: look at the "
        "network's outputs and gradients there."
    )


def check_product(V: Any, made: Any) -> None:
    """Raise unless a product is one of a finite square matrix.

    Args:
        V: Vectors, as columns.
        made: The product with them.

    Raises:
        ValueError: If it is of another shape, or not finite.
    """
    if made.shape != V.shape:
        raise ValueError(
            f"The product with vectors of shape {V.shape} has shape {made.shape}: it "
            "must be that of a square matrix with columns."
        )
    if not np.isfinite(np.asarray(made.sum())):
        raise ValueError(
            "A product with `K` holds NaN or infinite entries: look at the network's "
            "outputs and gradients."
        )


def check_random_product(V: Any, made: Any, epsilon: float) -> None:
    """Raise unless a product with random vectors is one of a symmetric matrix.

    Args:
        V: Random orthonormal vectors, as columns.
        made: The product with them.
        epsilon: Its relative rounding error.

    Raises:
        ValueError: If it differs from that of the transpose by more than rounding.
    """
    within = np.asarray(V.T @ made)
    asymmetry = np.abs(within - within.T).max()
    size = float(np.sqrt(np.asarray((made * made).sum(axis=0)).max()))
    if asymmetry > _tolerated(epsilon) * size:
        raise ValueError(
            f"`K` must be symmetric, but u K v and v K u differ by {asymmetry:.3g} for "
            f"unit vectors whose products have norm {size:.3g}. Compute it on one set "
            "of samples."
        )


def _tolerated(epsilon: float) -> float:
    """Asymmetry that may be rounding; half precision must not excuse everything."""
    return min(_ROUNDING * epsilon, _MOST)
