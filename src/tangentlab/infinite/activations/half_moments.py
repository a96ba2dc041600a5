r"""Moments of the positive parts of a Gaussian pair, $G_j = E[u_+^j v_+^j]$.

With $\theta$ the angle between the two and $s$ the root of their determinant,

$$2\pi\, G_j = A_j\,(\pi - \theta) + B_j\, s,$$

where $A_j = E[u^j v^j]$ and $B_j$ are polynomials in $x = q_{12}$ and $P = q_1 q_2$.
Price's theorem, $\partial G_j / \partial x = j^2 G_{j-1}$, compared power by power,
gives each $B_j$ from the one before.

Reference:
    Cho and Saul, "Kernel methods for deep learning", NeurIPS 2009.
"""

import functools
import math

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .angles import angle, inverse_or_zero, root_determinant

Powers = dict[int, int]
"""Coefficients by the power of `x`; the degree that is missing comes from `P`."""


@functools.partial(jax.custom_jvp, nondiff_argnums=(3,))
def half_moments(q_12: Array, q_1: Array, q_2: Array, degree: int) -> tuple[Array, ...]:
    r"""$E[u_+^j v_+^j]$ for each power $j$ up to a degree, all from one angle.

    A variable without variance counts as one at a right angle to every other, so that
    $G_0 = 1/4$: the mean over both sides of the corner.

    Args:
        q_12: Covariance.
        q_1: Variance of the first variable.
        q_2: Variance of the second.
        degree: The largest power.

    Returns:
        One array for each of the powers 0 to `degree`.
    """
    root = root_determinant(q_12, q_1, q_2)
    theta = angle(root, q_12, jnp.sqrt(q_1) * jnp.sqrt(q_2))
    turned, height = (math.pi - theta) / (2 * math.pi), root / (2 * math.pi)
    moments = [turned]
    for power in range(1, degree + 1):
        whole = _evaluate(_whole(power), q_12, q_1 * q_2)
        edge = _evaluate(_edge(power), q_12, q_1 * q_2)
        moments.append(whole * turned + edge * height)
    return tuple(moments)


@half_moments.defjvp
def _half_moments_jvp(degree, primals, tangents):
    """A change of variances scales each moment; what is left of the change turns it."""
    q_12, q_1, q_2 = primals
    t_12, t_1, t_2 = tangents
    moments = half_moments(q_12, q_1, q_2, degree)
    growth = (t_1 * inverse_or_zero(q_1) + t_2 * inverse_or_zero(q_2)) / 2
    turn = t_12 - q_12 * growth
    root = root_determinant(q_12, q_1, q_2)
    changes = [turn * inverse_or_zero(root) / (2 * math.pi)]
    for power in range(1, degree + 1):
        scaled = power * moments[power] * growth
        changes.append(power**2 * moments[power - 1] * turn + scaled)
    return moments, tuple(changes)


def double_factorial(degree: int) -> int:
    r"""$E[u^{2j}]$ of a standard Gaussian: the odd numbers below $2j$, multiplied.

    Args:
        degree: $j$.

    Returns:
        $(2j - 1)!!$.
    """
    return math.prod(range(1, 2 * degree, 2))


def _whole(power: int) -> Powers:
    """`A_j`: pair some `u` with `v`, and the rest among themselves."""
    coefficients = {}
    for inside in range(power // 2 + 1):
        across = power - 2 * inside
        ways = math.factorial(power) // (2**inside * math.factorial(inside))
        coefficients[across] = ways**2 // math.factorial(across)
    return coefficients


@functools.cache
def _edge(power: int) -> Powers:
    """`B_j`, from its highest power of `x` down."""
    if power == 0:
        return {}
    whole, before, edge = _whole(power), _edge(power - 1), {}
    for i in range(power - 1, -1, -2):
        priced = before.get(i - 1, 0) - before.get(i + 1, 0)
        known = whole[i + 1] + power**2 * priced + (i + 2) * edge.get(i + 2, 0)
        edge[i] = known // (i + 1)
    return edge


def _evaluate(powers: Powers, x: Array, product: Array) -> Array | int:
    """The homogeneous polynomial: `P` makes up for each pair of missing powers."""
    last = max(powers)
    total, scale = powers[last], 1
    for i in range(last - 2, -1, -2):
        scale = scale * product
        total = total * (x * x) + powers[i] * scale
    return total * x if last % 2 else total
