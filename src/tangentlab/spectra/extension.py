"""Eigenfunctions beyond the sample.

>>> import numpy as np
>>> from tangentlab.spectra import spectrum
>>> K = np.diag([2.0, 1.0])
>>> extend(spectrum(K), K).round(3).tolist()
[[1.414, 0.0], [0.0, 1.414]]
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from .multiplying import multiply
from .record import Spectrum


def extend(
    spectrum: Spectrum,
    K_new: Float[Any, "m n"],
    indices: Sequence[int] | None = None,
) -> Float[np.ndarray, "m k"]:
    r"""Eigenfunctions at other points, from the kernel between them and the sample.

    $$\phi_j(x) = \frac{\sqrt n}{\mu_j} \sum_i \Theta(x, x_i)\, v_{ij}$$

    On the sample itself this is $\sqrt n\,v_j$. An error of the kernel is divided by
    $\mu_j$, so that nothing below the resolution can be extended. Cost `O(m n k)`.

    Args:
        spectrum: Of the kernel on the n samples.
        K_new: Kernel between m points and the samples, such as
            `tl.gram(apply, params, x_new, x)`, in memory or on disk.
        indices: Which eigenfunctions, from 0; None for all of the spectrum.

    Returns:
        Values of the eigenfunctions as columns, in float64.

    Raises:
        ValueError: If `K_new` is of other samples or not finite, or an eigenfunction
            is not there or below the resolution.
    """
    n, num = spectrum.eigenvectors.shape
    if len(K_new.shape) != 2 or K_new.shape[1] != n:
        raise ValueError(
            f"`K_new` must hold the kernel between new points and the {n} samples of "
            f"the spectrum, (m, {n}), got shape {K_new.shape}."
        )
    which = np.arange(num) if indices is None else np.asarray(indices, np.intp)
    if which.ndim != 1 or not ((which >= 0) & (which < num)).all():
        raise ValueError(
            f"`indices` must be numbers in 0..{num - 1} (the spectrum has {num} "
            f"pairs), got {indices}."
        )
    lam = np.asarray(spectrum.eigenvalues, np.float64)
    lost = which[(lam[which] < spectrum.resolution) | (lam[which] <= 0)]
    if len(lost):
        resolved = int((lam >= spectrum.resolution).sum())
        raise ValueError(
            f"Eigenfunction {lost[0]} has the eigenvalue {lam[lost[0]]:.3g}, which is "
            f"below the resolution {spectrum.resolution:.3g} of its matrix: beyond the "
            f"sample it would be rounding. Pass `indices` below {resolved}, or compute "
            "the matrix in float64."
        )
    V = np.asarray(spectrum.eigenvectors[:, which], np.float64)
    with np.errstate(invalid="ignore"):  # refused below
        phi = multiply(K_new, V) * (np.sqrt(n) / lam[which])
    finite = np.isfinite(phi).all(axis=1)
    if not finite.all():
        raise ValueError(
            "The kernel between new points and samples holds NaN or infinite entries, "
            f"the first in row {int(finite.argmin())}: look at the network's outputs "
            "and gradients there."
        )
    return phi
