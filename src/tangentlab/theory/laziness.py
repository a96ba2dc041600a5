r"""Will this network train lazily? Chizat and Bach's criterion, by products.

A network is lazy if it fits the targets before its derivative changes: the relative
change of $Dh$ along the way to the targets is about

$$\kappa_h(w_0) = \|h(w_0) - y\|\; \|D^2 h(w_0)\| \,/\, \|D h(w_0)\|^2 \ll 1$$

where $h(w)$ holds the outputs at all samples. The same in the Euclidean norm of
$\mathbb R^n$ and in the mean square: factors of $n$ cancel.

Reference: Chizat, Oyallon and Bach, "On lazy training in differentiable programming",
NeurIPS 2019, section 1.1.
"""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._types import AnyArray, Apply, Inputs, Params, PRNGKey
from ..kernels import kernel_product
from ..models import check_apply
from ..spectra import leading_pairs
from .checking import check_at_least, check_not_negative, check_positive
from .vectors import flatten, unit

_TOLERANCE, _ROUGH_TOLERANCE = 1e-8, 1e-4  # of products in float64, in float32


class Laziness(eqx.Module):
    r"""The criterion and what it is made of, Euclidean norms over samples and outputs.

    Attributes:
        kappa: $\kappa$; far below 1 means lazy.
        residual_norm: $\|\alpha h(w_0) - y\|$.
        derivative_norm: $\|D h(w_0)\|$, before scaling.
        second_derivative_norm: $\|D^2 h(w_0)\|$, before scaling; a lower limit.
        scale: $\alpha$.
    """

    kappa: float
    residual_norm: float
    derivative_norm: float
    second_derivative_norm: float
    scale: float


def laziness_criterion(
    residual_norm: float | int,
    derivative_norm: float | int,
    second_derivative_norm: float | int,
    *,
    scale: float | int = 1.0,
) -> float:
    r"""Chizat and Bach's $\kappa$ of a network whose output is multiplied by $\alpha$.

    $$\kappa_{\alpha h} = \frac1\alpha \|\alpha h(w_0) - y\|\, \|D^2 h\| / \|D h\|^2$$

    With $h(w_0) = 0$ it falls as $1 / \alpha$: laziness wants a *large* output scale.
    (That a small scale "zooms in", as the UBC lecture has it, is right for the relative
    motion of weights alone.) For a network that is homogeneous of degree $q$, the scale
    $\alpha$ of outputs is the scale $\alpha^{1/q}$ of weights.

    Args:
        residual_norm: $\|\alpha h(w_0) - y\|$, of the scaled outputs.
        derivative_norm: $\|D h(w_0)\|$, of the unscaled network.
        second_derivative_norm: $\|D^2 h(w_0)\|$, of the unscaled network.
        scale: $\alpha$.

    Returns:
        $\kappa$.

    Reference:
        Chizat, Oyallon and Bach, "On lazy training in differentiable programming",
        NeurIPS 2019, section 1.1.
    """
    check_not_negative("residual_norm", residual_norm)
    check_positive("derivative_norm", derivative_norm)
    check_not_negative("second_derivative_norm", second_derivative_norm)
    check_positive("scale", scale)
    return residual_norm * second_derivative_norm / (scale * derivative_norm**2)


def laziness_of(
    apply: Apply,
    params: Params,
    x: Inputs,
    y: Float[AnyArray, "n c"],
    *,
    key: PRNGKey,
    scale: float | int = 1.0,
    num_starts: int = 8,
    num_steps: int = 50,
) -> Laziness:
    r"""Measure Chizat and Bach's $\kappa$ of any network on any samples.

    Products with first and second derivatives alone: neither a Jacobian nor a Hessian
    is formed. Kinks have no second derivative, so that of a ReLU network one sees what
    is between layers only, and nothing with the first layer alone.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where training starts.
        x: Samples along a leading axis.
        y: Targets.
        key: Draws the starts of the search for the second derivative's norm.
        scale: $\alpha$, by which outputs are multiplied.
        num_starts: As in `second_derivative_norm`.
        num_steps: Likewise.

    Returns:
        The criterion and its parts.

    Raises:
        ValueError: If the targets do not have the shape of the outputs.

    Reference:
        Chizat, Oyallon and Bach, "On lazy training in differentiable programming",
        NeurIPS 2019, section 1.1.
    """
    outputs = apply(params, x)
    if jnp.shape(y) != outputs.shape:
        raise ValueError(
            f"`y` must have the shape of the outputs, {outputs.shape}, got "
            f"{jnp.shape(y)}: one column for each output."
        )
    residual = float(jnp.linalg.norm(scale * outputs - jnp.asarray(y, outputs.dtype)))
    first = derivative_norm(apply, params, x)
    second = second_derivative_norm(
        apply, params, x, key=key, num_starts=num_starts, num_steps=num_steps
    )
    kappa = laziness_criterion(residual, first, second, scale=scale)
    return Laziness(kappa, residual, first, second, scale)


def derivative_norm(apply: Apply, params: Params, x: Inputs) -> float:
    r"""Operator norm of the derivative of all outputs, $\|D h\| = \sqrt{\mu_1}$.

    $\mu_1$ is the largest eigenvalue of the kernel between all samples and outputs,
    found by products with it.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: Samples along a leading axis.

    Returns:
        The norm.

    Reference:
        Chizat, Oyallon and Bach, "On lazy training in differentiable programming",
        NeurIPS 2019, section 1.1.
    """
    outputs = jax.eval_shape(apply, params, x)
    (n, c), dtype = outputs.shape, outputs.dtype

    def product(V: np.ndarray) -> np.ndarray:
        v = V.astype(dtype).reshape(n, c, V.shape[1])
        made = kernel_product(apply, params, x, None, v, outputs="full")
        return np.asarray(made, np.float64).reshape(V.shape)

    epsilon = float(jnp.finfo(dtype).eps)
    tolerance = _TOLERANCE if epsilon < 1e-12 else _ROUGH_TOLERANCE
    found = leading_pairs(product, n * c, 1, tolerance=tolerance, epsilon=epsilon)
    return math.sqrt(max(float(found.eigenvalues[0]), 0.0))


def second_derivative_norm(
    apply: Apply,
    params: Params,
    x: Inputs,
    *,
    key: PRNGKey,
    num_starts: int = 8,
    num_steps: int = 50,
) -> float:
    r"""Operator norm of the second derivative of all outputs.

    $$\|D^2 h\| = \max_{\|u\| = \|v\| = \|w\| = 1} \langle u, D^2 h[v, w] \rangle$$

    Alternating maximization: each of $u, v, w$ in turn is the best one given the other
    two, one Hessian product each, so the value never falls. With one output at one
    sample this is a power iteration and finds the largest eigenvalue in magnitude; in
    general it may stop at a local maximum, and the result is the largest over starts.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: Samples along a leading axis.
        key: Draws the starts.
        num_starts: How many.
        num_steps: Rounds from each.

    Returns:
        The norm, from below.

    Reference:
        Chizat, Oyallon and Bach, "On lazy training in differentiable programming",
        NeurIPS 2019, section 1.1.
    """
    check_apply(apply, params, x)
    check_at_least("num_starts", num_starts, 1)
    check_at_least("num_steps", num_steps, 1)
    center, restore = flatten(params)

    def slope(theta: Float[Array, " p"], v: Float[Array, " p"]) -> Float[Array, "n c"]:
        return jax.jvp(lambda theta: apply(restore(theta), x), (theta,), (v,))[1]

    def pair(v, w):  # D^2 h [v, w]
        return jax.jvp(lambda theta: slope(theta, v), (center,), (w,))[1]

    def against(u, v):  # the Hessian of <u, h>, times v
        return jax.grad(lambda theta: jnp.vdot(u, slope(theta, v)))(center)

    def one(key):
        v, w = (unit(r) for r in jax.random.normal(key, (2, center.size), center.dtype))

        def round_(_, state):
            v, w, _ = state
            u = unit(pair(v, w))
            v = unit(against(u, w))
            along = against(u, v)
            return v, unit(along), jnp.linalg.norm(along)

        zero = jnp.zeros((), center.dtype)
        return jax.lax.fori_loop(0, num_steps, round_, (v, w, zero))[2]

    search = jax.jit(jax.vmap(one))
    return float(search(jax.random.split(key, num_starts)).max())
