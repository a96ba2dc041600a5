import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
from jax.flatten_util import ravel_pytree

import tangentlab as tl
from tangentlab import theory
from tests.helpers import jacobian_gram
from tests.networks import dense_apply, dense_params
from tests.theory.problems import normal

SCALES = np.array([4.0, 8.0, 16.0, 32.0, 64.0])


@pytest.fixture(scope="module")
def doubled():
    params = dense_params(jax.random.key(0), (2, 6, 1))
    x = normal(1, 5, 2)
    y = jnp.sin(3 * x[:, :1])
    return theory.doubled(dense_apply), (params, params), x, y


@pytest.fixture(scope="module")
def flows(doubled):
    apply, params, x, y = doubled
    return theory.scaled_flows(apply, params, x, y, SCALES, horizon=5.0, num_steps=60)


def slope(values):
    return np.polyfit(np.log(SCALES), np.log(np.asarray(values)), 1)[0]


def test_distances_fall_as_stated(flows):
    assert slope(flows.weight_distance) == pytest.approx(-1, abs=0.05)
    assert slope(flows.weight_gap) < -1.9
    assert slope(flows.output_gap) < -0.95


def test_flows_are_those_of_an_ode_solver(doubled, flows):
    apply, params, x, y = doubled
    center, rebuild = ravel_pytree(params)

    @jax.jit
    def loss_slope(w, scale):
        def loss(w):
            return jnp.mean((scale * apply(rebuild(w), x) - y) ** 2) / 2 / scale**2

        return jax.grad(loss)(w)

    linear = tl.linearize(apply, params)

    @jax.jit
    def linear_slope(w, scale):
        def loss(w):
            return jnp.mean((scale * linear(rebuild(w), x) - y) ** 2) / 2 / scale**2

        return jax.grad(loss)(w)

    def solve(slope):
        done = scipy.integrate.solve_ivp(
            lambda t, w: -np.asarray(slope(w, 4.0)),
            (0.0, 5.0), np.asarray(center), rtol=1e-9, atol=1e-11,
            t_eval=np.linspace(0, 5, 61),
        )  # fmt: skip
        return done.y.T

    w, bar = solve(loss_slope), solve(linear_slope)
    distance = np.linalg.norm(w - center[None], axis=1).max()
    assert float(flows.weight_distance[0]) == pytest.approx(distance, rel=1e-5)
    gap = np.linalg.norm(w - bar, axis=1).max()
    assert float(flows.weight_gap[0]) == pytest.approx(gap, rel=1e-4)
    outputs = [
        4.0 * np.sqrt(np.mean((apply(rebuild(a), x) - linear(rebuild(b), x)) ** 2))
        for a, b in zip(w[::5], bar[::5], strict=True)
    ]
    assert float(flows.output_gap[0]) == pytest.approx(max(outputs), rel=0.01)


def test_it_runs_under_jit_with_scales_that_are_known(doubled, flows):
    apply, params, x, y = doubled

    @jax.jit
    def moved(params):
        found = theory.scaled_flows(
            apply, params, x, y, SCALES[:1], horizon=5.0, num_steps=60
        )
        return found.weight_distance

    np.testing.assert_allclose(moved(params), flows.weight_distance[:1], rtol=1e-10)


def test_doubling_gives_output_zero_and_the_same_kernel(doubled):
    apply, params, x, _ = doubled
    assert apply(params, x).tolist() == [[0.0]] * 5
    kernels = jacobian_gram(apply, params, x), jacobian_gram(dense_apply, params[0], x)
    np.testing.assert_allclose(*kernels, rtol=1e-12)


def test_output_scale_of_a_homogeneous_network_is_a_weight_scale():
    params = {"a": normal(0, 5), "W": normal(1, 5, 3)}
    x, apply = normal(2, 4, 3), theory.two_layer_both()
    c = theory.equivalent_weight_scale(9.0, 2.0)
    scaled = jax.tree.map(lambda leaf: c * leaf, params)
    np.testing.assert_allclose(apply(scaled, x), 9.0 * apply(params, x), rtol=1e-12)


def test_targets_and_steps_that_do_not_fit_are_refused(doubled, no_type_checks):
    apply, params, x, y = doubled
    with pytest.raises(ValueError, match=r"`y` must have the shape .* got \(5,\)"):
        theory.scaled_flows(apply, params, x, y[:, 0], SCALES, horizon=5.0)
    with pytest.raises(ValueError, match="`scales` must be positive numbers"):
        theory.scaled_flows(apply, params, x, y, np.array([0.0]), horizon=5.0)
    with pytest.raises(ValueError, match="left all numbers within 20 steps of 5e.05"):
        theory.scaled_flows(
            apply, params, x, y, np.array([1.0]), horizon=1e7, num_steps=20
        )


def test_horizon_must_be_positive(doubled):
    with pytest.raises(ValueError, match="`horizon` must be a finite number above 0"):
        apply, params, x, y = doubled
        theory.scaled_flows(apply, params, x, y, SCALES, horizon=0.0)
