r"""Kernel regression by products alone, for many samples.

>>> import numpy as np
>>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
>>> conjugate_gradients(K, np.array([3.0, 3.0])).coefficients.round(6).tolist()
[1.0, 1.0]
"""

import dataclasses
import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .._checks import is_whole
from .._progress import Advance, progress_bar
from ..kernels.planning import free_memory
from ..spectra import AccuracyWarning, Spectrum
from ..spectra.checking import as_array, check_product, check_real
from ..spectra.multiplying import is_on_accelerator, multiply
from .checking import check_amount, check_start, check_targets, check_tolerance
from .preconditioning import Preconditioner, nystrom_preconditioner
from .problem import Outputs, flat
from .record import Solution, assemble

Products = Float[Any, "n n"] | Float[Any, "n c n c"] | Callable[[np.ndarray], Any]
"""A kernel, or the function that multiplies with it."""

_RANK = 1000  # random vectors of the preconditioner, for n of ten times as many
_RESTARTS = 5  # from the true residual, where that of the recurrence has drifted


def conjugate_gradients(
    K: Products,
    y: Outputs,
    *,
    ridge: float = 0.0,
    f_0: Outputs | None = None,
    between_outputs: bool = False,
    rank: int | None = None,
    tolerance: float = 1e-6,
    max_iterations: int = 1000,
    progress: bool = False,
) -> Solution:
    r"""Kernel regression, ridge or ridgeless, without a decomposition.

    Solves $(K + \rho I) \beta = y - f_0(X)$ by preconditioned conjugate gradients, all
    columns at once, in float64 whatever the dtype of `K`. The preconditioner inverts
    the leading modes, found by one product with `rank` random vectors. An iteration is
    one product, `O(n^2 c)`. An array is widened to float64 if half of the free memory
    holds it; else nothing of size `n^2` is made: a kernel on disk is streamed, and one
    that is never formed needs no memory at all. The number of iterations grows as the
    root of $(\lambda_r + \rho) / (\mu_{\min} + \rho)$, with $\lambda_r$ the eigenvalue
    at `rank`: a ridge helps.

    Args:
        K: Kernel of the training samples, (n, n) or (n, c, n, c): an array, a
            `TiledGram`, or a function that multiplies a numpy array (n, k) by a kernel
            (n, n), such as `lambda V: tl.kernel_product(apply, params, x, None, V)`,
            or (n, c, k) by one between outputs, with `outputs="full"` there.
        y: Targets, (n,) or (n, c).
        ridge: $\rho$, added to the diagonal of `K`, as in `tl.predict.ridge`.
        f_0: Outputs before training; 0 by default.
        between_outputs: Whether a function `K` multiplies with a kernel between
            outputs; an array tells by its shape.
        rank: Random vectors of the preconditioner; by default n / 10, at most 1000. 0
            for none.
        tolerance: Of `residuals`, below which each column is solved.
        max_iterations: At most so many products.
        progress: Show a progress bar.

    Returns:
        The solution, with `residuals` evaluated afresh, not carried along, and
        `num_iterations`. Warns (`AccuracyWarning`) if the tolerance was not reached.

    Raises:
        ValueError: If something does not fit or is not finite, or `K` has a direction
            without positive curvature.

    Reference:
        Frangella, Tropp and Udell, "Randomized Nystrom preconditioning", 2021
        (arXiv:2110.02820).
    """
    y = check_targets(y)
    start = check_start(f_0, y.shape)
    check_tolerance(tolerance)
    ridge = check_amount("ridge", ridge)
    product, size, epsilon = _product(K, y, between_outputs)
    B = (y if start is None else y - start).reshape(size, -1)
    rank = min(_RANK, size // 10) if rank is None else rank
    if not (is_whole(rank) and 0 <= rank <= size):
        raise ValueError(f"`rank` must be a whole number in 0..{size}, got {rank}.")
    system = _System(product, ridge, B, tolerance, max_iterations)
    with progress_bar("Regression", max_iterations, show=progress) as advance:
        ready = nystrom_preconditioner(
            product, size, rank, ridge=ridge, epsilon=epsilon
        )
        X, R, used = _solve(system, ready, advance)
    residuals = _relative(R, B)
    if (residuals > tolerance).any():
        warnings.warn(
            f"Conjugate gradients stopped after {used} iterations with relative "
            f"residuals up to {residuals.max():.2g}, above the tolerance {tolerance:g}."
            f" Raise `ridge`, `rank` (now {rank}), `max_iterations` or `tolerance`; "
            "products in float32 may allow no less.",
            AccuracyWarning,
            stacklevel=2,
        )
    change = B - R - ridge * X  # K X, without another product
    made = assemble(X[None], change[None], times=(), shape=y.shape, f_0=start)
    ends = residuals.reshape(made.squared_norm.shape)
    return dataclasses.replace(made, residuals=ends, num_iterations=used)


class _System(NamedTuple):
    """Linear equations, and how well to solve them."""

    product: Callable[[np.ndarray], np.ndarray]
    ridge: float
    B: np.ndarray
    tolerance: float
    max_iterations: int

    def image(self, X: np.ndarray) -> np.ndarray:
        """The left-hand side."""
        return self.product(X) + self.ridge * X


def _product(
    K: Any, y: np.ndarray, between_outputs: bool
) -> tuple[Callable[[np.ndarray], np.ndarray], int, float]:
    """The product, the side of the kernel, and the rounding error of its entries."""
    if callable(K) and between_outputs:
        times, size, dtype = _flattened(K, y.shape), y.size, jnp.zeros(0).dtype
    elif callable(K):
        times, size, dtype = K, len(y), jnp.zeros(0).dtype
    else:
        if isinstance(K, Spectrum):
            raise ValueError(
                "Conjugate gradients multiply with the kernel itself, got its spectrum:"
                " pass `K`, or the spectrum to `tl.predict.ridge`."
            )
        given = as_array(K)
        check_real(given)
        matrix, dtype = _widened(flat(given)), given.dtype
        times, size = (lambda V: multiply(matrix, V)), matrix.shape[0]
        if tuple(matrix.shape) != (size, size) or size not in (len(y), y.size):
            raise ValueError(
                f"`K` of shape {tuple(given.shape)} is no kernel of the {len(y)} "
                f"samples that targets `y` of shape {y.shape} have: it must be (n, n), "
                "or (n, c, n, c) between outputs."
            )

    def product(V: np.ndarray) -> np.ndarray:
        made = np.asarray(times(V), np.float64)
        check_product(V, made)
        return made

    return product, size, float(jnp.finfo(dtype).eps)


def _flattened(
    K: Callable[[np.ndarray], Any], shape: tuple[int, ...]
) -> Callable[[np.ndarray], np.ndarray]:
    """The product with a kernel between outputs, as one with a matrix."""

    def times(V: np.ndarray) -> np.ndarray:
        made = np.asarray(K(V.reshape(*shape, -1)))
        if made.shape != (*shape, V.shape[1]):
            raise ValueError(
                f"`K` must return (n, c, k) = {(*shape, V.shape[1])} between outputs, "
                f'got shape {made.shape}: pass `outputs="full"` to '
                "`tl.kernel_product`, or leave out `between_outputs`."
            )
        return made.reshape(V.shape)

    return times


def _widened(K: Any) -> Any:
    """An array of the host in float64, where memory allows: products are faster."""
    on_host = isinstance(K, np.ndarray | jax.Array) and not is_on_accelerator(K)
    wanted = 8 * math.prod(K.shape)
    if on_host and wanted < free_memory() // 2:
        return np.asarray(K, np.float64)
    return K


def _solve(
    system: _System, ready: Preconditioner, advance: Advance
) -> tuple[np.ndarray, np.ndarray, int]:
    """Solution, true residual and number of iterations."""
    X, R, used = np.zeros_like(system.B), system.B.copy(), 0
    for _ in range(1 + _RESTARTS):
        if used >= system.max_iterations or _is_solved(R, system):
            break
        change, count = _iterate(
            system, R, ready, system.max_iterations - used, advance
        )
        X, used = X + change, used + count
        R = system.B - system.image(X)
    return X, R, used


def _iterate(
    system: _System, R: np.ndarray, ready: Preconditioner, most: int, advance: Advance
) -> tuple[np.ndarray, int]:
    """What conjugate gradients add to the solution, and after how many products."""
    X, R = np.zeros_like(R), R.copy()
    Z = ready(R)
    D, size = Z, (R * Z).sum(axis=0)
    count = 0
    while count < most:
        image = system.image(D)
        curvature = (D * image).sum(axis=0)
        moving = size > 0  # a column that is solved exactly stays
        if (curvature[moving] <= 0).any():
            raise ValueError(
                "`K` with its ridge is not positive definite: a direction has the "
                f"curvature {curvature[moving].min():.3g}. Compute it in a higher "
                f"precision, or raise `ridge` (now {system.ridge:g})."
            )
        step = np.where(moving, size / np.where(moving, curvature, 1.0), 0.0)
        X, R = X + step * D, R - step * image
        count += 1
        advance(1)
        if _is_solved(R, system):
            break
        Z = ready(R)
        before, size = size, (R * Z).sum(axis=0)
        D = Z + np.where(moving, size / np.where(moving, before, 1.0), 0.0) * D
    return X, count


def _relative(R: np.ndarray, B: np.ndarray) -> np.ndarray:
    whole = np.linalg.norm(B, axis=0)
    return np.linalg.norm(R, axis=0) / np.where(whole > 0, whole, 1.0)


def _is_solved(R: np.ndarray, system: _System) -> bool:
    return bool((_relative(R, system.B) <= system.tolerance).all())
