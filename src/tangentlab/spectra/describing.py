"""From eigenpairs to the record: signs, what is resolved, and what to warn of."""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from .record import AccuracyWarning, Spectrum

_FLOAT64 = float(np.finfo(np.float64).eps)
_SOLVER = 32
"""Machine epsilons of float64, times the largest magnitude: how far equal eigenvalues
come apart in LAPACK. Up to 21 were seen, for matrices of 6 to 1024 rows alike; of a
float32 matrix that is nothing beside its own rounding."""


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
        epsilon: Relative error of the matrix, machine epsilon of its dtype at least.
        trace: Of the matrix.

    Returns:
        The spectrum.
    """
    lam, largest = found.values, float(np.abs(found.values).max())
    resolution = epsilon * largest
    apart = resolution + _SOLVER * _FLOAT64 * largest
    for complaint in _complaints(found, epsilon, resolution):
        warnings.warn(complaint, AccuracyWarning, stacklevel=3)
    return Spectrum(
        eigenvalues=lam,
        eigenvectors=found.vectors,
        residuals=found.residuals,
        unresolved=_unresolved(lam, apart, found.following),
        resolution=resolution,
        num_negative=int((lam < 0).sum()),
        num_below_resolution=int((lam < resolution).sum()),
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


def _complaints(found: Solution, epsilon: float, resolution: float) -> Iterator[str]:
    """What to warn of."""
    if found.complaint:
        yield found.complaint
    lam, n = found.values, found.vectors.shape[0]
    # Entries off by epsilon move eigenvalues by up to this: |E| <= epsilon |K|_F.
    rounding = float(np.sqrt(n) * resolution)
    negative, below = lam < -rounding, lam < resolution
    if negative.any():
        yield (
            f"{negative.sum()} of {len(lam)} eigenvalues are negative, down to "
            f"{lam.min():.3g}, which is no rounding ({rounding:.2g} at most): the "
            "matrix is not positive semi-definite, as every Gram matrix is."
        )
    lost, kept = (below & ~negative).sum(), (~below).sum()
    if lost:
        ways = [f"ask for num={kept}"] if kept else []
        ways += ["compute it in float64"] if epsilon > _FLOAT64 else []
        advice = f" {', or '.join(ways).capitalize()}." if ways else ""
        yield (
            f"{lost} of {len(lam)} eigenvalues lie below the resolution of the matrix "
            f"({resolution:.3g}, its relative error {epsilon:.2g} times the largest "
            f"magnitude {np.abs(lam).max():.3g}): they and their vectors are rounding."
            f"{advice}"
        )


def _unresolved(lam: np.ndarray, apart: float, following: float | None) -> np.ndarray:
    """Which eigenvalues have a neighbor at most so far apart."""
    last = np.inf if following is None else lam[-1] - following
    gaps = np.concatenate([[np.inf], -np.diff(lam), [last]])
    return np.minimum(gaps[:-1], gaps[1:]) <= apart
