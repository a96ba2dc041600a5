"""The record that the spectra stage returns."""

import equinox as eqx
from jaxtyping import Bool, Float

from .._checks import AccuracyWarning as AccuracyWarning
from .._types import AnyArray


class Spectrum(eqx.Module):
    r"""Eigenpairs of a Gram matrix, $K v_j = \mu_j v_j$, the largest first.

    The Mercer eigenfunction on the sample is $\phi_j(x_i) = \sqrt{n}\,v_{ij}$. Index 0
    is the leading pair, which the paper calls $\phi_1$.

    Attributes:
        eigenvalues: $\mu_j$ of the matrix, descending.
        eigenvectors: $v_j$ as columns of unit norm; the entry of largest magnitude is
            positive.
        residuals: $\|K v_j - \mu_j v_j\|$, evaluated in float64.
        unresolved: True where the gap to a neighbor is within the resolution and the
            rounding of a solver in float64, 32 of its machine epsilons, so that the
            vector is an arbitrary one of its cluster. The last vector's neighbor counts
            too, though it was not asked for.
        resolution: Eigenvalues are known up to about this, the error of the matrix
            given: its relative error, by default machine epsilon of its dtype, times
            the largest magnitude.
        num_negative: How many computed eigenvalues are below zero.
        num_below_resolution: How many computed eigenvalues are below the resolution.
        num_unconverged: How many residuals did not reach the tolerance.
        trace: Of the matrix, the sum of all its eigenvalues; None where unknown.
        method: How it was computed: `dense`, `krylov` or `nystrom`.
    """

    eigenvalues: Float[AnyArray, " k"]
    eigenvectors: Float[AnyArray, "n k"]
    residuals: Float[AnyArray, " k"]
    unresolved: Bool[AnyArray, " k"]
    resolution: float
    num_negative: int
    num_below_resolution: int
    num_unconverged: int = 0
    trace: float | None = None
    method: str = "dense"

    @property
    def mercer(self) -> Float[AnyArray, " k"]:
        r"""Eigenvalues of the kernel operator, $\lambda_j = \mu_j / n$."""
        return self.eigenvalues / self.eigenvectors.shape[0]

    @property
    def num_unresolved(self) -> int:
        """How many eigenvectors are arbitrary ones of a cluster."""
        return int(self.unresolved.sum())
