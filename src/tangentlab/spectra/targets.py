r"""How the energy of a target is spread over the modes of a kernel.

>>> import numpy as np
>>> from tangentlab.spectra import spectrum
>>> energy(spectrum(np.diag([2.0, 1.0])), np.array([3.0, 4.0])).per_mode.tolist()
[0.36, 0.64]
"""

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .._types import AnyArray
from .checking import as_array
from .record import Spectrum


class Energy(eqx.Module):
    r"""Shares of a target's squared norm.

    Attributes:
        per_mode: $(v_j^\top y)^2 / \|y\|^2$, a row for each mode.
        cumulative: Their running sums; the last is 1 for a whole spectrum.
    """

    per_mode: Float[np.ndarray, "k ..."]
    cumulative: Float[np.ndarray, "k ..."]


def energy(
    spectrum: Spectrum,
    y: Float[AnyArray, "n ..."] | Sequence[float] | Sequence[Sequence[float]],
) -> Energy:
    r"""Energy of targets in each mode.

    The square root of the cumulative energy of k modes is `tl.energy_concentration`.

    Args:
        spectrum: Of the kernel on the n samples.
        y: A target at the samples, or several as columns; labels as $\pm 1$, or the
            constant direction rules.

    Returns:
        Shares per mode and their running sums; NaN for a target of zeros.

    Raises:
        ValueError: If the target is of other samples, or not real-valued.
    """
    n, target = spectrum.eigenvectors.shape[0], as_array(y)
    if target.ndim not in (1, 2) or len(target) != n:
        raise ValueError(
            f"`y` must hold targets at the {n} samples of the spectrum, ({n},) or "
            f"({n}, t), got shape {target.shape}."
        )
    if not jnp.issubdtype(target.dtype, jnp.floating):
        raise ValueError(
            f"`y` must be real-valued, got dtype {target.dtype}: labels 0 and 1 become "
            "`2.0 * y - 1.0`."
        )
    wide = np.asarray(target, np.float64)
    inside = np.asarray(spectrum.eigenvectors, np.float64).T @ wide
    with np.errstate(invalid="ignore"):
        shares = inside**2 / (wide**2).sum(axis=0)
    return Energy(shares, np.cumsum(shares, axis=0))
