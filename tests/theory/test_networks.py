import jax
import jax.numpy as jnp
import numpy as np

from tangentlab import theory


def test_both_forms_are_one_function():
    a, W = jnp.array([1.0, -0.5]), jnp.array([[1.0, 2.0], [-1.0, 0.5]])
    x = np.array([[0.5, 1.0], [2.0, -3.0]])
    wanted = np.tanh(x @ W.T) @ a / 2**0.5
    first = theory.two_layer(a, jnp.tanh)(W, x)
    both = theory.two_layer_both(jnp.tanh)({"a": a, "W": W}, x)
    np.testing.assert_allclose(first[:, 0], wanted)
    np.testing.assert_allclose(both, first)


def test_weights_are_drawn_as_the_theorems_say():
    a, W = theory.draw_two_layer(jax.random.key(0), 4000, 3)
    assert set(np.unique(a)) == {-1.0, 1.0} and abs(float(a.mean())) < 0.07
    assert W.shape == (4000, 3)
    assert abs(float(W.mean())) < 0.04 and abs(float(W.var()) - 1) < 0.06
