r"""Square roots and arc tangents of a covariance, cheap and differentiable.

A Gaussian pair with covariance $q_{12}$ and variances $q_1, q_2$ is a right triangle:
its legs are $q_{12}$ and the root of the determinant, its hypotenuse $\sqrt{q_1 q_2}$.
Kernels of wide networks ask for the angle in it hundreds of millions of times. Knowing
the hypotenuse, one can halve the angle before the arc tangent, and after reflecting it
into the first octant a short polynomial is as good as the machine's rounding: one
square root, one division and a dozen multiply-adds a pair, all of which vectorize.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Covariances = Float[Array, "..."]

# arctan(t) / t in powers of t^2 for |t| <= tan(pi / 8), by interpolation at Chebyshev
# points: off by less than a rounding error of float64, and of float32.
_LONG = (
    1.0,
    -0.3333333333333312,
    0.19999999999940807,
    -0.142857142792419,
    0.11111110744504495,
    -0.09090896797060963,
    0.07692045115329452,
    -0.0666294933513016,
    0.058468600441315986,
    -0.05035019199400293,
    0.037963116386953384,
    -0.017803024570372427,
)
_SHORT = (
    0.9999999993706711,
    -0.33333306873799395,
    0.19998182002716527,
    -0.14239513423957814,
    0.10569685283640824,
    -0.06025934885056124,
)


def inverse_or_zero(x: Covariances) -> Covariances:
    """One over `x`, and 0 instead of infinity; its gradient is 0 there too.

    Args:
        x: Any numbers.

    Returns:
        An array of the same shape.
    """
    nonzero = x != 0
    return jnp.where(nonzero, 1 / jnp.where(nonzero, x, 1), 0)


def root_or_zero(x: Covariances) -> Covariances:
    """The square root, and 0 below zero; its gradient is 0 where the root is.

    Args:
        x: Any numbers; rounding may have made a zero slightly negative.

    Returns:
        An array of the same shape.
    """
    positive = x > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1)), 0)


@jax.custom_jvp
def root_determinant(
    q_12: Covariances, q_1: Covariances, q_2: Covariances
) -> Covariances:
    r"""$\sqrt{q_1 q_2 - q_{12}^2}$, and exactly 0 at coincident inputs.

    The differences are taken before the products: what is subtracted from each other is
    then exact where it matters, and rounding does not turn a coincident pair into one
    at an angle of 1e-8.

    Args:
        q_12: Covariance.
        q_1: Variance of the first variable.
        q_2: Variance of the second.

    Returns:
        The root, 0 where rounding makes the determinant negative; its gradient is 0
        where the root is 0.
    """
    size = jnp.abs(q_12)
    return jnp.sqrt(jnp.maximum(q_1 * (q_2 - size) + size * (q_1 - size), 0))


@root_determinant.defjvp
def _root_determinant_jvp(primals, tangents):
    q_12, q_1, q_2 = primals
    t_12, t_1, t_2 = tangents
    root = root_determinant(q_12, q_1, q_2)
    half = (q_2 * t_1 + q_1 * t_2) / 2 - q_12 * t_12
    return root, half * inverse_or_zero(root)


@jax.custom_jvp
def arctangent(y: Covariances, x: Covariances, length: Covariances) -> Covariances:
    r"""The angle of the point $(x, y)$, for $x \ge 0$ and a known distance from 0.

    Args:
        y: Opposite leg, of either sign.
        x: Adjacent leg, not negative.
        length: $\sqrt{x^2 + y^2}$.

    Returns:
        Angles from $-\pi/2$ to $\pi/2$.
    """
    acute = _first_quadrant(jnp.abs(y), x, length)
    return jnp.where(y < 0, -acute, acute)


@arctangent.defjvp
def _arctangent_jvp(primals, tangents):
    y, x, length = primals
    t_y, t_x, _ = tangents
    turn = (x * t_y - y * t_x) * inverse_or_zero(length) ** 2
    return arctangent(y, x, length), turn


def angle(y: Covariances, x: Covariances, length: Covariances) -> Covariances:
    r"""The angle of the point $(x, y)$, for $y \ge 0$ and a known distance from 0.

    Not for differentiation: `half_moments.py` has rules of its own.

    Args:
        y: Opposite leg, not negative.
        x: Adjacent leg, of either sign.
        length: $\sqrt{x^2 + y^2}$.

    Returns:
        Angles from 0 to $\pi$; $\pi/2$ for the point 0.
    """
    acute = _first_quadrant(y, jnp.abs(x), length)
    return jnp.where(x < 0, math.pi - acute, acute)


def _first_quadrant(y: Array, x: Array, length: Array) -> Array:
    span = length + jnp.maximum(x, y)
    half_tangent = jnp.minimum(x, y) / jnp.where(span > 0, span, 1)
    octant = 2 * half_tangent * _arctan_ratio(half_tangent * half_tangent)
    return jnp.where(y < x, octant, math.pi / 2 - octant)


def _arctan_ratio(squared: Array) -> Array:
    coefficients = _LONG if squared.dtype == jnp.float64 else _SHORT
    total = jnp.full_like(squared, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * squared + coefficient
    return total
