r"""Gaussian integrals of any function, as a sum of Hermite polynomials.

With $h_l$ the Hermite polynomials of unit norm, $a_l(q) = E[\phi(\sqrt q z)\, h_l(z)]$
and $\rho = q_{12} / \sqrt{q_1 q_2}$, Mehler's formula is

$$k = \sum_l a_l(q_1)\, a_l(q_2)\, \rho^l.$$

The $a_l$ are integrals in one variable, one set for each sample and position, found by
Gauss quadrature on either side of zero, where functions have their corners. A pair then
costs two multiply-adds a term, where a grid in two variables evaluates the function
hundreds of times.

What the first $L$ terms leave out is known, $r^2 = E[\phi^2] - \sum_{l < L} a_l^2$, for
the even and the odd part each. That remainder is put at the first power left out. The
kernel is then right to rounding where $\rho = \pm 1$ and $q_1 = q_2$, and nowhere off
by more than $r(q_1)\, r(q_2)\, |\rho|^L$.
"""

import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from ..._linalg import HIGHEST
from .angles import inverse_or_zero, root_or_zero
from .dual import Dual, Function, Values

_NUM_NODES = 128
_REACH = 13.0  # standard deviations; the root of the density is 4e-19 there


class Terms(NamedTuple):
    """Hermite coefficients of a function at some variances, the remainder's root last.

    Attributes:
        even: Of the even polynomials.
        odd: Of the odd ones.
    """

    even: Float[Array, "terms ..."]
    odd: Float[Array, "terms ..."]


def hermite_dual(fn: Function, num_terms: int) -> Dual:
    """The dual of any function.

    Args:
        fn: The function; its derivative comes from JAX.
        num_terms: Number of Hermite polynomials, half of them even and half odd.

    Returns:
        The record.
    """
    slope = derivative(fn)

    def pair(q_12: Array, q_1: Array, q_2: Array) -> Values:
        roots = root_or_zero(q_1), root_or_zero(q_2)
        rho = q_12 * inverse_or_zero(roots[0]) * inverse_or_zero(roots[1])
        values = []
        for function in (fn, slope):
            first, second = (terms(function, root, num_terms) for root in roots)
            values.append(_summed(first, second, rho))
        return values[0], values[1]

    def single(q: Array) -> Values:
        root = root_or_zero(q)
        return mean_square(fn, root), mean_square(slope, root)

    return Dual(fn, pair, single)


def derivative(fn: Function) -> Function:
    """The derivative of an elementwise function.

    Args:
        fn: The function.

    Returns:
        Its derivative, elementwise too.
    """
    return lambda x: jax.jvp(fn, (x,), (jnp.ones_like(x),))[1]


def terms(fn: Function, root: Float[Array, "..."], num_terms: int) -> Terms:
    """Hermite coefficients of a function of Gaussian variables.

    Args:
        fn: The function.
        root: Standard deviations.
        num_terms: Number of polynomials.

    Returns:
        The coefficients.
    """
    nodes, weights = _half_line(_NUM_NODES)
    rows = weights * _polynomials(num_terms, _NUM_NODES)
    parts = []
    for parity, half in enumerate(_halves(fn, root, nodes)):
        found = _weighted(rows[parity::2], half)
        whole = _weighted(weights[None], half * half)[0] / 2
        left = root_or_zero(whole - jnp.sum(found * found, axis=0))
        parts.append(jnp.concatenate([found, left[None]]))
    return Terms(*parts)


def mean_square(
    fn: Function, root: Float[Array, "..."], num_nodes: int = _NUM_NODES
) -> Float[Array, "..."]:
    """The mean of the square of a function of Gaussian variables.

    Args:
        fn: The function.
        root: Standard deviations.
        num_nodes: Points on either side of zero.

    Returns:
        One mean for each of them.
    """
    nodes, weights = _half_line(num_nodes)
    even, odd = _halves(fn, root, nodes)
    return _weighted(weights[None], even * even + odd * odd)[0] / 2


def largest_error(
    fn: Function, root: Float[Array, "..."], num_terms: int
) -> Float[Array, "..."]:
    """How far off the kernel may be at most, whatever the covariance.

    Args:
        fn: The function.
        root: Standard deviations of both variables.
        num_terms: Number of polynomials.

    Returns:
        What the terms leave out, and what a finer quadrature changes.
    """
    remainders = sum(part[-1] ** 2 for part in terms(fn, root, num_terms))
    finer = mean_square(fn, root, 2 * _NUM_NODES)
    return remainders + jnp.abs(mean_square(fn, root) - finer)


def _summed(first: Terms, second: Terms, rho: Array) -> Array:
    squared = rho * rho
    even, odd = jnp.zeros_like(rho), jnp.zeros_like(rho)
    for i in range(len(first.even) - 1, -1, -1):
        even = even * squared + first.even[i] * second.even[i]
        odd = odd * squared + first.odd[i] * second.odd[i]
    return even + rho * odd


def _halves(fn: Function, root: Array, nodes: np.ndarray) -> tuple[Array, Array]:
    """Sum and difference of the function at either side of zero, a node a row."""
    z = jnp.asarray(nodes.reshape(-1, *[1] * root.ndim), root.dtype)
    above, below = fn(z * root[None]), fn(-z * root[None])
    return above + below, above - below


def _weighted(rows: np.ndarray, values: Array) -> Array:
    return jnp.tensordot(jnp.asarray(rows, values.dtype), values, 1, precision=HIGHEST)


@functools.cache
def _half_line(num_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes, and weights with the Gaussian density, over the positive half."""
    x, w = np.polynomial.legendre.leggauss(num_nodes)
    nodes = _REACH * (x + 1) / 2
    density = np.exp(-(nodes**2) / 2) / math.sqrt(2 * math.pi)
    return nodes, w * _REACH / 2 * density


@functools.cache
def _polynomials(num_terms: int, num_nodes: int) -> np.ndarray:
    """Hermite polynomials of unit norm at the nodes, a row each."""
    nodes, _ = _half_line(num_nodes)
    rows = [np.ones_like(nodes), nodes]
    for i in range(1, num_terms - 1):
        above = nodes * rows[i] - math.sqrt(i) * rows[i - 1]
        rows.append(above / math.sqrt(i + 1))
    return np.stack(rows)
