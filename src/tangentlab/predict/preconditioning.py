r"""A preconditioner from a few products with random vectors."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class Preconditioner(NamedTuple):
    r"""The inverse of a kernel on its leading modes, the identity elsewhere.

    $$P^{-1} = (\lambda_r + \rho)\, U (\Lambda + \rho)^{-1} U^\top + I - U U^\top$$

    Attributes:
        vectors: $U$, orthonormal columns.
        shrinking: $(\lambda_r + \rho) / (\Lambda + \rho) - 1$.
    """

    vectors: Float[np.ndarray, "n r"]
    shrinking: Float[np.ndarray, " r"]

    def __call__(self, R: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
        """Apply it.

        Args:
            R: Vectors, as columns.

        Returns:
            The vectors, short where the kernel is large.
        """
        inside = self.vectors.T @ R
        return R + self.vectors @ (self.shrinking[:, None] * inside)


def nystrom_preconditioner(
    product: Callable[[np.ndarray], np.ndarray],
    n: int,
    rank: int,
    *,
    ridge: float,
    epsilon: float,
) -> Preconditioner:
    r"""A randomized Nystrom approximation $K \approx U \Lambda U^\top$, by products.

    $K \approx K \Omega\, (\Omega^\top K \Omega)^+ (K \Omega)^\top$ for random
    orthonormal $\Omega$. Cost: `rank` products at once and `O(n rank^2)`.

    Args:
        product: Multiplies the kernel with (n, k).
        n: Its side.
        rank: How many random vectors.
        ridge: What is added to the diagonal.
        epsilon: Relative rounding error of the products.

    Returns:
        The preconditioner.

    Reference:
        Frangella, Tropp and Udell, "Randomized Nystrom preconditioning", 2021
        (arXiv:2110.02820).
    """
    if rank == 0:
        return Preconditioner(np.zeros((n, 0)), np.zeros(0))
    random = np.random.default_rng(0)
    omega = np.linalg.qr(random.standard_normal((n, rank)))[0]
    image = product(omega)
    core = omega.T @ image
    lam, Q = np.linalg.eigh((core + core.T) / 2)
    kept = lam > epsilon * np.abs(lam).max()
    factor = (image @ Q[:, kept]) / np.sqrt(lam[kept])  # K is near its square
    squared, W = np.linalg.eigh(factor.T @ factor)
    known = squared > epsilon * squared.max(initial=0.0)
    squared, W = squared[known], W[:, known]
    U = factor @ (W / np.sqrt(squared))
    lowest = squared.min(initial=np.inf)
    return Preconditioner(U, (lowest + ridge) / (squared + ridge) - 1)
