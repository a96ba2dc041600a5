"""Closed forms of the kernel beside what training in weight space gave."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from ... import predict
from ..._types import PRNGKey
from .weight_space import Start, WeightSpace

_TOO_FAST, _FAST_STEPS = 1.05, 400


def compare(
    space: WeightSpace, key: PRNGKey, num_steps: int, num_times: int, num_ridges: int
) -> dict[str, Any]:
    """Everything that is compared for one initialization.

    Args:
        space: The network.
        key: Draws the initialization.
        num_steps: Steps of gradient descent.
        num_times: Times of the flow.
        num_ridges: Ridges.

    Returns:
        Arrays by name; those with `error` in it are relative differences.
    """
    start = space.start(key)
    K = predict.split_kernel(start.K, len(space.points.x))
    ended = _descend(space, start, K, num_steps)
    return {
        **ended,
        **_flow(space, start, K, num_times),
        **_ridges(space, start, K, num_ridges, ended["limit_outputs"]),
    }


def _descend(
    space: WeightSpace, start: Start, K: predict.Blocks, num_steps: int
) -> dict[str, Any]:
    """Gradient descent in weight space, and where the kernel says it ends."""
    points, n = space.points, len(space.points.x)
    y, f_0 = points.y[:, 0], start.f_0[:, 0]
    limit = predict.max_learning_rate(K.train)
    w_0 = jnp.asarray(start.weights)
    end = np.asarray(space.descend(w_0, limit / 2, num_steps))
    outputs = np.asarray(space.linear_outputs(end, w_0))[:, 0]
    fitted = predict.ridgeless(K.train, y, f_0=f_0[:n])
    theta = predict.weights(
        space.model.apply, space.restore(w_0), jnp.asarray(points.x), fitted
    )
    expected = np.asarray(ravel_pytree(theta)[0])
    predicted = predict.evaluate(fitted, K.test_train, f_0[n:])
    residual = y - f_0[:n]
    norm = float(residual @ np.linalg.solve(K.train, residual))
    moved = end - start.weights
    faster = np.asarray(space.descend(w_0, _TOO_FAST * limit, _FAST_STEPS))
    wild = np.asarray(space.linear_outputs(faster, w_0))[:n, 0] - y
    bare = predict.evaluate(predict.ridgeless(K.train, y), K.test_train)
    return {
        "interpolation_error": _apart(outputs[:n], y),
        "weights_error": _apart(end - start.weights, expected - start.weights),
        "prediction_error": _apart(outputs[n:], predicted),
        "norm_error": abs(float(moved @ moved) / norm - 1),
        "bare_prediction": _apart(bare, predicted),
        "growth": np.linalg.norm(wild) / np.linalg.norm(residual),
        "limit_outputs": outputs[n:],
    }


def _flow(
    space: WeightSpace, start: Start, K: predict.Blocks, num_times: int
) -> dict[str, np.ndarray]:
    """The flow by an ODE in weight space, and by both exponents."""
    n, y = len(space.points.x), space.points.y[:, 0]
    times = space.times(start, num_times)
    solved = space.follow_linearized(start, times)
    f_0 = start.f_0[:, 0]
    right, wrong = (
        _outputs(K, y, f_0, n, factor * times) for factor in (1, n)
    )  # exp(-tK) is exp(-n t K / n)
    size = _size(y - f_0[:n])
    return {
        "times": times,
        "solved": solved,
        "closed": right,
        "summed": wrong,
        "flow_error": np.abs(solved - right).max(axis=1) / size,
        "summed_gap": np.sqrt(np.mean((solved - wrong)[:, :n] ** 2, axis=1)) / size,
    }


def _outputs(
    K: predict.Blocks, y: np.ndarray, f_0: np.ndarray, n: int, times: np.ndarray
) -> Float[np.ndarray, "t k"]:
    fitted = predict.gradient_flow(K.train, y, times, f_0=f_0[:n])
    there = predict.evaluate(fitted, K.test_train, f_0[n:])
    return np.concatenate([fitted.outputs, there], axis=1)


def _ridges(
    space: WeightSpace,
    start: Start,
    K: predict.Blocks,
    num_ridges: int,
    limit: np.ndarray,
) -> dict[str, np.ndarray]:
    """Ridge regression as the ridge falls, and a Gaussian process."""
    n, y = len(space.points.x), space.points.y[:, 0]
    f_0 = start.f_0[:, 0]
    modes = predict.decompose(K.train)
    ridges = float(modes.eigenvalues[0]) * 10.0 ** -np.arange(num_ridges)
    gaps = []
    for ridge in ridges:
        fitted = predict.ridge(modes, y, float(ridge), f_0=f_0[:n])
        there = predict.evaluate(fitted, K.test_train, f_0[n:])
        gaps.append(_apart(there, limit))
    conditioned = f_0[n:] + K.test_train @ np.linalg.solve(K.train, y - f_0[:n])
    return {
        "ridges": ridges / ridges[0],
        "ridge_error": np.array(gaps),
        "gaussian_error": np.array(_apart(limit, conditioned)),
    }


def _apart(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def _size(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))
