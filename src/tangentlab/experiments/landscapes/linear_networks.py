"""Deep linear networks: descent from many starts, and chains that leave a saddle."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ... import theory

_IN, _OUT, _SAMPLES = 5, 4, 60
_STRENGTHS = (3.0, 2.0, 1.0, 0.5)


class Descents(NamedTuple):
    """Descents of one depth, one entry a start.

    Attributes:
        losses: At some steps on the way, starts first.
        gradient_norms: At the end.
        minimum: The global minimum of the loss.
    """

    losses: Float[np.ndarray, "s k"]
    gradient_norms: Float[np.ndarray, " s"]
    minimum: float


def descend_networks(
    depth: int, width: int, num_starts: int, num_steps: int, rate: float, seed: int
) -> Descents:
    """Gradient descent of a deep linear network from random starts.

    Inputs are white and targets a noisy linear function of rank 4, more than the width.

    Args:
        depth: Number of weight matrices.
        width: Of all hidden layers.
        num_starts: How many starts.
        num_steps: Number of steps, a multiple of 100.
        rate: Learning rate.
        seed: Draws data and starts.

    Returns:
        The losses every hundredth of the way, and how it ended.
    """
    x, y = _samples(seed)
    sizes = [_IN, *[width] * (depth - 1), _OUT]
    keys = jax.random.split(jax.random.key(seed), num_starts)

    def init(key: Any) -> list[Any]:
        shapes = zip(sizes, sizes[1:], strict=False)
        parts = jax.random.split(key, depth)
        pairs = zip(parts, shapes, strict=True)
        return [jax.random.normal(k, s) * s[0] ** -0.5 for k, s in pairs]

    def loss(weights: list[Any]) -> Any:
        outputs = x
        for W in weights:
            outputs = outputs @ W
        return jnp.sum((outputs - y) ** 2) / (2 * len(x))

    def step(weights: list[Any], _: None) -> tuple[list[Any], None]:
        gradient = jax.grad(loss)(weights)
        return jax.tree.map(lambda w, g: w - rate * g, weights, gradient), None

    def hundredth(weights: list[Any], _: None) -> tuple[list[Any], Any]:
        weights, _ = jax.lax.scan(step, weights, None, length=num_steps // 100)
        return weights, loss(weights)

    @jax.jit
    @jax.vmap
    def descend(key: Any) -> tuple[Any, Any]:
        start = init(key)
        end, losses = jax.lax.scan(hundredth, start, None, length=100)
        squares = [jnp.sum(g**2) for g in jax.grad(loss)(end)]
        return jnp.concatenate([loss(start)[None], losses]), jnp.sqrt(sum(squares))

    losses, norms = descend(keys)
    minimum = theory.linear_network_minimum(np.asarray(x), np.asarray(y), width=width)
    return Descents(np.asarray(losses), np.asarray(norms), minimum)


def escape_time(depth: int, start: float, rate: float) -> float:
    """Time that gradient descent of a chain takes to leave its saddle.

    Args:
        depth: Number of weights.
        start: Value of all of them.
        rate: Learning rate.

    Returns:
        Learning rate times steps until the product of all weights is one half.
    """
    w, steps = np.full(depth, start), 0
    while (product := w.prod()) < 0.5:
        w = w - rate * (product - 1) * product / w
        steps += 1
    return rate * steps


def _samples(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x, _ = np.linalg.qr(rng.normal(size=(_SAMPLES, _IN)))
    x = x * _SAMPLES**0.5
    left, _ = np.linalg.qr(rng.normal(size=(_IN, _OUT)))
    right, _ = np.linalg.qr(rng.normal(size=(_OUT, _OUT)))
    y = x @ (left * np.array(_STRENGTHS)) @ right.T
    return jnp.asarray(x), jnp.asarray(y + 0.3 * rng.normal(size=y.shape))
