r"""How complex labels are in the space of a kernel, by the modes that were computed.

The smoothest function with values $y$ at the samples has the squared norm
$y^\top K^{-1} y = \sum_j (v_j^\top y)^2 / \mu_j$. For a real-valued eigenfunction
$\sqrt n\,v_j$ that is $n / \mu_j = 1 / \lambda_j$; for its signs it is not, since part
of their energy lies in other modes.

>>> import numpy as np
>>> from tangentlab.spectra import spectrum
>>> found = spectrum(np.diag([2.0, 1.0]))
>>> float(complexity(found, np.array([1.0, 1.0])).squared)
1.5
"""

import equinox as eqx
import numpy as np
from jaxtyping import Bool, Float

from .._types import AnyArray
from ..spectra import Spectrum, energy
from .norms import ROUNDING


class Complexity(eqx.Module):
    r"""Targets along the modes of a kernel.

    Attributes:
        energy: Share of each target's squared norm in each mode.
        squared: $\sum_j (v_j^\top y)^2 / \mu_j$ over the resolved modes. What lies in
            others would only add to it.
        held: Share of the squared norm in the resolved modes.
        least: A lower bound of the whole sum: what is not held lies where eigenvalues
            are at most the last of these modes.
    """

    energy: Float[np.ndarray, "k ..."]
    squared: Float[np.ndarray, "..."]
    held: Float[np.ndarray, "..."]
    least: Float[np.ndarray, "..."]


def complexity(found: Spectrum, y: Float[AnyArray, "n ..."]) -> Complexity:
    """Measure targets along the modes of a spectrum, whole or not.

    Where there is a whole Gram matrix, `kernel_norm` does it from that.

    Args:
        found: The spectrum of the kernel at the samples.
        y: A target at the samples, or several as columns; labels as -1 and +1.

    Returns:
        Energy in each mode, and complexity over those that are resolved; where none
        is, `least` is infinite.
    """
    shares = energy(found, y).per_mode
    lam = np.asarray(found.eigenvalues, np.float64)
    use = resolved_modes(lam, found.resolution)
    length = (np.asarray(y, np.float64) ** 2).sum(axis=0)
    squared = length * np.tensordot(1 / lam[use], shares[use], axes=1)
    held = shares[use].sum(axis=0)
    last = lam[use].min() if use.any() else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        rest = np.where(held < 1, length * (1 - held) / last, 0.0)
    numbers = (squared, held, squared + rest)
    return Complexity(shares, *map(np.asarray, numbers))


def resolved_modes(
    eigenvalues: Float[AnyArray, " k"], resolution: float
) -> Bool[np.ndarray, " k"]:
    """Modes whose eigenvalue may be divided by.

    Args:
        eigenvalues: Of a Gram matrix.
        resolution: What rounding leaves of them, `spectrum.resolution`.

    Returns:
        True above four resolutions, as for `kernel_norm`.
    """
    return np.asarray(eigenvalues, np.float64) > ROUNDING * resolution
