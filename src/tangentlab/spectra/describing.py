"""From eigenpairs to the record: signs, what is resolved, and what to warn of."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .record import AccuracyWarning, Spectrum


class Solution(NamedTuple):
    r"""What a method found.

    Attributes:
        values: Eigenvalues, descending.
        vectors: Eigenvectors as columns, signs fixed.
        residuals: $\|K v_j - \mu_j v_j\|$.
        method: Its name.
        num_unconverged: How many residuals are too large.
        complaint: What to warn of, if anything.
        following: The eigenvalue after the last, as far as the method knows it; None
            where there is none.
    """

    values: Float[np.ndarray, " k"]
    vectors: Any
    residuals: Float[np.ndarray, " k"]
    method: str
    num_unconverged: int = 0
    complaint: str = ""
    following: float | None = None


def describe(found: Solution, *, epsilon: float, trace: float | None) -> Spectrum:
    """Make the record, and warn of what is not known well.

    Args:
        found: The pairs.
        epsilon: Machine epsilon of the matrix.
        trace: Of the matrix.

    Returns:
        The spectrum.
    """
    lam, largest = found.values, np.abs(found.values).max()
    resolution = float(epsilon * largest)
    below = int((lam < resolution).sum())
    if found.complaint:
        warnings.warn(found.complaint, AccuracyWarning, stacklevel=3)
    if below:
        warnings.warn(
            f"{below} of {len(lam)} eigenvalues lie below the resolution of the matrix "
            f"({resolution:.3g}, its dtype's epsilon {epsilon:.2g} times the largest "
            f"magnitude {largest:.3g}): they and their vectors are rounding. Ask for "
            f"num={max(1, len(lam) - below)}, or compute it in float64.",
            AccuracyWarning,
            stacklevel=3,
        )
    return Spectrum(
        eigenvalues=lam,
        eigenvectors=found.vectors,
        residuals=found.residuals,
        unresolved=_unresolved(lam, resolution, found.following),
        resolution=resolution,
        num_negative=int((lam < 0).sum()),
        num_below_resolution=below,
        num_unconverged=found.num_unconverged,
        trace=trace,
        method=found.method,
    )


def with_fixed_signs(V: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
    """Vectors with their entry of largest magnitude positive.

    Args:
        V: Vectors, as columns.

    Returns:
        The same vectors, some of them turned round.
    """
    largest = V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])]
    return V * np.where(largest < 0, -1.0, 1.0)


def _unresolved(
    lam: np.ndarray, resolution: float, following: float | None
) -> np.ndarray:
    last = np.inf if following is None else lam[-1] - following
    gaps = np.concatenate([[np.inf], -np.diff(lam), [last]])
    return np.minimum(gaps[:-1], gaps[1:]) <= resolution
