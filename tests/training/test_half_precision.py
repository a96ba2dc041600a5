"""Networks in half precision, whose metrics are not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.training.losses import LOSSES, totals


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_sums_over_many_samples_are_not_in_half_precision(dtype):
    outputs, y = jnp.ones(70_001, dtype), jnp.ones(70_001, dtype)
    loss, right = totals(LOSSES["cross_entropy"], outputs, y)
    assert right.dtype == jnp.float32 and right == 70_001
    np.testing.assert_allclose(loss / 70_001, np.log1p(np.exp(-1.0)), rtol=1e-5)


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_metrics_of_networks_in_half_precision_are_in_single(dtype):
    """300 batches: in half precision the count of right answers would end early."""
    x = np.random.default_rng(0).standard_normal((1600, 3)).astype(np.float32)
    task = tl.Task(x, (x[:, 0] > 0).astype(np.float32), 1200)
    params, recipe = jnp.full((3, 1), 0.5, dtype), tl.Recipe(1, 4, 0.1)

    def linear(w, x):
        return x.astype(w.dtype) @ w

    history = tl.train(linear, params, task, recipe, key=jax.random.key(3))
    right = (np.asarray(history.outputs[0]) > 0) == (task.y > 0)
    assert history.outputs.dtype == dtype
    assert history.test_accuracy[0, 0] == np.float32(right[1200:].mean())
    assert 0.9 < history.train_accuracy[0, 0] <= 1 and not history.diverged[0]
    moved = np.asarray(history.params[0], np.float64) - 0.5
    np.testing.assert_allclose(history.distance[0], np.linalg.norm(moved), rtol=1e-5)
