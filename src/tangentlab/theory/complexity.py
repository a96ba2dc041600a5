r"""Rademacher complexity of the linear models within reach of an initialization.

The class is $\{x \mapsto \langle \phi(x), w - w_0 \rangle : \|w - w_0\| \le W\}$ with
tangent features $\phi$ and Gram matrix $H_{ij} = \langle \phi(x_i), \phi(x_j) \rangle$.

>>> import jax, jax.numpy as jnp
>>> H = jnp.eye(4)
>>> rademacher_complexity(H, 1.0, key=jax.random.key(0), num_draws=10).value
0.5
>>> rademacher_bound(H, 1.0)
0.5
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._checks import check_square
from .._keys import AnyKey, as_key
from .._linalg import HIGHEST
from .._types import AnyArray, PRNGKey
from .checking import (
    check_at_least,
    check_finite,
    check_not_negative,
    rounding_of,
)
from .estimates import MeanEstimate, mean_of


def rademacher_complexity(
    H: Float[AnyArray, "n n"],
    radius: float | int,
    *,
    key: AnyKey,
    num_draws: int = 1000,
) -> MeanEstimate:
    r"""Empirical Rademacher complexity of a ball of linear models.

    $$\mathcal R_S = \frac1n \mathbb E_\sigma \sup_{\|w - w_0\| \le W} \sum_i \sigma_i
      \langle \phi(x_i), w - w_0 \rangle = \frac Wn \mathbb E_\sigma
      \sqrt{\sigma^\top H \sigma}$$

    The supremum is exact, the expectation over signs is a mean over draws. The
    CentraleSupelec lecture (class 5, January 2025) forgets $1/n$ in the definition.

    Args:
        H: Gram matrix of the features.
        radius: $W$.
        key: Draws the signs.
        num_draws: How many vectors of signs.

    Returns:
        The mean and its standard error.

    Raises:
        ValueError: If `H` is no Gram matrix: some signs have a negative norm.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025); Bartlett and Mendelson,
        "Rademacher and Gaussian complexities", JMLR 2002.
    """
    key = as_key(key)
    check_square("H", H)
    check_finite("H", H)
    check_not_negative("radius", radius)
    check_at_least("num_draws", num_draws, 2)
    squares = np.asarray(_squares(jnp.asarray(H), key, num_draws), np.float64)
    n, largest = H.shape[0], float(np.abs(np.asarray(H)).max())
    rounding = n**2 * largest * rounding_of(H)
    if squares.min() < -rounding:
        raise ValueError(
            "`H` must be a Gram matrix, but a vector of signs has the squared norm "
            f"{squares.min():.3g}: pass inner products of features."
        )
    return mean_of(radius * np.sqrt(np.maximum(squares, 0)) / n)


def rademacher_bound(H: Float[AnyArray, "n n"], radius: float | int) -> float:
    r"""Upper bound of `rademacher_complexity`, by Jensen's inequality.

    $$\mathcal R_S \le W \sqrt{\operatorname{tr} H} \,/\, n$$

    It is at most $\sqrt 2$ too large (Khintchine's inequality with its best constant).

    Args:
        H: Gram matrix of the features.
        radius: $W$.

    Returns:
        The bound.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025); Szarek, "On the best
        constants in the Khinchin inequality", 1976.
    """
    check_square("H", H)
    check_finite("H", H)
    check_not_negative("radius", radius)
    trace = float(np.trace(np.asarray(H, np.float64)))
    check_not_negative("the trace of `H`", trace)
    return radius * math.sqrt(trace) / H.shape[0]


def rademacher_bound_by_norm(
    max_norm: float | int, num: int, radius: float | int
) -> float:
    r"""Upper bound of `rademacher_bound` that knows the largest feature alone.

    $$\mathcal R_S \le W \max_i \|\phi(x_i)\| \,/\, \sqrt n$$

    Args:
        max_norm: The largest $\|\phi(x_i)\| = \sqrt{H_{ii}}$.
        num: $n$, the number of samples.
        radius: $W$.

    Returns:
        The bound.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025).
    """
    check_not_negative("max_norm", max_norm)
    check_at_least("num", num, 1)
    check_not_negative("radius", radius)
    return radius * max_norm / math.sqrt(num)


def _squares(H: Float[Array, "n n"], key: PRNGKey, num: int) -> Float[Array, " s"]:
    signs = jax.random.rademacher(key, (len(H), num), H.dtype)
    return jnp.sum(signs * jnp.matmul(H, signs, precision=HIGHEST), axis=0)
