import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.training.losses import LOSSES, correct, cross_entropy, targets
from tests.training.problems import binary_tasks, regression_tasks


def test_cross_entropy_is_stable_and_right():
    logits = jnp.array([0.0, 3.0, -800.0, 800.0])
    y = jnp.array([1.0, 0.0, 1.0, 1.0])
    expected = [np.log(2), 3 + np.log1p(np.exp(-3.0)), 800.0, 0.0]
    np.testing.assert_allclose(cross_entropy(logits, y), expected, atol=1e-12)


def test_a_logit_of_zero_is_class_zero():
    logits, y = jnp.array([0.0, 0.0, 1.0, -1.0]), jnp.array([0.0, 1.0, 1.0, 1.0])
    assert correct(logits, y).tolist() == [True, False, True, False]


@pytest.mark.parametrize("name", LOSSES)
def test_slope_and_curvature_are_derivatives(name):
    loss = LOSSES[name]
    f = jnp.linspace(-4.0, 4.0, 81)
    for y in (0.0, 1.0):
        slope = jax.vmap(jax.grad(lambda f, y=y: loss.value(f, jnp.asarray(y))))
        np.testing.assert_allclose(
            slope(f), loss.slope(f, jnp.full_like(f, y)), atol=1e-12
        )
        second = jax.vmap(jax.grad(lambda f, y=y: loss.slope(f, jnp.asarray(y))))(f)
        np.testing.assert_allclose(second.max(), loss.curvature, rtol=1e-12)


def test_binary_labels_become_signs_for_the_square_loss():
    task = binary_tasks(1)[0]
    assert set(targets(task, "cross_entropy")) == {0, 1}
    np.testing.assert_array_equal(targets(task, "square"), 2 * np.asarray(task.y) - 1)
    real = regression_tasks(1)[0]
    np.testing.assert_array_equal(targets(real, "square"), real.y)
    with pytest.raises(ValueError, match=r"regression task with targets in \[-"):
        targets(real, "cross_entropy")


@pytest.mark.parametrize("dtype", [np.uint8, bool, np.int64])
def test_labels_of_any_type_become_signs(dtype, no_type_checks):
    """In unsigned integers 2 * 0 - 1 is 255."""
    task = binary_tasks(1)[0]
    other = tl.Task(task.x, np.asarray(task.y).astype(dtype), task.num_train)
    np.testing.assert_array_equal(targets(other, "square"), targets(task, "square"))
