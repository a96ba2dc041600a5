"""The record that the spectra stage returns."""

import equinox as eqx
from jaxtyping import Bool, Float

from .._types import AnyArray


class Spectrum(eqx.Module):
    r"""Eigenpairs of a Gram matrix, $K v_j = \mu_j v_j$, the largest first.

    The Mercer eigenfunction on the sample is $\phi_j(x_i) = \sqrt{n}\,v_{ij}$. Index 0
    is the leading pair, which the paper calls $\phi_1$.

    Attributes:
        eigenvalues: $\mu_j$ of the matrix, descending.
        eigenvectors: $v_j$ as columns of unit norm; the entry of largest magnitude is
            positive.
        residuals: $\|K v_j - \mu_j v_j\|$.
        unresolved: True where the gap to a neighbor is within the resolution, so that
            the vector is an arbitrary one of its cluster.
        resolution: Eigenvalues are known up to about this, the rounding of the matrix
            given: machine epsilon of its dtype times $\mu_0$.
        num_negative: How many computed eigenvalues are below zero.
        num_below_resolution: How many computed eigenvalues are below the resolution.
    """

    eigenvalues: Float[AnyArray, " k"]
    eigenvectors: Float[AnyArray, "n k"]
    residuals: Float[AnyArray, " k"]
    unresolved: Bool[AnyArray, " k"]
    resolution: float
    num_negative: int
    num_below_resolution: int

    @property
    def mercer(self) -> Float[AnyArray, " k"]:
        r"""Eigenvalues of the kernel operator, $\lambda_j = \mu_j / n$."""
        return self.eigenvalues / self.eigenvectors.shape[0]
