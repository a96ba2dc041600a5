r"""Gradient flow of a network with scaled output, beside that of its linearization.

$F_\alpha(w) = \alpha^{-2} R(\alpha h(w))$: as $\alpha$ grows, weights move less while
outputs move as before, and training becomes that of the linearization.
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from .._types import AnyArray, Apply, Inputs, Params
from ..models import check_apply, linearize
from .checking import check_at_least, check_positive
from .vectors import flatten


class LazyScaling(eqx.Module):
    r"""How a flow and its linearization differ, for each scale $\alpha$.

    Suprema over the times of the run; outputs are measured in root mean square over
    samples.

    Attributes:
        scales: $\alpha$.
        weight_distance: $\sup_t \|w_\alpha - w_0\|$, in $O(1 / \alpha)$.
        weight_gap: $\sup_t \|w_\alpha - \bar w_\alpha\|$, in $O(1 / \alpha^2)$.
        output_gap: $\sup_t \|\alpha h(w_\alpha) - \alpha \bar h(\bar w_\alpha)\|$, in
            $O(1 / \alpha)$.
    """

    scales: Float[Array, " k"]
    weight_distance: Float[Array, " k"]
    weight_gap: Float[Array, " k"]
    output_gap: Float[Array, " k"]


def scaled_flows(
    apply: Apply,
    params_0: Params,
    x: Inputs,
    y: Float[AnyArray, "n c"],
    scales: Float[AnyArray, " k"],
    *,
    horizon: float | int,
    num_steps: int = 200,
) -> LazyScaling:
    r"""Follow both flows from the same start, for several output scales.

    $$\dot w = -\nabla F_\alpha(w) = -\frac1\alpha D h(w)^\top \frac{\alpha h(w) -
      y}{n}$$

    for the mean square loss $R(f) = \frac1{2 n} \|f - y\|^2$, and likewise $\bar w$
    with the linearization $\bar h$. Where $h(w_0) = 0$ (see `doubled`) and the horizon
    is fixed, the three distances fall as stated in `LazyScaling` or faster: for doubled
    networks the outputs' gap falls as $\alpha^{-2}$, its first-order term cancels.

    Args:
        apply: The network $h$, `apply(params, x) -> (n, c)`.
        params_0: Start of both flows, and where the network is linearized.
        x: Samples along a leading axis.
        y: Targets.
        scales: The $\alpha$.
        horizon: Until which time; outputs of mode $j$ are fitted to $e^{-t \mu_j / n}$.
        num_steps: Steps of Runge and Kutta's fourth-order method.

    Returns:
        The distances for each scale.

    Raises:
        ValueError: If the targets do not have the shape of the outputs, a scale is not
            positive, or the steps are too long for the flow.

    Reference:
        Chizat, Oyallon and Bach, "On lazy training in differentiable programming",
        NeurIPS 2019, theorem 2.2.
    """
    check_apply(apply, params_0, x)
    check_positive("horizon", horizon)
    check_at_least("num_steps", num_steps, 1)
    _check_targets(y, jax.eval_shape(apply, params_0, x).shape, scales)
    center, restore = flatten(params_0)
    y = jnp.asarray(y, center.dtype)

    def outputs_of(network: Apply) -> Callable[[Array], Array]:
        return lambda w: network(restore(w), x)

    h, linear = outputs_of(apply), outputs_of(linearize(apply, params_0))

    def velocity(function: Callable[[Array], Array], w: Array, scale: Array) -> Array:
        values, pull = jax.vjp(function, w)
        return -pull((scale * values - y) / len(y))[0] / scale

    def distances(w: Array, bar: Array, scale: Array) -> Array:
        apart = scale * (h(w) - linear(bar))
        norms = w - center, w - bar, apart / len(y) ** 0.5
        return jnp.stack([jnp.sqrt(jnp.sum(d**2)) for d in norms])

    def run(scale: Array) -> Array:
        def step(state, _):
            w, bar, largest = state
            w = _advance(lambda v: velocity(h, v, scale), w, horizon / num_steps)
            bar = _advance(
                lambda v: velocity(linear, v, scale), bar, horizon / num_steps
            )
            return (w, bar, jnp.maximum(largest, distances(w, bar, scale))), None

        begin = center, center, jnp.zeros(3, center.dtype)
        return jax.lax.scan(step, begin, None, length=num_steps)[0][2]

    scales = jnp.asarray(scales, center.dtype)
    found = jax.jit(lambda scales: jax.lax.map(run, scales))(scales)
    _check_followed(found, horizon, num_steps)
    return LazyScaling(scales, *found.T)


def equivalent_weight_scale(scale: float | int, degree: float | int) -> float:
    r"""The scale of weights that does to a homogeneous network what $\alpha$ does.

    $h(c w) = c^q h(w)$, so that an output scale $\alpha$ is a weight scale
    $\alpha^{1/q}$.

    Args:
        scale: $\alpha$.
        degree: $q$, such as the number of layers of a ReLU network without biases.

    Returns:
        $\alpha^{1/q}$.

    Reference:
        Chizat, Oyallon and Bach, "On lazy training in differentiable programming",
        NeurIPS 2019.
    """
    check_positive("scale", scale)
    check_positive("degree", degree)
    return scale ** (1 / degree)


def _check_targets(y, shape: tuple[int, ...], scales) -> None:
    if jnp.shape(y) != shape:
        raise ValueError(
            f"`y` must have the shape of the outputs, {shape}, got {jnp.shape(y)}: one "
            "column for each output."
        )
    if not isinstance(scales, Tracer) and not (np.asarray(scales) > 0).all():
        raise ValueError(f"`scales` must be positive numbers, got {scales}.")


def _check_followed(found: Array, horizon: float | int, num_steps: int) -> None:
    if not isinstance(found, Tracer) and not bool(jnp.isfinite(found).all()):
        raise ValueError(
            f"The flow left all numbers within {num_steps} steps of "
            f"{horizon / num_steps:.3g}: raise `num_steps`, or lower `horizon`."
        )


def _advance(
    velocity: Callable[[Array], Array], w: Float[Array, " p"], time: float
) -> Float[Array, " p"]:
    """Return the state after one step of the classical Runge-Kutta method."""
    k_1 = velocity(w)
    k_2 = velocity(w + time / 2 * k_1)
    k_3 = velocity(w + time / 2 * k_2)
    k_4 = velocity(w + time * k_3)
    return w + time / 6 * (k_1 + 2 * k_2 + 2 * k_3 + k_4)
