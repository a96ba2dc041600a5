r"""Activations with a corner or a jump at zero: ReLU and its relatives."""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array

from ..nonlinear import Pointwise
from .checking import check_degree
from .dual import Dual, Values
from .half_moments import double_factorial, half_moments


@dataclass(frozen=True)
class ABRelu(Pointwise):
    r"""Two slopes, $a \min(x, 0) + b \max(x, 0)$.

    $$k = (a - b)^2\, G_1 + a b\, q_{12}, \qquad \dot k = (a - b)^2\, G_0 + a b$$

    with $G_j = E[u_+^j v_+^j]$.

    Attributes:
        a: Slope for $x < 0$.
        b: Slope for $x > 0$.
    """

    a: float
    b: float

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return slopes(self.a, self.b)


@dataclass(frozen=True)
class Relu(Pointwise):
    r"""The rectifier $\max(x, 0)$.

    $$k = \frac{\sqrt{q_1 q_2}}{2\pi}\,(\sin\theta + (\pi - \theta)\cos\theta), \qquad
    \dot k = \frac{\pi - \theta}{2\pi}, \qquad
    \cos\theta = \frac{q_{12}}{\sqrt{q_1 q_2}}$$

    Example:
        >>> import jax.numpy as jnp
        >>> k, kdot = Relu().dual.single(jnp.array(2.0))
        >>> float(k), float(kdot)
        (1.0, 0.5)
    """

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return slopes(0.0, 1.0)


@dataclass(frozen=True)
class LeakyRelu(Pointwise):
    r"""A rectifier that lets some of the negative side through.

    Attributes:
        slope: Slope for $x < 0$; it is 1 for $x > 0$.
    """

    slope: float = 0.01

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return slopes(self.slope, 1.0)


@dataclass(frozen=True)
class Abs(Pointwise):
    """The absolute value."""

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return slopes(-1.0, 1.0)


@dataclass(frozen=True)
class RectifiedMonomial(Pointwise):
    r"""A power of the positive part: $x^d$ for $x > 0$, and 0 below.

    $$k = G_d, \qquad \dot k = d^2\, G_{d-1}$$

    with $G_j = E[u_+^j v_+^j]$. The step function ($d = 0$) has no derivative but at
    its jump; as for `Sign`, the derivative kernel is 0.

    Attributes:
        degree: $d \ge 0$.

    Reference:
        Cho and Saul, "Kernel methods for deep learning", NeurIPS 2009.
    """

    degree: int

    def __post_init__(self):
        check_degree(self, self.degree)

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return rectified_power(self.degree)


@dataclass(frozen=True)
class Sign(Pointwise):
    r"""The sign of $x$.

    $$k = 1 - \frac{2\theta}{\pi}, \qquad \dot k = 0$$

    The convention for the tangent kernel is that of a network in code: the derivative
    is 0 wherever there is one, so that no gradient reaches the layers below and the NTK
    counts the parameters above alone. ($E[\phi'(u)\phi'(v)]$ with the jump's Dirac
    pulse is $2 / (\pi \sqrt{q_1 q_2 - q_{12}^2})$, infinite on the diagonal.)
    """

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return Dual(jnp.sign, _sign_pair, _sign_single)


def slopes(a: float, b: float) -> Dual:
    """The dual of `ABRelu`.

    Args:
        a: Slope for `x < 0`.
        b: Slope for `x > 0`.

    Returns:
        The record.
    """
    corner, through = (a - b) ** 2, a * b

    def fn(x: Array) -> Array:
        return jnp.where(x > 0, b * x, a * x)

    def pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
        step, ramp = half_moments(q_12, q_1, q_2, 1)
        if through == 0:
            return corner * ramp, corner * step
        return corner * ramp + through * q_12, corner * step + through

    def single(q: Array) -> Values:
        return (corner / 2 + through) * q, corner * _positive_part(q) + through

    return Dual(fn, pair, single)


def rectified_power(degree: int) -> Dual:
    """The dual of `RectifiedMonomial`.

    Args:
        degree: The power.

    Returns:
        The record.
    """

    def fn(x: Array) -> Array:
        return jnp.where(x > 0, x**degree, 0)

    def pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
        moments = half_moments(q_12, q_1, q_2, degree)
        below = moments[degree - 1] if degree else jnp.zeros_like(moments[0])
        return moments[degree], degree**2 * below

    def single(q: Array) -> Values:
        if degree == 0:
            return _positive_part(q), jnp.zeros_like(q)
        below = _positive_part(q) if degree == 1 else _half_power(q, degree - 1)
        return _half_power(q, degree), degree**2 * below

    return Dual(fn, pair, single)


def _sign_pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
    (step,) = half_moments(q_12, q_1, q_2, 0)
    return 4 * step - 1, jnp.zeros_like(step)


def _sign_single(q: Array) -> Values:
    return 4 * _positive_part(q) - 1, jnp.zeros_like(q)


def _half_power(q: Array, degree: int) -> Array:
    return double_factorial(degree) / 2 * q**degree


def _positive_part(q: Array) -> Array:
    """How often a variable is positive; one without variance stands on the corner."""
    return jnp.where(q > 0, jnp.full_like(q, 0.5), 0.25)
