import jax.numpy as jnp
import numpy as np

from tangentlab.training.losses import correct, cross_entropy


def test_cross_entropy_is_stable_and_right():
    logits = jnp.array([0.0, 3.0, -800.0, 800.0])
    y = jnp.array([1.0, 0.0, 1.0, 1.0])
    expected = [np.log(2), 3 + np.log1p(np.exp(-3.0)), 800.0, 0.0]
    np.testing.assert_allclose(cross_entropy(logits, y), expected, atol=1e-12)


def test_a_logit_of_zero_is_class_zero():
    logits, y = jnp.array([0.0, 0.0, 1.0, -1.0]), jnp.array([0.0, 1.0, 1.0, 1.0])
    assert correct(logits, y).tolist() == [True, False, True, False]
