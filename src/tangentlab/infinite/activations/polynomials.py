r"""Polynomial activations, exact for Gaussian inputs of any variance.

A polynomial's derivatives have polynomial means, and

$$k = \sum_l \frac{q_{12}^l}{l!}\, E[\phi^{(l)}(u)]\, E[\phi^{(l)}(v)].$$
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..nonlinear import Pointwise
from .checking import check_degree
from .dual import Dual, Values


@dataclass(frozen=True)
class Polynomial(Pointwise):
    r"""A polynomial, $c_0 + c_1 x + \dots + c_d x^d$.

    Attributes:
        coefficients: $c_0$ to $c_d$, the constant first.

    Example:
        >>> import jax.numpy as jnp
        >>> k, kdot = Polynomial((0.0, 0.0, 1.0)).dual.single(jnp.array(1.0))
        >>> float(k), float(kdot)
        (3.0, 4.0)
    """

    coefficients: Sequence[float]

    def __post_init__(self):
        coefficients = tuple(float(c) for c in self.coefficients)
        if not coefficients:
            raise ValueError(
                "Polynomial needs at least one coefficient, got none: the constant "
                "comes first, `Polynomial((1.0, 0.5))` is 1 + x / 2."
            )
        object.__setattr__(self, "coefficients", coefficients)

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return polynomial(tuple(self.coefficients))


@dataclass(frozen=True)
class Monomial(Pointwise):
    r"""A power, $x^d$.

    Attributes:
        degree: $d \ge 0$.
    """

    degree: int

    def __post_init__(self):
        check_degree(self, self.degree)

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return polynomial((0.0,) * self.degree + (1.0,))


@dataclass(frozen=True)
class Hermite(Pointwise):
    r"""A Hermite polynomial of unit norm under the standard Gaussian.

    Inputs of unit variance give $k = q_{12}^d$; those of any other are as exact.

    Attributes:
        degree: $d \ge 0$.
    """

    degree: int

    def __post_init__(self):
        check_degree(self, self.degree)

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        powers = np.polynomial.hermite_e.herme2poly([0] * self.degree + [1])
        norm = math.sqrt(math.factorial(self.degree))
        return polynomial(tuple(float(power) / norm for power in powers))


def polynomial(coefficients: tuple[float, ...]) -> Dual:
    """The dual of `Polynomial`.

    Args:
        coefficients: The constant first.

    Returns:
        The record.
    """
    slope = tuple(i * c for i, c in enumerate(coefficients))[1:]

    def fn(x: Array) -> Array:
        return _horner(coefficients, x)

    def pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
        return _kernel(coefficients, q_12, q_1, q_2), _kernel(slope, q_12, q_1, q_2)

    return Dual(fn, pair, lambda q: pair(q, q, q))


def _kernel(coefficients: tuple[float, ...], q_12: Array, q_1: Array, q_2: Array):
    total = jnp.zeros_like(q_12)
    for order in range(len(coefficients) - 1, -1, -1):
        means = _mean_derivative(coefficients, order)
        product = _horner(means, q_1) * _horner(means, q_2)
        total = total * q_12 + product / math.factorial(order)
    return total


def _mean_derivative(coefficients: tuple[float, ...], order: int) -> tuple[float, ...]:
    """The mean of a derivative, in powers of the variance."""
    means = []
    for i, coefficient in enumerate(coefficients[order::2]):
        moment = math.factorial(order + 2 * i) / (2**i * math.factorial(i))
        means.append(coefficient * moment)
    return tuple(means)


def _horner(coefficients: tuple[float, ...], x: Array) -> Array:
    total = jnp.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * x + coefficient
    return total
