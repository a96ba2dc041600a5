"""Eigenfunctions beyond the sample.

>>> import numpy as np
>>> from tangentlab.spectra import spectrum
>>> K = np.diag([2.0, 1.0])
>>> extend(spectrum(K), K).round(3).tolist()
[[1.414, 0.0], [0.0, 1.414]]
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from .._types import AnyArray
from .checking import as_array
from .multiplying import multiply
from .record import Spectrum


def extend(
    spectrum: Spectrum,
    K_new: Float[Any, "m n"] | Sequence[Sequence[float]],
    indices: Sequence[int] | Int[AnyArray, " k"] | None = None,
) -> Float[np.ndarray, "m k"]:
    r"""Eigenfunctions at other points, from the kernel between them and the sample.

    $$\phi_j(x) = \frac{\sqrt n}{\mu_j} \sum_i \Theta(x, x_i)\, v_{ij}$$

    On the sample itself this is $\sqrt n\,v_j$. An error of the kernel is divided by
    $\mu_j$, so that nothing below the resolution can be extended. Cost `O(m n k)`.

    Args:
        spectrum: Of the kernel on the n samples.
        K_new: Kernel between m points and the samples, such as
            `tl.gram(apply, params, x_new, x)`: an array, nested lists, or on disk.
        indices: Which eigenfunctions, from 0; None for all of the spectrum.

    Returns:
        Values of the eigenfunctions as columns, in float64.

    Raises:
        ValueError: If `K_new` is of other samples, complex or not finite, or an
            eigenfunction is not there or below the resolution.
    """
    n, K = len(spectrum.eigenvectors), as_array(K_new)
    if len(K.shape) != 2 or K.shape[1] != n:
        raise ValueError(
            f"`K_new` must hold the kernel between new points and the {n} samples of "
            f"the spectrum, (m, {n}), got shape {tuple(K.shape)}."
        )
    if jnp.issubdtype(K.dtype, jnp.complexfloating):
        raise ValueError(
            "The kernel between new points and samples must be real-valued, got dtype "
            f"{K.dtype}."
        )
    lam = np.asarray(spectrum.eigenvalues, np.float64)
    which = _chosen(indices, lam, spectrum.resolution)
    V = np.asarray(spectrum.eigenvectors[:, which], np.float64)
    with np.errstate(invalid="ignore"):  # refused below
        phi = multiply(K, V) * (np.sqrt(n) / lam[which])
    finite = np.isfinite(phi).all(axis=1)
    if not finite.all():
        raise ValueError(
            "The kernel between new points and samples holds NaN or infinite entries, "
            f"the first in row {int(finite.argmin())}: look at the network's outputs "
            "and gradients there."
        )
    return phi


def _chosen(
    indices: Any, lam: Float[np.ndarray, " k"], resolution: float
) -> Int[np.ndarray, " j"]:
    """Indices that are there and can be extended."""
    num = len(lam)
    which = np.arange(num) if indices is None else np.asarray(indices)
    whole = which.dtype.kind in "iu" or which.size == 0
    if which.ndim != 1 or not (whole and ((which >= 0) & (which < num)).all()):
        raise ValueError(
            f"`indices` must be a list of whole numbers in 0..{num - 1} (the spectrum "
            f"has {num} pairs), got {indices}."
        )
    which = which.astype(np.intp)
    clear = (lam >= resolution) & (lam > 0)
    lost = which[~clear[which]]
    if len(lost):
        advice = f" Pass `indices` below {clear.sum()}." if clear.any() else ""
        raise ValueError(
            f"Eigenfunction {lost[0]} has the eigenvalue {lam[lost[0]]:.3g}, which is "
            f"below the resolution {resolution:.3g} of its matrix, or not above zero: "
            f"it is not known beyond the sample.{advice}"
        )
    return which
