r"""Activations made of exponentials: exp, the bell curve, a normalized kernel."""

import math
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array

from ..nonlinear import Pointwise
from .angles import inverse_or_zero, root_or_zero
from .dual import Dual, Values


@dataclass(frozen=True)
class Exp(Pointwise):
    r"""The exponential function, $a\, e^{b x}$.

    $$k = a^2 e^{b^2 (q_1 + q_2 + 2 q_{12}) / 2}, \qquad \dot k = b^2 k$$

    Attributes:
        a: Scale of the output.
        b: Scale of the input.
    """

    a: float = 1.0
    b: float = 1.0

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        a, b = self.a, self.b

        def pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
            k = a**2 * jnp.exp(b**2 * ((q_1 + q_2) / 2 + q_12))
            return k, b**2 * k

        return Dual(lambda x: a * jnp.exp(b * x), pair, lambda q: pair(q, q, q))


@dataclass(frozen=True)
class Gaussian(Pointwise):
    r"""The bell curve, $a\, e^{b x^2}$.

    $$k = a^2 / \sqrt{(1 - 2 b q_1)(1 - 2 b q_2) - 4 b^2 q_{12}^2}$$

    For $b > 0$ the integral exists while $4 b q < 1$; beyond that the kernel is NaN.

    Attributes:
        a: Scale of the output.
        b: Scale of the squared input, negative for a bell.
    """

    a: float = 1.0
    b: float = -1.0

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        a, b = self.a, self.b

        def pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
            spread = (1 - 2 * b * q_1) * (1 - 2 * b * q_2) - (2 * b * q_12) ** 2
            k = a**2 / jnp.sqrt(spread)
            return k, 4 * b**2 * q_12 * k / spread

        return Dual(lambda x: a * jnp.exp(b * x * x), pair, lambda q: pair(q, q, q))


@dataclass(frozen=True)
class ExpNormalized(Pointwise):
    r"""The normalized exponential kernel, known by its kernel alone.

    $$k = \sqrt{q_1 q_2}\; e^{\gamma (\cos\theta + s)}, \qquad
    \dot k = \gamma\, e^{\gamma (\cos\theta + s)}$$

    No function of one variable has this kernel, so that the layer has no finite width.

    Attributes:
        gamma: $\gamma$.
        shift: $s$.

    Reference:
        Shankar et al., "Neural kernels without tangents", ICML 2020.
    """

    gamma: float = 1.0
    shift: float = -1.0

    @property
    def dual(self) -> Dual:
        """The function, which there is not, and the Gaussian integrals."""
        gamma, shift = self.gamma, self.shift

        def pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
            root_1, root_2 = root_or_zero(q_1), root_or_zero(q_2)
            cosine = q_12 * inverse_or_zero(root_1) * inverse_or_zero(root_2)
            grown = jnp.exp(gamma * (cosine + shift))
            return root_1 * root_2 * grown, gamma * grown

        def single(q: Array) -> Values:
            grown = math.exp(gamma * (1 + shift))
            at_zero = gamma * math.exp(gamma * shift)  # a right angle
            return grown * q, jnp.where(q > 0, jnp.full_like(q, gamma * grown), at_zero)

        return Dual(_no_function, pair, single)


def _no_function(x: Array) -> Array:
    del x
    raise NotImplementedError(
        "ExpNormalized is a kernel without a function: the network it would be in has "
        "an infinite width alone. Call `kernel`, `nngp` or `ntk`, or take `Exp` or "
        "`Rbf`, which have both sides."
    )
