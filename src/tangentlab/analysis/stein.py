r"""Theorem 1, measured: alignment with a linear target is a mixed second derivative.

$$\alpha(g_u) = \big\|E_x[u^\top x\,\nabla_\theta f_\theta(x)]\big\|^2
  = \big\|E_x[\nabla^2_{x,\theta} f_\theta(x)]\,u\big\|^2, \quad
  x \sim \mathcal N(0, I), \; g_u(x) = u^\top x$$

The squared norm of a sample mean is too large by the variance of that mean. Both sides
are estimated without that bias, by inner products of means over disjoint groups of
samples.

The left side is nearly all noise where $u$ is one of thousands of directions. So each
sample is taken there with its mirror image across the plane normal to $u$, which is as
likely: what $\nabla_\theta f$ has in common at both cancels. What noise is left would
be that of the mean of $(u^\top x)^2$. So the samples of a group are stratified along
$u$, one in each of equally likely slabs. Each sample alone is still Gaussian, and
groups stay independent of each other.
"""

from collections.abc import Callable
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import ndtri

from .._linalg import blocks
from .._types import AnyArray, Apply, Params, PRNGKey
from ..kernels.selection import Selection, select
from ..models import check_apply
from .mixed_derivatives import (
    check_one_output,
    mixed_derivative,
    weighted_gradient,
)

_CHUNK = 512  # samples through the network at once, and their images
_LEAST = 4  # groups of samples
_TINY = 2.0**-24  # from the ends of a slab, so that no sample is infinitely far


class SteinSides(eqx.Module):
    r"""Both sides of Theorem 1 for each direction, on the same samples.

    The left side is of their mirror images, too.

    Attributes:
        alignment: Left side, $\|E[u^\top x\,\nabla_\theta f]\|^2$, unbiased.
        alignment_error: Its standard error (jackknife over groups).
        derivative: Right side, $\|E[\nabla^2_{x,\theta} f]\,u\|^2$, unbiased.
        derivative_error: Its standard error.
        difference: Left less right.
        difference_error: Its standard error, smaller than both where they share noise.
    """

    alignment: Float[np.ndarray, " k"]
    alignment_error: Float[np.ndarray, " k"]
    derivative: Float[np.ndarray, " k"]
    derivative_error: Float[np.ndarray, " k"]
    difference: Float[np.ndarray, " k"]
    difference_error: Float[np.ndarray, " k"]


def stein_sides(
    apply: Apply,
    params: Params,
    directions: Float[AnyArray, "k ..."],
    num: int,
    *,
    key: PRNGKey,
    num_groups: int = 32,
) -> SteinSides:
    """Both sides of Theorem 1 by Monte Carlo, with standard errors.

    Keeps two vectors like the parameters for each group of samples.

    Args:
        apply: The network with one output, `apply(params, x) -> (n, 1)`.
        params: Where to differentiate it.
        directions: Directions of input space, of the shape of a sample; both sides
            grow with their squared norm.
        num: How many Gaussian samples, rounded up to full groups; their mirror images
            come on top.
        key: Draws them.
        num_groups: How many groups they are cut into.

    Returns:
        Both sides and their difference.

    Raises:
        ValueError: If the network has several outputs, or there are too few groups or
            samples.

    Reference:
        The paper, Theorem 1, whose two sides are written out at the top of this module.
    """
    U = np.asarray(directions)
    if U.ndim < 2 or 0 in U.shape:
        raise ValueError(
            "`directions` must hold directions of the shape of a sample along a "
            f"leading axis, got shape {U.shape}: add the axis with `u[None]`."
        )
    if num_groups < _LEAST or num < num_groups:
        raise ValueError(
            f"Errors take at least {_LEAST} groups and a sample in each, got "
            f"num_groups={num_groups} and num={num}."
        )
    chosen = select(params)
    dtype = chosen.leaves[0].dtype
    units, sizes = _normalized(U)
    units = jnp.asarray(units, dtype)
    check_apply(apply, params, units)
    check_one_output(apply, params, units)
    each = -(-num // num_groups)
    means = jax.jit(partial(_both_sums, apply, chosen))
    keys = jax.random.split(key, num_groups)
    sides = [_group_products(means, chosen, keys, unit, each) for unit in units]
    squares = sizes[:, None, None] ** 2
    left, right = (np.stack([side[i] for side in sides]) * squares for i in range(2))
    found = [_jackknife(H) for H in (left, right, left - right)]
    return SteinSides(*(array for pair in found for array in pair))


def _normalized(U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions of length 1, or 0, and lengths: both sides are quadratic in them."""
    U = U.astype(np.float64)
    sizes = np.linalg.norm(U.reshape(len(U), -1), axis=1)
    return U / np.where(sizes == 0, 1, sizes).reshape(-1, *[1] * (U.ndim - 1)), sizes


def _both_sums(
    apply: Apply, chosen: Selection, leaves: list[Array], x: Array, unit: Array
) -> tuple[list[Array], list[Array]]:
    """Sums over samples of what either side is the mean of."""

    def gradient(x: Array) -> list[Array]:
        ones = jnp.ones(len(x), x.dtype)
        return weighted_gradient(apply, chosen, leaves, x, ones)

    along = _along(x, unit)
    both = jnp.concatenate([x, _moved(x, -2 * along, unit)])
    weights = jnp.concatenate([along, -along]) / 2
    left = weighted_gradient(apply, chosen, leaves, both, weights)
    return left, mixed_derivative(gradient, x, unit)


def _along(x: Array, unit: Array) -> Array:
    """How far samples lie along a direction; no product that a GPU rounds."""
    return (x * unit[None]).reshape(len(x), -1).sum(axis=1)


def _moved(x: Array, steps: Array, unit: Array) -> Array:
    """Samples, each moved by its own step along a direction."""
    return x + steps.reshape(-1, *[1] * unit.ndim) * unit[None]


def _group_products(
    sums: Callable, chosen: Selection, keys: Array, unit: Array, each: int
) -> list[Float[np.ndarray, "g g"]]:
    """Inner products between the means of groups, for either side."""
    vectors: list[list[np.ndarray]] = [[], []]
    for key in keys:
        x = _stratified(key, each, unit)
        totals = [np.zeros(()), np.zeros(())]
        for rows in blocks(each, _CHUNK):
            for i, made in enumerate(sums(chosen.leaves, x[rows], unit)):
                flat = [np.asarray(g, np.float64).ravel() for g in made]
                totals[i] = totals[i] + np.concatenate(flat)
        for side, total in zip(vectors, totals, strict=True):
            side.append(total / each)
    return [np.stack(side) @ np.stack(side).T for side in vectors]


def _stratified(key: PRNGKey, num: int, unit: Array) -> Array:
    """Gaussian samples, one in each of equally likely slabs across a direction."""
    whole, order, within = jax.random.split(key, 3)
    x = jax.random.normal(whole, (num, *unit.shape), unit.dtype)
    slabs = np.asarray(jax.random.permutation(order, num))
    places = np.asarray(jax.random.uniform(within, (num,)), np.float64)
    along = ndtri((slabs + places.clip(_TINY, 1 - _TINY)) / num)
    return _moved(x, jnp.asarray(along, unit.dtype) - _along(x, unit), unit)


def _jackknife(
    H: Float[np.ndarray, "k g g"],
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Mean over pairs of different groups, and its standard error."""
    g = H.shape[1]
    own = np.trace(H, axis1=1, axis2=2)
    pairs = H.sum(axis=(1, 2)) - own
    partners = H.sum(axis=2) - np.diagonal(H, axis1=1, axis2=2)
    without = (pairs[:, None] - 2 * partners) / ((g - 1) * (g - 2))
    spread = ((without - without.mean(axis=1)[:, None]) ** 2).sum(axis=1)
    return pairs / (g * (g - 1)), np.sqrt((g - 1) / g * spread)
