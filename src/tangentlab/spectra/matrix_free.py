"""Leading pairs of a kernel that is never formed: products are enough.

>>> import numpy as np
>>> K = np.diag([1.0, 3.0, 2.0])
>>> leading_pairs(lambda V: K @ V, 3, 2).eigenvalues.round(9).tolist()
[3.0, 2.0]
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, Literal

import jax
import numpy as np
from jaxtyping import PyTree

from .._checks import batch_size, is_whole
from .._types import Apply, Inputs, Params
from ..kernels import gram_diagonal, kernel_product
from ..kernels.request import Outputs
from .checking import (
    check_epsilon,
    check_num,
    check_product,
    check_random_product,
    check_tolerance,
)
from .describing import Solution, describe, with_fixed_signs
from .krylov import Effort, Ritz, bound, leading, usual_effort
from .record import Spectrum

TOLERANCE = 1e-8
"""Of products in float64."""
_ROUGH_TOLERANCE = 1e-4  # of products in float32


def leading_pairs(
    product: Callable[[Any], Any],
    n: int,
    num: int,
    *,
    tolerance: float = TOLERANCE,
    epsilon: float = float(np.finfo(np.float64).eps),
    trace: float | None = None,
) -> Spectrum:
    r"""Leading pairs of a symmetric matrix that is known by its products.

    A block Krylov method with full reorthogonalization, `krylov.py`; about `5 num`
    columns are multiplied and `12 n num` numbers kept. Residuals are evaluated.

    Args:
        product: Multiplies the matrix with a numpy array (n, k), for any k.
        n: Side of the matrix.
        num: How many pairs, the largest first.
        tolerance: Iterate until each residual is below this share of its eigenvalue,
            or a thousandth of this share of the largest, whichever is greater.
        epsilon: Relative rounding error of the products.
        trace: Of the matrix, for the record.

    Returns:
        The spectrum, as numpy arrays. Warns of pairs that did not converge.

    Raises:
        TypeError: If `product` is no function.
        ValueError: If `n` is no whole number from 1 on, `num` is none in 1..n,
            `epsilon` is negative, or the products are not those of a finite symmetric
            matrix.
    """
    if not callable(product):
        raise TypeError(
            "`product` must be a function that multiplies the matrix, got "
            f"{type(product).__name__}: pass `lambda V: K @ V`, or take "
            "`tl.spectrum(K, num)`."
        )
    if not is_whole(n) or n < 1:
        raise ValueError(f"`n` must be the side of the matrix, 1 or more, got {n!r}.")
    check_num(num, n)
    check_tolerance(tolerance)
    check_epsilon(epsilon)
    found = search(product, n, num, tolerance=tolerance, epsilon=epsilon)
    return describe(found, epsilon=epsilon, trace=trace)


def spectrum_of(
    apply: Apply,
    params: Params,
    x: Inputs,
    num: int,
    *,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Literal["float32", "float64"] = "float32",
    memory: int | None = None,
    tolerance: float | None = None,
) -> Spectrum:
    r"""Leading pairs of a network's tangent kernel, without its Gram matrix.

    Each product is a backward and a forward pass over all samples, `tl.kernel_product`:
    for n so large that the Gram matrix is the problem. Where it fits, it is faster to
    compute it once.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        num: How many pairs, the largest first.
        outputs: With several logits, which kernel; see `tl.gram`.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers.
        precision: As in `tl.kernel_product`; "float32" keeps the network's dtype.
        memory: Bytes that a product may use.
        tolerance: As in `leading_pairs`; 1e-8 by default, 1e-4 if the products are
            float32.

    Returns:
        The spectrum, as numpy arrays. Warns of pairs that did not converge.
    """
    n = batch_size("x", x)
    check_num(num, n)
    usual_effort(n, num)  # refuses before the long work
    options: Any = {
        "outputs": outputs,
        "trainable": trainable,
        "scale": scale,
        "precision": precision,
    }
    diagonal = np.asarray(gram_diagonal(apply, params, x, **options))
    epsilon = float(np.finfo(diagonal.dtype).eps)
    if tolerance is None:
        rough = epsilon > np.finfo(np.float64).eps
        tolerance = _ROUGH_TOLERANCE if rough else TOLERANCE
    check_tolerance(tolerance)

    def product(V: np.ndarray) -> jax.Array:
        v = V.astype(diagonal.dtype)
        return kernel_product(apply, params, x, None, v, memory=memory, **options)

    found = search(product, n, num, tolerance=tolerance, epsilon=epsilon)
    trace = float(diagonal.sum(dtype=np.float64))
    return describe(found, epsilon=epsilon, trace=trace)


def search(
    product: Callable[[Any], Any],
    n: int,
    num: int,
    *,
    tolerance: float,
    epsilon: float,
    xp: ModuleType = np,
    effort: Effort | None = None,
) -> Solution:
    """Leading pairs by products that are looked at: finite, symmetric, float64.

    Args:
        product: Multiplies the matrix with (n, k).
        n: Its side.
        num: How many pairs.
        tolerance: As in `leading_pairs`.
        epsilon: Relative rounding error of the products.
        xp: numpy, or jax.numpy where vectors are on a device.
        effort: How the space grows; None for the usual.

    Returns:
        The pairs, converged or not.
    """
    looked = False

    def checked(V: Any) -> Any:
        nonlocal looked
        made = xp.asarray(product(V), dtype=xp.float64)
        check_product(V, made)
        if not looked:  # the first vectors are random, later ones are near the kernel's
            check_random_product(V, made, epsilon)
            looked = True
        return made

    effort = effort or usual_effort(n, num)
    found = leading(checked, n, num, tolerance=tolerance, effort=effort, xp=xp)
    V = with_fixed_signs(np.asarray(found.vectors))
    unconverged = int((~found.converged).sum())
    complaint = _complaint(found, tolerance) if unconverged else ""
    counts = unconverged, complaint, found.following
    return Solution(found.values, V, found.residuals, "krylov", *counts)


def _complaint(found: Ritz, tolerance: float) -> str:
    bad = ~found.converged
    worst = (found.residuals / bound(found.values, tolerance)).argmax()
    return (
        f"{bad.sum()} of {len(bad)} pairs did not converge to tolerance {tolerance:g} "
        f"with {found.num_columns} columns multiplied: the residual of pair {worst} is "
        f"{found.residuals[worst]:.3g}, its eigenvalue {found.values[worst]:.3g}. "
        'Raise `tolerance`, ask for fewer pairs, or use `method="dense"`.'
    )
