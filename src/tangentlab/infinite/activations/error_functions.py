r"""Activations made of the error function: erf, its sigmoid, and the exact gelu."""

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array

from ..nonlinear import Pointwise
from .angles import arctangent, root_determinant
from .dual import Dual, Values

_SIGMOID_WIDTH = 2.4020563531719796
"""For which erf is nearest to the logistic function on [-5, 5], in mean square."""


@dataclass(frozen=True)
class Erf(Pointwise):
    r"""An affine error function, $a\, \mathrm{erf}(b x) + c$.

    $$k = \frac{2 a^2}{\pi} \arcsin \frac{2 b^2 q_{12}}
    {\sqrt{(1 + 2 b^2 q_1)(1 + 2 b^2 q_2)}} + c^2$$

    Attributes:
        a: Scale of the output.
        b: Scale of the input.
        c: Shift of the output.

    Reference:
        Williams, "Computing with infinite networks", NeurIPS 1996.
    """

    a: float = 1.0
    b: float = 1.0
    c: float = 0.0

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return affine_erf(self.a, self.b, self.c)


@dataclass(frozen=True)
class SigmoidLike(Pointwise):
    r"""$\frac12 \mathrm{erf}(x / 2.402) + \frac12$, within 0.02 of a sigmoid.

    The logistic sigmoid itself has no closed form: `Elementwise(jax.nn.sigmoid)`.
    """

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return affine_erf(0.5, 1 / _SIGMOID_WIDTH, 0.5)


@dataclass(frozen=True)
class Gelu(Pointwise):
    r"""The exact gelu, $x\, \Phi(x)$ with the Gaussian distribution function.

    With $\delta = \sqrt{(1 + q_1)(1 + q_2) - q_{12}^2}$,

    $$k = \frac{q_{12}}{4} + \frac{1}{2\pi} \left( \frac{q_{12}^2 + q_1 q_2 \delta^2}
    {(1 + q_1)(1 + q_2)\,\delta} + q_{12} \arctan \frac{q_{12}}{\delta} \right)$$

    Both sides are exact, the network and the kernel. The approximation by a hyperbolic
    tangent, which `jax.nn.gelu` takes unless told otherwise, is `GeluTanh`.

    Reference:
        Tsuchida et al., "Avoiding kernel fixed points", AAAI 2021.
    """

    @property
    def dual(self) -> Dual:
        """The function and its Gaussian integrals."""
        return Dual(_gelu, _gelu_pair, lambda q: _gelu_pair(q, q, q))


def affine_erf(a: float, b: float, c: float) -> Dual:
    """The dual of `Erf`.

    Args:
        a: Scale of the output.
        b: Scale of the input.
        c: Shift of the output.

    Returns:
        The record.
    """
    height, slope = 2 * a**2 / math.pi, 4 * (a * b) ** 2 / math.pi

    def fn(x: Array) -> Array:
        return a * jax.scipy.special.erf(b * x) + c

    def pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
        y, v_1, v_2 = 2 * b**2 * q_12, 1 + 2 * b**2 * q_1, 1 + 2 * b**2 * q_2
        root = root_determinant(y, v_1, v_2)
        turned = arctangent(y, root, jnp.sqrt(v_1) * jnp.sqrt(v_2))
        return height * turned + c**2, slope / root

    return Dual(fn, pair, lambda q: pair(q, q, q))


def _gelu(x: Array) -> Array:
    return jax.nn.gelu(x, approximate=False)


def _gelu_pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
    v_1, v_2 = 1 + q_1, 1 + q_2
    root = root_determinant(q_12, v_1, v_2)
    turned = arctangent(q_12, root, jnp.sqrt(v_1) * jnp.sqrt(v_2))
    cotangent = q_12 / root
    share = (q_1 / v_1) * (q_2 / v_2)
    rest = (1 / v_1) * (1 / v_2)
    k = q_12 / 4 + (share * root + rest * q_12 * cotangent + q_12 * turned) / (
        2 * math.pi
    )
    bend = 1 / (root * root) + 1 + rest - share
    return k, 0.25 + (turned + cotangent * bend) / (2 * math.pi)
