import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.infinite.activations import angles

LONG_ENOUGH = {np.float64: 4e-16, np.float32: 2.4e-7}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_angles_are_exact_to_rounding(dtype):
    theta = np.concatenate([np.linspace(0, np.pi, 4001), np.geomspace(1e-30, 1, 200)])
    y, x = np.sin(theta).astype(dtype), np.cos(theta).astype(dtype)
    length = np.hypot(x.astype(float), y.astype(float)).astype(dtype)
    true = np.arctan2(y.astype(float), x.astype(float))
    found = angles.angle(*map(jnp.asarray, (y, x, length)))
    assert found.dtype == dtype
    error = np.abs(np.asarray(found, float) - true) / np.maximum(true, 1e-37)
    assert error.max() < LONG_ENOUGH[dtype]
    half = x >= 0
    for sign in (1, -1):
        arguments = (jnp.asarray(sign * y), jnp.asarray(np.abs(x)), jnp.asarray(length))
        found = angles.arctangent(*arguments)
        expected = sign * np.arctan2(y.astype(float), np.abs(x).astype(float))
        error = np.abs(np.asarray(found, float) - expected)
        assert (error[half] <= LONG_ENOUGH[dtype] * np.abs(expected[half])).all()


def test_the_point_zero_is_at_a_right_angle():
    zero = jnp.zeros(())
    assert angles.angle(zero, zero, zero) == math.pi / 2


def test_the_determinant_of_coincident_inputs_is_exactly_zero():
    q = jnp.asarray(np.random.default_rng(0).uniform(0.1, 3, 1000))
    roots = jax.jit(angles.root_determinant)(q, q, q)
    assert (roots == 0).all()
    assert (jax.jit(angles.root_determinant)(-q, q, q) == 0).all()


def test_the_determinant_of_near_inputs_keeps_its_digits():
    """Unit vectors at a small angle: the textbook formula is off by 1e-8 here."""
    near = 2.0**-40
    q_12 = jnp.asarray(1 - near)
    root = angles.root_determinant(q_12, jnp.ones(()), jnp.ones(()))
    np.testing.assert_allclose(root, math.sqrt(near * (2 - near)), rtol=1e-15)


def test_arctangent_has_its_own_derivative():
    y, x = jnp.asarray(-0.7), jnp.asarray(0.4)
    slopes = jax.grad(
        lambda y, x: angles.arctangent(y, x, jnp.sqrt(x * x + y * y)), (0, 1)
    )(y, x)
    np.testing.assert_allclose(slopes, (0.4 / 0.65, 0.7 / 0.65), rtol=1e-14)


def test_inverses_and_roots_of_zero_have_no_slope():
    for function in (angles.inverse_or_zero, angles.root_or_zero):
        value, slope = jax.value_and_grad(function)(jnp.zeros(()))
        assert value == 0 and slope == 0
