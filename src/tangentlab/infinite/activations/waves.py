r"""Activations that oscillate: sine, cosine, the wave behind the RBF kernel, Gabor."""

import math
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array

from ..nonlinear import Pointwise
from .dual import Dual, Values, dual_of_kernel


@dataclass(frozen=True)
class Sin(Pointwise):
    r"""A sine wave, $a \sin(b x + c)$.

    $$k = \frac{a^2}{2} e^{-b^2 (q_1 + q_2) / 2} \left( e^{b^2 q_{12}} -
    e^{-b^2 q_{12}} \cos 2c \right)$$

    Attributes:
        a: Scale of the output.
        b: Scale of the input.
        c: Phase.
    """

    a: float = 1.0
    b: float = 1.0
    c: float = 0.0

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return wave(self.a, self.b, self.c)


@dataclass(frozen=True)
class Cos(Pointwise):
    r"""A cosine wave, $a \cos(b x + c)$.

    Attributes:
        a: Scale of the output.
        b: Scale of the input.
        c: Phase.
    """

    a: float = 1.0
    b: float = 1.0
    c: float = 0.0

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return wave(self.a, self.b, self.c + math.pi / 2)


@dataclass(frozen=True)
class Rbf(Pointwise):
    r"""The wave whose kernel is the squared exponential.

    $$\phi(x) = \sqrt2 \sin(\sqrt{2\gamma}\, x + \pi/4), \qquad
    k = e^{-\gamma (q_1 + q_2 - 2 q_{12})}$$

    After a first `Dense` layer of unit weights, $k = e^{-\gamma |x - x'|^2 / d}$ for
    inputs of dimension $d$.

    Attributes:
        gamma: $\gamma$; the length scale is $1 / \sqrt{2\gamma}$.
    """

    gamma: float = 1.0

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        gamma = self.gamma

        def fn(x: Array) -> Array:
            return math.sqrt(2) * jnp.sin(math.sqrt(2 * gamma) * x + math.pi / 4)

        def pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
            k = jnp.exp(gamma * (2 * q_12 - (q_1 + q_2)))
            return k, 2 * gamma * k

        def single(q: Array) -> Values:
            return jnp.ones_like(q), jnp.full_like(q, 2 * gamma)

        return Dual(fn, pair, single)


@dataclass(frozen=True)
class Gabor(Pointwise):
    r"""A wave under a bell, $e^{-x^2} \sin x$."""

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return dual_of_kernel(_gabor, _gabor_kernel)


def wave(a: float, b: float, c: float) -> Dual:
    r"""The dual of `Sin`.

    $e^x - e^{-x} \cos 2c = 2 \sinh x + 2 e^{-x} \sin^2 c$, and the hyperbolic functions
    come from $e^{-2|x|} - 1$: small kernels keep their digits, large ones do not
    overflow.

    Args:
        a: Scale of the output.
        b: Scale of the input.
        c: Phase.

    Returns:
        The record.
    """
    squared_sine = (1 - math.cos(2 * c)) / 2

    def fn(x: Array) -> Array:
        return a * jnp.sin(b * x + c)

    def pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
        sign = jnp.where(q_12 < 0, -jnp.ones_like(q_12), 1)
        size = sign * q_12
        peak = jnp.exp(b**2 * (size - (q_1 + q_2) / 2))
        drop = jnp.expm1(-2 * b**2 * size)
        odd, even = -sign * peak * drop / 2, peak * (1 + drop / 2)
        phased = squared_sine * (even - odd)
        return a**2 * (odd + phased), (a * b) ** 2 * (even - phased)

    return Dual(fn, pair, lambda q: pair(q, q, q))


def _gabor(x: Array) -> Array:
    return jnp.exp(-x * x) * jnp.sin(x)


def _gabor_kernel(q_12: Array, q_1: Array, q_2: Array) -> Array:
    total, determinant = q_1 + q_2, 4 * (q_1 * q_2 - q_12 * q_12)
    width = 1 + 2 * total + determinant
    peak = jnp.exp(-(total + determinant + 2 * q_12) / (2 * width))
    return peak * jnp.expm1(2 * q_12 / width) / (2 * jnp.sqrt(width))
