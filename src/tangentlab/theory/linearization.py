r"""How far a network of one hidden layer can be from its linearization.

$f(x; W) = m^{-1/2} \sum_j a_j \sigma(w_j^\top x)$ with $|a_j| \le 1$ and
$\|x\| \le 1$; $f_{W_0}$ is its linearization at $W_0$. The bounds are those of the UBC
lecture (CPSC 532S, March 2022), after Telgarsky's notes, section 4.

>>> round(smooth_linearization_bound(2.0, 100, TANH_CURVATURE), 4)
0.154
>>> [round(relu_linearization_bound(1.0, m, 0.05), 2) for m in (100, 10_000)]
[1.54, 0.71]
"""

import math
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import scipy
from jaxtyping import Array, Float

from .._types import AnyArray, Apply, Inputs, Params
from ..models.trees import check_same_leaves, split_differentiable
from .checking import (
    check_at_least,
    check_not_negative,
    check_probability,
)
from .networks import Elementwise

TANH_CURVATURE = 4 / (3 * math.sqrt(3))
r"""The largest $|\tanh''|$, about 0.770."""


def smooth_linearization_bound(
    distance: float | int,
    width: int,
    curvature: float | int,
    *,
    input_norm: float | int = 1.0,
    output_weight: float | int = 1.0,
) -> float:
    r"""Linearization error of a smooth activation, for any weights.

    $$|f(x; W) - f_{W_0}(x; W)| \le \frac{\beta\, a\, \|x\|^2}{2 \sqrt m}
      \|W - W_0\|_F^2$$

    The lecture has $a = \|x\| = 1$. Equality for $\sigma(z) = \beta z^2 / 2$ with equal
    $a_j$ and rows of $W - W_0$ along $x$.

    Args:
        distance: $\|W - W_0\|_F$.
        width: $m$.
        curvature: $\beta$, the largest $|\sigma''|$.
        input_norm: $\|x\|$, or the largest one.
        output_weight: $a$, the largest $|a_j|$.

    Returns:
        The bound.

    Reference:
        The UBC lecture (CPSC 532S, March 2022); Telgarsky, "Deep learning theory
        lecture notes", section 4, proposition 4.1.
    """
    for name, value in (("distance", distance), ("curvature", curvature)):
        check_not_negative(name, value)
    check_at_least("width", width, 1)
    check_not_negative("input_norm", input_norm)
    check_not_negative("output_weight", output_weight)
    scale = curvature * output_weight * input_norm**2
    return scale * distance**2 / (2 * math.sqrt(width))


def relu_linearization_bound(
    radius: float | int, width: int, failure: float | int
) -> float:
    r"""Linearization error of ReLU over a ball around random weights.

    For $W_0$ of independent standard normal entries and a fixed $x$, with probability
    at least $1 - \delta$,

    $$\sup_{\|W - W_0\|_F \le B} |f(x; W) - f_{W_0}(x; W)| \le
      \frac{2 B^{4/3} + B \ln(1/\delta)^{1/4}}{m^{1/6}}$$

    The error is also never above $B$, whatever $W_0$ (`gap_from_flips` with all units).

    Args:
        radius: $B$.
        width: $m$.
        failure: $\delta$.

    Returns:
        The bound.

    Reference:
        Telgarsky, "Deep learning theory lecture notes", lemma 4.1.
    """
    main, chance = _relu_terms(radius, width, failure)
    return 2 * main + chance


def relu_linearization_bound_between(
    radius: float | int, width: int, failure: float | int
) -> float:
    r"""Error of a ReLU network's linearization at any point of a ball, all over it.

    With probability at least $1 - \delta$, for all $V, W$ with distance at most $B$
    from $W_0$: $|f(x; W) - f_V(x; W)| \le m^{-1/6} (6 B^{4/3} + 2 B
    \ln(1/\delta)^{1/4})$, where $f_V$ is the linearization at $V$. (The notes print
    $f_0(x; V)$ for the linearization at $V$ taken at $W$.)

    Args:
        radius: $B$.
        width: $m$.
        failure: $\delta$.

    Returns:
        The bound.

    Reference:
        Telgarsky, "Deep learning theory lecture notes", lemma 4.1.
    """
    main, chance = _relu_terms(radius, width, failure)
    return 6 * main + 2 * chance


def taylor_remainder(
    second_derivative: Callable[[float], float],
    start: float | int,
    end: float | int,
) -> float:
    r"""What a linearization leaves out, as an integral.

    $$\sigma(r) - \sigma(s) - \sigma'(s) (r - s) = \int_s^r \sigma''(z) (r - z)\,dz$$

    The lecture and the notes print $\int_r^s \sigma''(z) (s - z)\,dz$, which is the
    remainder of the expansion about $r$ and differs even in sign. The bound
    $\beta (r - s)^2 / 2$ holds for either.

    Args:
        second_derivative: $\sigma''$ of a number.
        start: $s$, where the function is linearized.
        end: $r$, where it is evaluated.

    Returns:
        The remainder, by adaptive quadrature.

    Reference:
        The UBC lecture (CPSC 532S, March 2022); Telgarsky, "Deep learning theory
        lecture notes", section 4, proposition 4.1.
    """
    value, _ = scipy.integrate.quad(
        lambda z: second_derivative(z) * (end - z), start, end, epsabs=1e-13
    )
    return float(value)


def two_layer_linearization(
    W_0: Float[Array, "m d"],
    W: Float[Array, "m d"],
    a: Float[AnyArray, " m"],
    x: Float[AnyArray, "n d"],
    activation: Elementwise = jax.nn.relu,
) -> Float[Array, "n 1"]:
    r"""The linearization of `two_layer`, written out.

    $$f_{W_0}(x; W) = \frac{1}{\sqrt m} \sum_j a_j \big\{ \sigma(s_j) - \sigma'(s_j) s_j
      + \sigma'(s_j)\, w_j^\top x \big\}, \quad s_j = w_{0,j}^\top x$$

    The lecture prints $\sigma'(w_{0,j})$, without the product with $x$. For ReLU the
    first two terms cancel, and what remains is $\langle \nabla f(x; W_0), W \rangle$.

    Args:
        W_0: Where the network is linearized.
        W: Where its linearization is evaluated.
        a: Output weights.
        x: Inputs, as rows.
        activation: $\sigma$, elementwise.

    Returns:
        What `tl.linearize(two_layer(a, activation), W_0)(W, x)` is.

    Reference:
        The UBC lecture (CPSC 532S, March 2022); Telgarsky, "Deep learning theory
        lecture notes", section 4.
    """
    x = jnp.asarray(x)
    values, slopes = jax.jvp(
        activation, (x @ W_0.T,), (jnp.ones((len(x), len(W_0)), W_0.dtype),)
    )
    units = values + slopes * (x @ (W - W_0).T)
    return (units @ jnp.asarray(a, units.dtype))[:, None] / len(W_0) ** 0.5


def homogeneous_linearization(
    apply: Apply, params_0: Params, degree: float | int
) -> Apply:
    r"""The linearization of a network that is homogeneous in its parameters.

    $$f_{\theta_0}(x; \theta) = \langle \nabla f_{\theta_0}(x), \theta \rangle
      - (L - 1) f_{\theta_0}(x)$$

    by Euler's identity $\langle \nabla f_\theta, \theta \rangle = L f_\theta$ where
    $f_{c \theta} = c^L f_\theta$. A ReLU network without biases has $L$ the number of
    trained layers; with the first layer alone, $L = 1$, it is the lecture's
    $\langle \nabla f, W \rangle$.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params_0: Where it is linearized.
        degree: $L$.

    Returns:
        An `apply`, equal to `tl.linearize(apply, params_0)` for such a network.

    Reference:
        The UBC lecture (CPSC 532S, March 2022), for one layer; the rest is Euler's
        identity.
    """
    params_0 = jax.tree.map(jnp.asarray, params_0)
    start, buffers = split_differentiable(params_0)

    def linear(params: Params, x: Inputs) -> Float[Array, "n c"]:
        check_same_leaves("params", params, "params_0", params_0)
        f_0, along = jax.jvp(
            lambda theta: apply(eqx.combine(theta, buffers), x),
            (start,),
            (split_differentiable(params)[0],),
        )
        return along - (degree - 1) * f_0

    return linear


def _relu_terms(
    radius: float | int, width: int, failure: float | int
) -> tuple[float, float]:
    check_not_negative("radius", radius)
    check_at_least("width", width, 1)
    check_probability("failure", failure)
    main = radius ** (4 / 3) / width ** (1 / 6)
    return main, radius * math.log(1 / failure) ** 0.25 / width ** (1 / 6)
