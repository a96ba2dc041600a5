r"""Units of a ReLU layer that change sides, and what that makes of the network.

A unit is linear as long as $w_j^\top x$ keeps its sign, so a ReLU network of one hidden
layer differs from its linearization by the units that flipped alone.
"""

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int

from .._types import AnyArray
from .checking import (
    check_at_least,
    check_finite,
    check_not_negative,
    check_positive,
    check_probability,
)


class LargestGap(eqx.Module):
    """The largest linearization error in a ball, and where it is.

    Attributes:
        gap: The error.
        W: Weights that have it.
        num_moved: How many units they move across the hinge.
    """

    gap: float
    W: Float[np.ndarray, "m d"]
    num_moved: int


def near_hinge_count(
    W: Float[AnyArray, "m d"], x: Float[AnyArray, "n d"], threshold: float | int
) -> Int[Array, " n"]:
    r"""Number of units with $|w_j^\top x| \le \tau \|x\|$.

    Args:
        W: Weights, a row a unit.
        x: Inputs, as rows.
        threshold: $\tau$.

    Returns:
        A count for each input.

    Raises:
        ValueError: If something is not finite: NaN is near nothing.

    Reference:
        Telgarsky, "Deep learning theory lecture notes", section 4, in the proof of
        lemma 4.1.
    """
    check_not_negative("threshold", threshold)
    _check_finite(W=W, x=x)
    x = jnp.asarray(x)
    near = jnp.abs(x @ jnp.asarray(W).T) <= threshold * jnp.linalg.norm(
        x, axis=1, keepdims=True
    )
    return jnp.sum(near, axis=1)


def near_hinge_bound(width: int, threshold: float | int, failure: float | int) -> float:
    r"""How many units of a random layer are near the hinge.

    For standard normal weights and a fixed $x$, with probability at least $1 - \delta$
    at most $m \tau + \sqrt{(m / 2) \ln(1 / \delta)}$ units have $|w_j^\top x| \le \tau
    \|x\|$: the chance of one is $2 \Phi(\tau) - 1 \le \tau$, the rest is Hoeffding's
    inequality.

    Args:
        width: $m$.
        threshold: $\tau$.
        failure: $\delta$.

    Returns:
        The bound on the number of units.

    Reference:
        Telgarsky, "Deep learning theory lecture notes", section 4, in the proof of
        lemma 4.1.
    """
    check_at_least("width", width, 1)
    check_not_negative("threshold", threshold)
    check_probability("failure", failure)
    return width * threshold + math.sqrt(width / 2 * math.log(1 / failure))


def flip_count(
    W_0: Float[AnyArray, "m d"], W: Float[AnyArray, "m d"], x: Float[AnyArray, "n d"]
) -> Int[Array, " n"]:
    r"""Number of units that are active for one set of weights and not for the other.

    $$\#\{j : [w_j^\top x > 0] \ne [w_{0,j}^\top x > 0]\}$$

    Args:
        W_0: Weights, a row a unit.
        W: Other weights of the same units.
        x: Inputs, as rows.

    Returns:
        A count for each input; a unit that is exactly 0 is not active.

    Raises:
        ValueError: If something is not finite: NaN is never active.

    Reference:
        Telgarsky, "Deep learning theory lecture notes", section 4, in the proof of
        lemma 4.1.
    """
    _check_finite(W_0=W_0, W=W, x=x)
    x = jnp.asarray(x)
    before, after = (x @ jnp.asarray(weights).T > 0 for weights in (W_0, W))
    return jnp.sum(before != after, axis=1)


def flip_count_bound(radius: float | int, width: int, failure: float | int) -> float:
    r"""How many units can flip for an input, wherever in a ball the weights move.

    A unit that flips was within $\tau$ of the hinge (`near_hinge_bound`), or moved by
    $\tau$, which at most $B^2 / \tau^2$ units can. With $\tau = (B^2 / m)^{1/3}$,

    $$2 B^{2/3} m^{2/3} + \sqrt{(m / 2) \ln(1 / \delta)}$$

    Args:
        radius: $B$, the largest $\|W - W_0\|_F$.
        width: $m$.
        failure: $\delta$, the chance over $W_0$ that it fails.

    Returns:
        The bound on the number of units, never above $m$.

    Reference:
        Telgarsky, "Deep learning theory lecture notes", section 4, in the proof of
        lemma 4.1.
    """
    check_not_negative("radius", radius)
    threshold = (radius**2 / width) ** (1 / 3)
    far = radius ** (2 / 3) * width ** (2 / 3)
    return min(near_hinge_bound(width, threshold, failure) + far, float(width))


def gap_from_flips(
    distance: float | int, num_flips: int, width: int, *, input_norm: float | int = 1.0
) -> float:
    r"""Linearization error of a ReLU network from the number of flipped units.

    $$|f - f_{W_0}| \le \|x\|\, \|W - W_0\|_F \sqrt{\#\text{flips} / m}$$

    for $|a_j| \le 1$, always: a unit that flipped is off by at most as much as it
    moved, and Cauchy-Schwarz adds them up.

    Args:
        distance: $\|W - W_0\|_F$.
        num_flips: How many units flipped for this input.
        width: $m$.
        input_norm: $\|x\|$.

    Returns:
        The bound.

    Reference:
        Telgarsky, "Deep learning theory lecture notes", section 4, in the proof of
        lemma 4.1.
    """
    check_not_negative("distance", distance)
    check_not_negative("num_flips", num_flips)
    check_at_least("width", width, 1)
    return input_norm * distance * math.sqrt(num_flips / width)


def relu_largest_gap(
    W_0: Float[AnyArray, "m d"],
    a: Float[AnyArray, " m"],
    x: Float[AnyArray, " d"],
    radius: float | int,
) -> LargestGap:
    r"""The largest linearization error of a ReLU network in a ball, exactly.

    Only motion along $x$ matters, and a unit at distance $s_j = |w_{0,j}^\top x|$ from
    the hinge that moves $t_j$ towards it errs by $a_j (\|x\| t_j - s_j)_+$. Units of
    one sign of $a_j$ add up; the best $k$ are those nearest the hinge, each moved by
    $B / \sqrt k$:

    $$\sup_{\|W - W_0\|_F \le B} |f - f_{W_0}| = \max_{\pm} \max_k \frac{|a|}{\sqrt m}
      \Big( \|x\| B \sqrt k - \sum_{i \le k} s_{(i)} \Big)$$

    The adversary of `relu_linearization_bound`: it falls as $m^{-1/6}$, so that the
    exponent of that bound cannot be improved.

    Args:
        W_0: Weights at which the network is linearized.
        a: Output weights, all of one magnitude.
        x: One input.
        radius: $B$.

    Returns:
        The supremum, weights that attain it, and how many units they move.

    Raises:
        ValueError: If the output weights are of different magnitudes, `x` is 0, or
            something is not finite.

    Reference:
        The adversary that moves the units nearest the hinge is ours; the bound is
        Telgarsky's, "Deep learning theory lecture notes", lemma 4.1.
    """
    _check_finite(W_0=W_0, a=a, x=x)
    W_0, a, x = (np.asarray(v, np.float64) for v in (W_0, a, x))
    check_not_negative("radius", radius)
    norm, size = float(np.linalg.norm(x)), np.abs(a).max()
    check_positive("the norm of `x`", norm)
    if not np.allclose(np.abs(a), size):
        raise ValueError(
            "The largest gap is known in closed form for output weights of one "
            f"magnitude, got magnitudes from {np.abs(a).min():.3g} to {size:.3g}: "
            "use `search_gap`."
        )
    s = W_0 @ x
    gap, moved = 0.0, np.zeros(0, int)
    for units in (np.flatnonzero(a > 0), np.flatnonzero(a < 0)):
        nearest = units[np.argsort(np.abs(s[units]))]
        k = np.arange(1, len(nearest) + 1)
        reached = norm * radius * np.sqrt(k) - np.cumsum(np.abs(s[nearest]))
        if len(nearest) and reached.max() > gap:
            gap, moved = reached.max(), nearest[: reached.argmax() + 1]
    W = W_0.copy()
    towards = -np.where(s[moved] > 0, 1.0, -1.0)[:, None] * x[None] / norm
    W[moved] += towards * radius / max(len(moved), 1) ** 0.5
    return LargestGap(float(gap * size / len(a) ** 0.5), W, len(moved))


def _check_finite(**arrays: Float[AnyArray, "..."]) -> None:
    for name, array in arrays.items():
        if not isinstance(array, Tracer):
            check_finite(name, array)
