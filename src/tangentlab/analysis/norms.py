r"""The norm of a target in the space of a kernel, and the bound that alignment gives.

$$\|f\|_\Theta^2 = y^\top K^{-1} y \;\ge\; \|f\|_2^4 / \alpha(f)
  = (y^\top y)^2 / y^\top K y$$

for $f$ with values $y$ at the samples and all averages over these: Lemma 1 of the
paper. Equal exactly for a target that lies in a single eigenspace.

>>> import numpy as np
>>> norm = kernel_norm(np.diag([2.0, 1.0]), np.array([1.0, 1.0]))
>>> float(norm.squared), round(float(norm.bound), 6)
(1.5, 1.333333)
"""

import warnings

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PyTree

from .._checks import batch_size, check_same_rows, check_square
from .._types import AnyArray, Apply, Inputs, Params
from ..kernels import TiledGram
from ..kernels.request import Outputs, Precision
from ..spectra import AccuracyWarning, spectrum
from .aligning import alignment
from .targets import check_targets

ROUNDING = 4
"""Resolutions: what a decomposition makes of a zero eigenvalue, at most."""


class KernelNorm(eqx.Module):
    r"""The squared norm of targets in the space of a kernel, and how far to trust it.

    Attributes:
        squared: $y^\top (K + r I)^{-1} y$ over the modes that are resolved. What a
            target has in others would only add to it.
        bound: $(y^\top y)^2 / y^\top (K + r I) y$, never above the whole norm.
        outside: Share of the target's energy in modes that are not resolved. Where it
            is not negligible, the norm is beyond what the matrix tells; it is infinite
            if these modes are zero.
        condition: Largest over smallest eigenvalue of the resolved modes, ridge
            included; rounding errors of the matrix grow by this factor.
        num_modes: How many modes are resolved: above four times machine epsilon of
            the matrix's dtype times its largest eigenvalue.
    """

    squared: Float[np.ndarray, "..."]
    bound: Float[np.ndarray, "..."]
    outside: Float[np.ndarray, "..."]
    condition: float
    num_modes: int


def kernel_norm(
    K: Float[AnyArray | TiledGram, "n n"],
    y: Float[AnyArray, "n ..."],
    *,
    ridge: float = 0.0,
) -> KernelNorm:
    r"""Squared norm of targets in the space of a kernel, by its whole spectrum.

    $$\|f\|_\Theta^2 = y^\top (K + r I)^{-1} y \ge (y^\top y)^2 / y^\top (K + r I) y$$

    It does not depend on how many eigenvectors of rounding a singular matrix has: modes
    below the resolution are left out, and what was left out is told.

    Args:
        K: Symmetric positive semi-definite Gram matrix.
        y: A target at the samples, `(n,)`, or several as columns.
        ridge: Added to each eigenvalue; with ten times a small ridge a norm that means
            something hardly moves.

    Returns:
        Norm, bound and conditioning.

    Raises:
        ValueError: If the ridge is negative.

    Reference:
        The paper, Lemma 1.
    """
    check_square("K", K)
    check_same_rows("K", K, "y", y)
    if not 0 <= ridge < np.inf:
        raise ValueError(f"`ridge` must be finite and at least 0, got {ridge}.")
    columns = np.asarray(check_targets("y", y, K.shape[0]), np.float64)
    with warnings.catch_warnings():  # what lies below the resolution is left out
        warnings.simplefilter("ignore", AccuracyWarning)
        found = spectrum(K)
    lam = np.asarray(found.eigenvalues, np.float64) + ridge
    energies = (np.asarray(found.eigenvectors, np.float64).T @ columns) ** 2
    kept = lam > ROUNDING * found.resolution
    length = (columns**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        numbers = (
            (energies[kept] / lam[kept, None]).sum(axis=0),
            length**2 / (energies * lam[:, None]).sum(axis=0),
            energies[~kept].sum(axis=0) / length,
        )
    squared, bound, outside = (_shaped(a, y) for a in numbers)
    span = lam[kept]
    condition = float(span.max() / span.min()) if kept.any() else float("nan")
    return KernelNorm(squared, bound, outside, condition, int(kept.sum()))


def kernel_norm_bound(
    apply: Apply,
    params: Params,
    x: Inputs,
    targets: Float[AnyArray, "n ..."],
    *,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
) -> Float[np.ndarray, "..."]:
    r"""The bound of Lemma 1, without a Gram matrix.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        targets: Values of a target at the samples, or of several as columns.
        outputs: With several logits, which kernel; see `tl.gram`.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers.
        precision: See `tl.kernel_product`.
        memory: Bytes that may be used.

    Returns:
        $\|f\|_2^4 / \alpha(f)$ for each target; infinite where the alignment is zero.

    Reference:
        The paper, Lemma 1.
    """
    alpha = alignment(
        apply,
        params,
        x,
        targets,
        outputs=outputs,
        trainable=trainable,
        scale=scale,
        precision=precision,
        memory=memory,
    )
    columns = np.asarray(targets, np.float64)
    mean_square = (columns**2).sum(axis=0) / batch_size("x", x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(mean_square**2 / np.asarray(alpha, np.float64))


def _shaped(found: np.ndarray, y: AnyArray) -> np.ndarray:
    return found[..., 0] if jnp.ndim(y) == 1 else found
