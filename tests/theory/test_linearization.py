from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab import theory
from tests.helpers import assert_close
from tests.theory.problems import normal, sphere, two_layer_weights


def draws(seed, width, n=5):
    """Output weights, weights and inputs of unit norm."""
    return *two_layer_weights(seed, width, 3), jnp.asarray(sphere(seed + 1, n, 3))


@partial(jax.jit, static_argnums=0)
def gap(activation, a, W_0, W, x):
    exact = theory.two_layer(a, activation)(W, x)
    return exact - theory.two_layer_linearization(W_0, W, a, x, activation)


@pytest.mark.parametrize("activation", [jax.nn.relu, jnp.tanh, jax.nn.softplus])
def test_written_out_linearization_is_the_linearization(activation):
    a, W_0, x = draws(0, 7)
    W = W_0 + normal(1, 7, 3)
    apply = theory.two_layer(a, activation)
    written = apply(W, x) - gap(activation, a, W_0, W, x)
    assert_close(written, jax.jit(tl.linearize(apply, W_0))(W, x))


def test_relu_linearization_is_an_inner_product_with_the_gradient():
    a, W_0, x = draws(0, 7)
    W, apply = normal(2, 7, 3), theory.two_layer(a)
    gradients = jax.jacrev(lambda W: apply(W, x)[:, 0])(W_0)
    product = jnp.einsum("nmd,md->n", gradients, W)[:, None]
    np.testing.assert_allclose(tl.linearize(apply, W_0)(W, x), product, rtol=1e-12)
    euler = theory.homogeneous_linearization(apply, W_0, 1)(W, x)
    np.testing.assert_allclose(euler, product, rtol=1e-12)


def test_euler_identity_counts_the_trained_layers():
    def apply(params, x):
        for w in params["hidden"]:
            x = jax.nn.relu(x @ w)
        return x @ params["out"]

    hidden, out, x = (
        [normal(0, 3, 6), normal(1, 6, 5)],
        normal(2, 5, 2),
        normal(3, 4, 3),
    )
    start = {"hidden": hidden, "out": out, "steps": jnp.array(4)}
    end = jax.tree.map(lambda leaf: leaf * 2, start) | {"steps": jnp.array(4)}
    euler = theory.homogeneous_linearization(apply, start, 3)(end, x)
    assert_close(euler, tl.linearize(apply, start)(end, x))
    wrong = theory.homogeneous_linearization(apply, start, 1)(end, x)
    assert float(jnp.abs(wrong - euler).max()) > 0.1


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 2**16),
    width=st.sampled_from([1, 30]),
    distance=st.floats(0.01, 10.0),
)
def test_smooth_bound_holds_at_random_weights(seed, width, distance):
    a, W_0, x = draws(seed, width)
    move = np.asarray(normal(seed + 2, width, 3))
    W = np.asarray(W_0) + distance * move / np.linalg.norm(move)
    largest = np.abs(gap(jnp.tanh, a, W_0, W, x)).max()
    bound = theory.smooth_linearization_bound(distance, width, theory.TANH_CURVATURE)
    assert largest <= bound * (1 + 1e-12)


def test_tanh_curvature_is_the_maximum_of_its_second_derivative():
    z = jnp.linspace(-3, 3, 20001)
    found = jnp.abs(jax.vmap(jax.grad(jax.grad(jnp.tanh)))(z)).max()
    assert theory.TANH_CURVATURE == pytest.approx(float(found), rel=1e-6)


def test_smooth_bound_is_attained_by_a_square():
    W_0, x = normal(0, 6, 2), jnp.array([[1.2, -0.5]])
    W = W_0 + normal(1, 6, 1) * x
    distance = float(jnp.linalg.norm(W - W_0))

    def square(z):
        return 3 * z**2 / 2

    found = gap(square, jnp.full(6, 0.7), W_0, W, x)
    bound = theory.smooth_linearization_bound(
        distance, 6, 3.0, input_norm=1.3, output_weight=0.7
    )
    assert_close(found[0, 0], bound)


def test_relu_bounds_are_those_of_the_lemma():
    root = np.log(20) ** 0.25
    assert theory.relu_linearization_bound(8.0, 64, 0.05) == pytest.approx(
        (2 * 16 + 8 * root) / 2
    )
    assert theory.relu_linearization_bound_between(8.0, 64, 0.05) == pytest.approx(
        (6 * 16 + 16 * root) / 2
    )


def test_relu_bound_between_points_holds_where_it_should():
    a, W_0, x = draws(4, 400, n=20)
    moves = np.random.default_rng(5).normal(size=(20, 400, 3))
    moves *= 2.0 / np.linalg.norm(moves, axis=(1, 2), keepdims=True)
    points = np.asarray(W_0) + moves
    gaps = [
        np.abs(gap(jax.nn.relu, a, V, W, x)).max()
        for V, W in zip(points[:10], points[10:], strict=True)
    ]
    assert max(gaps) <= theory.relu_linearization_bound_between(2.0, 400, 0.05)


def test_remainder_is_what_the_linearization_leaves_out():
    r, s = 0.7, -0.4
    left = np.sin(r) - np.sin(s) - np.cos(s) * (r - s)
    assert theory.taylor_remainder(lambda z: -np.sin(z), s, r) == pytest.approx(left)
    assert left == pytest.approx(0.0205, abs=5e-5)
    swapped = theory.taylor_remainder(lambda z: -np.sin(z), r, s)
    assert swapped == pytest.approx(-0.1923, abs=5e-5)  # what the slides print


def test_numbers_without_meaning_are_refused(no_type_checks):
    with pytest.raises(ValueError, match="`distance` must be a finite number, 0 or ab"):
        theory.smooth_linearization_bound(-1.0, 3, 1.0)
    with pytest.raises(ValueError, match="`width` must be at least 1, got 0"):
        theory.relu_linearization_bound(1.0, 0, 0.1)
    with pytest.raises(ValueError, match="`failure` must be a probability strictly"):
        theory.relu_linearization_bound(1.0, 10, 1.0)
