r"""Small losses with saddles and bad minima, from the UBC lecture (CPSC 532S, 2022).

A chain of $D$ weights, $L(w) = \frac12 (\prod_\ell w_\ell - 1)^2$, is a deep linear
network: all its minima are global, and 0 is a saddle that from $D = 3$ on has no
negative curvature. One ReLU unit, $L(w) = \frac12 (\max(0, w) - 1)^2$, has a flat bad
minimum.

>>> import jax.numpy as jnp
>>> jnp.linalg.eigvalsh(chain_hessian(jnp.zeros(2))).tolist()
[-1.0, 1.0]
>>> float(jnp.abs(chain_hessian(jnp.zeros(3))).max())
0.0
>>> stuck_probability(3)
0.125
"""

import math

import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float

from .._checks import check_same_rows
from .._types import AnyArray
from .checking import check_at_least, check_finite


def chain_loss(w: Float[Array, " l"]) -> Float[Array, ""]:
    r"""Loss of a chain of weights, $\frac12 (\prod_\ell w_\ell - 1)^2$.

    Args:
        w: The weights.

    Returns:
        The loss.

    Reference:
        The UBC lecture (CPSC 532S, March 2022).
    """
    return (jnp.prod(w) - 1) ** 2 / 2


def chain_gradient(w: Float[Array, " l"]) -> Float[Array, " l"]:
    r"""Gradient of `chain_loss`, $(\prod_\ell w_\ell - 1) \prod_{\ell \ne i} w_\ell$.

    Args:
        w: The weights.

    Returns:
        The gradient; 0 where at least two weights are 0.

    Reference:
        The UBC lecture (CPSC 532S, March 2022).
    """
    without = _product_without(w, jnp.eye(len(w), dtype=bool))
    return (jnp.prod(w) - 1) * without


def chain_hessian(w: Float[Array, " l"]) -> Float[Array, "l l"]:
    r"""Hessian of `chain_loss`.

    $$H_{ij} = \prod_{\ell \ne i} w_\ell \prod_{\ell \ne j} w_\ell + [i \ne j] \Big(
      \prod_\ell w_\ell - 1 \Big) \prod_{\ell \ne i, j} w_\ell$$

    At 0 its eigenvalues are $\pm 1$ for two weights and all 0 for more: the saddle has
    an escape direction of second order for two weights alone.

    Args:
        w: The weights.

    Returns:
        The matrix.

    Reference:
        The UBC lecture (CPSC 532S, March 2022); Kawaguchi, "Deep learning without poor
        local minima", NeurIPS 2016.
    """
    one = jnp.eye(len(w), dtype=bool)
    without = _product_without(w, one)
    both = _product_without(w, one[:, None] | one[None])
    cross = jnp.where(one, 0, (jnp.prod(w) - 1) * both)
    return without[:, None] * without[None] + cross


def chain_escape_time(
    depth: int, start: float | int, *, level: float | int = 0.5
) -> float:
    r"""Time that gradient flow takes to leave the saddle of a chain.

    From $w_\ell = \epsilon$ for all $\ell$, until the product is `level`:

    $$t = \int_\epsilon^{\text{level}^{1/D}} \frac{dw}{w^{D-1} (1 - w^D)}$$

    It grows as $\log(1/\epsilon)$ for two weights and as $\epsilon^{-(D-2)} / (D - 2)$
    for more.

    Args:
        depth: $D$, the number of weights.
        start: $\epsilon$, above 0.
        level: Product of weights at which the saddle is left, below 1.

    Returns:
        The time.

    Raises:
        ValueError: If start and level are not 0 < start^depth < level < 1.

    Reference:
        Du et al., "Gradient descent can take exponential time to escape saddle points",
        NeurIPS 2017, for the question; the integral is that of a chain.
    """
    check_at_least("depth", depth, 1)
    if not (0 < start and start**depth < level < 1):
        raise ValueError(
            "The flow goes from the product `start` ** `depth`, above 0, up to "
            f"`level`, below 1, got start = {start}, depth = {depth} and level = "
            f"{level}: start below level ** (1 / depth)."
        )

    def integrand(u: float) -> float:  # u = log w, since times differ by orders
        return math.exp((2 - depth) * u) / -math.expm1(depth * u)

    ends = math.log(start), math.log(level) / depth
    value, _ = scipy.integrate.quad(integrand, *ends, epsrel=1e-11, limit=500)
    return float(value)


def relu_unit_loss(w: Float[Array, "..."]) -> Float[Array, "..."]:
    r"""Loss of one ReLU unit on the sample (1, 1), $\frac12 (\max(0, w) - 1)^2$.

    Every $w < 0$ is a local minimum with loss $\frac12$; the global one is $w = 1$.

    Args:
        w: The weight.

    Returns:
        The loss.

    Reference:
        The UBC lecture (CPSC 532S, March 2022); Ding, Li and Sun, "Sub-optimal local
        minima exist for neural networks with almost all non-linear activations", 2019,
        for others.
    """
    return (jnp.maximum(w, 0) - 1) ** 2 / 2


def relu_unit_descent(start: float | int, rate: float | int, num_steps: int) -> float:
    r"""Where gradient descent on `relu_unit_loss` is after some steps.

    $$w_k = 1 - (1 - \eta)^k (1 - w_0) \text{ for } w_0 > 0, \quad w_k = w_0
      \text{ for } w_0 \le 0$$

    For $w_0 > 0$ and a rate below 1 it converges to the global minimum.

    Args:
        start: $w_0$.
        rate: $\eta$, between 0 and 1.
        num_steps: $k$.

    Returns:
        $w_k$.

    Raises:
        ValueError: If the rate is not between 0 and 1, or the start is no number.

    Reference:
        The UBC lecture (CPSC 532S, March 2022).
    """
    if not 0 < rate < 1:
        raise ValueError(
            f"`rate` must be between 0 and 1, got {rate}: larger steps may jump to the "
            "flat side."
        )
    check_at_least("num_steps", num_steps, 0)
    if not math.isfinite(start):
        raise ValueError(f"`start` must be a finite number, got {start}.")
    return start if start <= 0 else 1 - (1 - rate) ** num_steps * (1 - start)


def stuck_probability(num_units: int) -> float:
    r"""Chance that gradient descent of $\sum_j \mathrm{ReLU}(w_j x)$ never moves.

    On one sample (1, 1), from weights of random sign: all $m$ units are dead with
    probability $2^{-m}$. Otherwise small steps reach the global minimum.

    Args:
        num_units: $m$.

    Returns:
        $2^{-m}$.

    Reference:
        The UBC lecture (CPSC 532S, March 2022), which has one unit.
    """
    check_at_least("num_units", num_units, 1)
    return 0.5**num_units


def linear_network_minimum(
    x: Float[AnyArray, "n d"], y: Float[AnyArray, "n c"], *, width: int
) -> float:
    r"""The global minimum of a deep linear network's loss, by its narrowest layer.

    $$\min_{\operatorname{rank} W \le r} \frac{1}{2 n} \|Y - X W\|_F^2$$

    Least squares, whose fitted values lose all but their $r$ leading singular
    directions (Eckart and Young). Every local minimum of a deep linear network has this
    loss. For convex losses other than the square, Laurent and von Brecht want hidden
    widths not below the smaller of inputs and outputs.

    Args:
        x: Inputs, as rows.
        y: Targets, as rows.
        width: $r$, the smallest width of a layer.

    Returns:
        The loss.

    Reference:
        Kawaguchi, "Deep learning without poor local minima", NeurIPS 2016; Laurent and
        von Brecht, "Deep linear networks with arbitrary loss: all local minima are
        global", ICML 2018.
    """
    check_same_rows("x", x, "y", y)
    check_finite("x", x)
    check_finite("y", y)
    check_at_least("width", width, 1)
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    fitted = x @ np.linalg.lstsq(x, y, rcond=None)[0]
    lost = np.linalg.svd(fitted, compute_uv=False)[width:]
    return float((((y - fitted) ** 2).sum() + (lost**2).sum()) / (2 * len(x)))


def _product_without(w: Array, skipped: Array) -> Array:
    """Return the product over the last axis of all weights that are not skipped."""
    return jnp.prod(jnp.where(skipped, 1, jnp.broadcast_to(w, skipped.shape)), axis=-1)
