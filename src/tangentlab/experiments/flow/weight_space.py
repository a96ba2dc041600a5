"""Training by gradients alone, which knows nothing of kernels."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy.integrate
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from ..._types import PRNGKey
from ...infinite import Tanh, fc
from ...kernels import gram
from ...models import linearize
from ..stages.points import Points

_TOLERANCE = 1e-13
_PATIENCE = 4.0  # times of the slowest mode, until which flows are followed


class Start(NamedTuple):
    """An initialization.

    Attributes:
        weights: As one vector.
        f_0: Outputs, train then test samples.
        K: Tangent kernel of all samples.
    """

    weights: Float[np.ndarray, " p"]
    f_0: Float[np.ndarray, "k 1"]
    K: Float[np.ndarray, "k k"]


class WeightSpace:
    """A network of one width and its linearization, as functions of one vector."""

    def __init__(self, width: int, points: Points):
        """Compile what all initializations share.

        Args:
            width: Hidden units, of tanh.
            points: Samples and targets.
        """
        model = fc(1, width, activation=Tanh(), weight_std=1.0).model(
            points.x.shape[1:]
        )
        shape = jax.tree.map(
            lambda leaf: jnp.zeros(leaf.shape, leaf.dtype),
            jax.eval_shape(model.init, jax.random.key(0)),
        )
        restore = ravel_pytree(shape)[1]
        x, y = jnp.asarray(points.x), jnp.asarray(points.y)
        samples = jnp.concatenate([x, jnp.asarray(points.x_test)])

        def flat(w: Array, x: Array) -> Array:
            return model.apply(restore(w), x)

        def linear(w: Array, w_0: Array, x: Array) -> Array:
            return linearize(flat, w_0)(w, x)

        def loss(outputs: Array) -> Array:
            return jnp.sum((outputs - y) ** 2) / (2 * len(y))

        def descend(w_0: Array, rate: Array, num_steps: int) -> Array:
            slope = jax.grad(lambda w: loss(linear(w, w_0, x)))
            return jax.lax.fori_loop(
                0, num_steps, lambda _, w: w - rate * slope(w), w_0
            )

        self.points = points
        self.model = model
        self.draw = jax.jit(lambda key: ravel_pytree(model.init(key))[0])
        self.outputs = jax.jit(lambda w: flat(w, samples))
        self.kernel = jax.jit(lambda w: gram(flat, w, samples))
        self.linear_outputs = jax.jit(lambda w, w_0: linear(w, w_0, samples))
        self.linear_slope = jax.jit(jax.grad(lambda w, w_0: loss(linear(w, w_0, x))))
        self.slope = jax.jit(jax.grad(lambda w: loss(flat(w, x))))
        self.descend = jax.jit(descend, static_argnums=2)
        self.restore = restore

    def start(self, key: PRNGKey) -> Start:
        """Draw weights.

        Args:
            key: Draws them.

        Returns:
            The initialization.
        """
        w_0 = self.draw(key)
        parts = (w_0, self.outputs(w_0), self.kernel(w_0))
        return Start(*(np.asarray(part, np.float64) for part in parts))

    def times(self, start: Start, num_times: int) -> Float[np.ndarray, " t"]:
        """Times on the scales of the fastest and of the slowest mode.

        Args:
            start: An initialization.
            num_times: How many.

        Returns:
            The times, growing.
        """
        n = len(self.points.x)
        eigenvalues = np.linalg.eigvalsh(start.K[:n, :n])
        ends = 0.1 * n / eigenvalues[-1], _PATIENCE * n / eigenvalues[0]
        return np.geomspace(*ends, num_times)

    def follow_linearized(
        self, start: Start, times: Float[np.ndarray, " t"]
    ) -> Float[np.ndarray, "t k"]:
        """Solve the gradient flow of the linearization's weights.

        Args:
            start: An initialization.
            times: When to look.

        Returns:
            Outputs of the linearization at these times.
        """
        w_0 = start.weights
        path = _integrate(lambda w: self.linear_slope(w, w_0), w_0, times)
        return np.stack([np.asarray(self.linear_outputs(w, w_0))[:, 0] for w in path])

    def follow_network(self, key: PRNGKey, num_times: int) -> dict[str, np.ndarray]:
        """Solve the gradient flow of the network's weights.

        Args:
            key: Draws the initialization.
            num_times: When to look.

        Returns:
            `times`, the training `loss`, and the `smallest` eigenvalue of the kernel.
        """
        n = len(self.points.x)
        start = self.start(key)
        times = np.r_[0.0, self.times(start, num_times)]
        path = _integrate(self.slope, start.weights, times)
        rest = [np.asarray(self.outputs(w))[:n] - self.points.y for w in path]
        kernels = [np.asarray(self.kernel(w))[:n, :n] for w in path]
        return {
            "times": times,
            "loss": np.array([np.sum(r**2) / (2 * n) for r in rest]),
            "smallest": np.array([np.linalg.eigvalsh(K)[0] for K in kernels]),
        }


def _integrate(
    slope: Callable[[np.ndarray], Array], start: np.ndarray, times: np.ndarray
) -> Float[np.ndarray, "t p"]:
    """Weights at each time, by an adaptive Runge-Kutta method of order 8."""
    found = scipy.integrate.solve_ivp(
        lambda _, w: -np.asarray(slope(w)),
        (0.0, times[-1]),
        start,
        method="DOP853",
        t_eval=times,
        rtol=10 * _TOLERANCE,
        atol=_TOLERANCE,
    )
    if not found.success:
        raise ValueError(
            f"The flow could not be followed to t = {times[-1]:.3g}: {found.message} "
            "Take fewer samples or a wider network."
        )
    return found.y.T
