import jax
import jax.numpy as jnp
import numpy as np

from tangentlab import theory
from tests.helpers import assert_close, jacobian_gram
from tests.theory.problems import normal


def test_both_forms_are_one_function():
    a, W = jnp.array([1.0, -0.5]), jnp.array([[1.0, 2.0], [-1.0, 0.5]])
    x = np.array([[0.5, 1.0], [2.0, -3.0]])
    wanted = np.tanh(x @ W.T) @ a / 2**0.5
    first = theory.two_layer(a, jnp.tanh)(W, x)
    both = theory.two_layer_both(jnp.tanh)({"a": a, "W": W}, x)
    np.testing.assert_allclose(first[:, 0], wanted)
    np.testing.assert_allclose(both, first)


def test_kernel_written_out_is_that_of_the_jacobian():
    a, W, x = normal(0, 5), normal(1, 5, 3), normal(2, 4, 3)  # a_j^2 is not 1
    for activation in (jax.nn.relu, jnp.tanh):
        full = jacobian_gram(theory.two_layer(a, activation), W, x)[:, 0, :, 0]
        assert_close(theory.two_layer_kernel(W, a, x, activation=activation), full)
        part = theory.two_layer_kernel(W, a, x[:2], x[2:], activation)
        assert_close(part, full[:2, 2:])


def test_weights_are_drawn_as_the_theorems_say():
    a, W = theory.draw_two_layer(jax.random.key(0), 4000, 3)
    assert set(np.unique(a)) == {-1.0, 1.0} and abs(float(a.mean())) < 0.07
    assert W.shape == (4000, 3)
    assert abs(float(W.mean())) < 0.04 and abs(float(W.var()) - 1) < 0.06
