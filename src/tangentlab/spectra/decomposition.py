"""The spectrum of a Gram matrix, by whichever way is cheaper.

>>> import numpy as np
>>> spectrum(np.diag([1.0, 3.0])).eigenvalues.tolist()
[3.0, 1.0]
"""

from collections.abc import Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .._checks import check_known
from .checking import (
    as_matrix,
    check_epsilon,
    check_finite,
    check_num,
    check_real,
    check_symmetric_in_strips,
    check_tolerance,
)
from .dense import LARGEST, dense_fits, dense_pairs
from .describing import Solution, describe
from .device import check_on_device, device_pairs
from .krylov import usual_effort
from .matrix_free import TOLERANCE, search
from .multiplying import diagonal, is_on_accelerator, multiply, multiply_on_device
from .record import Spectrum

Method = Literal["auto", "dense", "krylov"]

_SMALL = 1000  # matrices that are decomposed whole in less time than it takes to blink
_FEW = 16  # a Krylov method is cheaper for less than this part of the pairs


def spectrum(
    K: Float[Any, "n n"] | Sequence[Sequence[float]],
    num: int | None = None,
    *,
    method: Method = "auto",
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
) -> Spectrum:
    r"""Eigenpairs of a symmetric matrix, the largest first.

    *Dense* is LAPACK in float64 for a matrix of the host or on disk, `O(n^3)` time and
    `n (2 n + num)` numbers beside the matrix; on a GPU, float32 with vectors that stay
    there, refined in float64.
    *Krylov* needs products alone, `O(n^2 num)` time and `12 n num` numbers, always in
    float64: a matrix on disk is streamed, one on a GPU is multiplied there. `auto` is
    Krylov from n = 1000 on for up to n / 16 pairs, and for up to 16,383 of them
    where LAPACK's limit of n = 32,766 is passed; if it does not converge, dense where
    that is possible.

    Args:
        K: Symmetric matrix: an array, nested lists, or whatever has shape, dtype,
            slices and `@`, such as a `TiledGram`.
        num: How many leading pairs; None for all.
        method: `auto`, `dense` or `krylov`.
        tolerance: Of Krylov: each residual is below this share of its eigenvalue, or a
            thousandth of this share of the largest, whichever is greater.
        epsilon: Relative error of the matrix, which decides what is resolved: about
            1e-4 for `tl.gram(..., precision="fast")` on a GPU, and 3e-5 for "high". By
            default, and at least, that of its dtype.

    Returns:
        The spectrum, as numpy arrays; all vectors of a GPU's matrix stay there. Warns
        of eigenvalues below the resolution and of pairs that did not converge.

    Raises:
        TypeError: If `K` is traced, as under `jax.jit`.
        ValueError: If `K` is not a finite symmetric matrix, or empty; if `num` is no
            whole number, outside 1..n, or beyond what LAPACK can take; if `epsilon`
            is not in [0, 1). `LinAlgError`, one of them, if the solver fails.
        MemoryError: If a dense decomposition does not fit memory.
    """
    A: Any = as_matrix(K)
    n = A.shape[0]
    k = n if num is None else num
    check_num(k, n)
    check_known("method", method, ("auto", "dense", "krylov"))
    check_tolerance(tolerance)
    check_real(A)
    rounding, on_device = float(jnp.finfo(A.dtype).eps), is_on_accelerator(A)
    if epsilon is not None:
        check_epsilon(epsilon)
    found = None
    if _is_krylov(method, n, k, on_device):
        found = _krylov(A, k, tolerance, rounding, on_device)
        possible = on_device or (n <= LARGEST and dense_fits(n, k))
        if found.num_unconverged and method == "auto" and possible:
            found = None
        elif found.num_unconverged:  # perhaps because there is nothing to converge to
            look = check_on_device if on_device else check_symmetric_in_strips
            look(A, rounding)
    if found is None:
        decompose = device_pairs if on_device else dense_pairs
        found = decompose(A, k, rounding)
    error = max(rounding, epsilon or 0.0)
    return describe(found, epsilon=error, trace=float(diagonal(A).sum()))


def _is_krylov(method: Method, n: int, num: int, on_device: bool) -> bool:
    if method != "auto":
        return method == "krylov"
    if n > LARGEST and not on_device:
        return num < n
    return n >= _SMALL and num * _FEW <= n


def _krylov(
    K: Any, num: int, tolerance: float, epsilon: float, on_device: bool
) -> Solution:
    n = K.shape[0]
    usual_effort(n, num)  # refuses before the long work
    if on_device:
        with jax.enable_x64(True), jax.default_device(next(iter(K.devices()))):
            return search(
                lambda V: multiply_on_device(K, V),
                n,
                num,
                tolerance=tolerance,
                epsilon=epsilon,
                xp=jnp,
            )
    A = np.asarray(K) if isinstance(K, jax.Array) else K
    if isinstance(A, np.ndarray):
        check_finite(A)
    return search(
        lambda V: multiply(A, V), n, num, tolerance=tolerance, epsilon=epsilon
    )
