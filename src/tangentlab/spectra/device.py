r"""Dense eigendecomposition on an accelerator, in the kernel's own precision.

A float32 decomposition is exact for a matrix $10^{-7} \mu_0$ away, more than many an
eigenvalue. So the leading pairs $X, \Lambda$ are found first, by products in float64,
and what is decomposed is $K - X (\Lambda - s) X^\top$, with $s$ just above the
rest: its largest eigenvalue is a hundredth or thousandth of the kernel's, and so are
the errors. Eigenvalues are Rayleigh quotients; they and residuals are those of the
vectors that are returned, evaluated in float64.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from .._checks import is_out_of_memory
from .._compiling import compiled
from .._linalg import blocks
from .checking import check_symmetric, finite_message
from .describing import Solution
from .matrix_free import search
from .multiplying import multiply_on_device

_LEADING = 256  # pairs found first, of at least 16 times as many
_TOLERANCE = 1e-9  # of their residuals
_PANEL = 2048  # vectors in float64 at once
_STRIP = 2**27  # entries of a kernel that are looked at at once


def device_pairs(K: Float[Array, "n n"], num: int, epsilon: float) -> Solution:
    """Decompose a matrix where it is.

    Cost `O(n^3)` time; `n^2` numbers for the vectors, which take the place of a copy of
    the matrix, and about four times as much while it is decomposed.

    Args:
        K: Symmetric matrix on a device.
        num: How many leading pairs.
        epsilon: Machine epsilon of its dtype.

    Returns:
        The pairs, with vectors on the device in the matrix's dtype, at least float32.

    Raises:
        LinAlgError: If the device's solver fails.
        MemoryError: If the device has no piece of memory that is large enough.
    """
    with jax.enable_x64(True), jax.default_device(next(iter(K.devices()))):
        check_on_device(K, epsilon)
        X, lam = _leading(K, epsilon)
        V = _decomposed(_flattened(K, X, lam))
        lam, residuals = np.empty(len(V)), np.empty(len(V))
        first = len(V) - X.shape[1]  # eigenvalues ascend: the leading ones come last
        for at in blocks(len(V), _PANEL):
            panel = _panel(V, X, at.start, at.stop - at.start, first)
            lam[at], residuals[at] = _evaluated(K, panel)
            V = _replaced(V, panel, at.start)
        order = np.argsort(-lam, stable=True)
        following = float(lam[order[num]]) if num < len(V) else None
        order = order[:num]
        V = jnp.take(V, order, axis=1)
    return Solution(lam[order], V, residuals[order], "dense", following=following)


def check_on_device(K: Float[Array, "n n"], epsilon: float) -> None:
    """Raise unless a matrix is finite and symmetric, without moving it.

    Args:
        K: The matrix.
        epsilon: Machine epsilon of its dtype.

    Raises:
        ValueError: If it is not.
    """
    asymmetry = largest = 0.0
    for rows in blocks(len(K), max(1, _STRIP // len(K))):
        found = _look(K, rows.start, rows.stop - rows.start)
        difference, size, row = (part.item() for part in found)
        if not np.isfinite(size):
            raise ValueError(finite_message(rows.start + int(row)))
        asymmetry, largest = max(asymmetry, difference), max(largest, size)
    check_symmetric(asymmetry, largest, epsilon)


@partial(jax.jit, static_argnums=2)
def _look(K: Array, start: ArrayLike, size: int) -> tuple[Array, Array, Array]:
    """Asymmetry and size of a strip of rows, and its first row that is not finite."""
    strip = jax.lax.dynamic_slice_in_dim(K, start, size)
    other = jax.lax.dynamic_slice_in_dim(K, start, size, axis=1)
    finite = jnp.isfinite(strip).all(axis=1)
    largest = jnp.where(finite.all(), jnp.abs(strip).max(), jnp.inf)
    return jnp.abs(strip - other.T).max(), largest, jnp.argmin(finite)


def _leading(K: Array, epsilon: float) -> tuple[Array, np.ndarray]:
    """Some leading pairs in float64, ascending; none where they are no help."""
    n, none = len(K), (jnp.zeros((len(K), 0), jnp.float64), np.zeros(0))
    num = min(_LEADING, n // 16)
    if num == 0 or K.dtype == jnp.float64:
        return none
    found = search(
        lambda V: multiply_on_device(K, V),
        n,
        num,
        tolerance=_TOLERANCE,
        epsilon=epsilon,
        xp=jnp,
    )
    clear = int((found.values > 10 * epsilon * np.abs(found.values).max()).sum())
    if found.num_unconverged or clear == 0:
        return none
    X, _ = jnp.linalg.qr(jnp.asarray(found.vectors[:, :clear][:, ::-1]))
    return X, found.values[:clear][::-1]


def _flattened(K: Array, X: Array, lam: np.ndarray) -> Array:
    """A copy of the matrix, leading eigenvalues moved to twice the least of them."""
    if K.dtype == jnp.float64:
        return jnp.array(K, copy=True)
    excess = jnp.asarray(lam - 2 * lam.min(initial=np.inf) if len(lam) else lam)
    # Into one array: strips that are put together in the end would leave holes in the
    # device's memory, where the decomposition needs one large piece.
    made = jnp.zeros(K.shape, jnp.float32)
    for at in blocks(len(K), max(1, _STRIP // len(K))):
        made = _lowered(made, K, X, excess, at.start, at.stop - at.start)
    return made


@partial(compiled, static_argnums=5, donate_argnums=0)
def _lowered(
    made: Array, K: Array, X: Array, excess: Array, start: ArrayLike, size: int
) -> Array:
    strip = jax.lax.dynamic_slice_in_dim(K, start, size).astype(jnp.float64)
    part = jax.lax.dynamic_slice_in_dim(X, start, size)
    lowered = (strip - (part * excess[None]) @ X.T).astype(jnp.float32)
    return jax.lax.dynamic_update_slice_in_dim(made, lowered, start, axis=0)


def _decomposed(A: Array) -> Array:
    n, dtype, gigabytes = len(A), A.dtype, 4 * A.nbytes / 1e9
    try:
        V = jax.block_until_ready(_vectors(A))
    except jax.errors.JaxRuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise MemoryError(
            f"The device has no room to decompose a matrix of {n:,} rows: beside the "
            f"matrix it takes {gigabytes:.0f} GB in one piece. Ask for leading pairs "
            "alone (method='krylov'), free other arrays, or keep memory from being cut "
            "up with TF_GPU_ALLOCATOR=cuda_malloc_async in the environment."
        ) from error
    if not _is_finite(V):  # what JAX returns where the solver has failed
        raise np.linalg.LinAlgError(
            f"The device's solver failed on a matrix of {n:,} rows in {dtype}, it "
            "returned NaN. Ask for leading pairs alone (method='krylov'), or decompose "
            "the matrix on the CPU: pass `np.asarray(K)`."
        )
    return V


@partial(jax.jit, donate_argnums=0)
def _vectors(A: Array) -> Array:
    """Eigenvectors, eigenvalues ascending, in the place of the matrix."""
    return jnp.linalg.eigh(A, symmetrize_input=False)[1]


@jax.jit
def _is_finite(V: Array) -> Array:
    return jnp.isfinite(V).all()


@partial(compiled, static_argnums=(3, 4))
def _panel(V: Array, X: Array, start: ArrayLike, size: int, first: int) -> Array:
    """The leading vectors, and others made orthogonal to them, as they are stored."""
    panel = jax.lax.dynamic_slice_in_dim(V, start, size, axis=1).astype(jnp.float64)
    if X.shape[1]:
        index = start + jnp.arange(size)
        taken = jnp.take(X, jnp.maximum(index - first, 0), axis=1)
        others = panel - X @ (X.T @ panel)
        panel = jnp.where((index >= first)[None], taken, others)
    panel = panel / jnp.linalg.norm(panel, axis=0)[None]
    largest = jnp.take_along_axis(panel, jnp.abs(panel).argmax(axis=0)[None], axis=0)
    return (panel * jnp.where(largest < 0, -1.0, 1.0)).astype(V.dtype)


def _evaluated(K: Array, panel: Array) -> tuple[np.ndarray, np.ndarray]:
    """Rayleigh quotients and residuals of vectors as they are stored, in float64."""
    # Not in one program with their rounding, which XLA may leave out.
    V = panel.astype(jnp.float64)
    made = multiply_on_device(K, V)
    # Divided by the norm: rounded, it is 1 only to some 1e-8.
    lam = (V * made).sum(axis=0) / (V * V).sum(axis=0)
    residuals = jnp.linalg.norm(made - V * lam[None], axis=0)
    return np.asarray(lam), np.asarray(residuals)


@partial(jax.jit, donate_argnums=0)
def _replaced(V: Array, panel: Array, start: ArrayLike) -> Array:
    """All vectors, some of them new, in the place of the old ones."""
    return jax.lax.dynamic_update_slice_in_dim(V, panel, start, axis=1)
