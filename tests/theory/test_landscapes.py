import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate

from tangentlab import theory
from tests.theory.problems import normal


@pytest.mark.parametrize("depth", [1, 4])
def test_gradient_and_hessian_are_those_of_autodiff(depth):
    @jax.jit
    def both(w):
        loss = theory.chain_loss
        written = theory.chain_gradient(w), theory.chain_hessian(w)
        return written, (jax.grad(loss)(w), jax.hessian(loss)(w))

    for w in (normal(0, depth), jnp.zeros(depth)):
        for written, wanted in zip(*both(w), strict=True):
            np.testing.assert_allclose(written, wanted, atol=1e-12)


def test_saddle_at_zero_has_escape_directions_for_two_weights_alone():
    spectra = [jnp.linalg.eigvalsh(theory.chain_hessian(jnp.zeros(d))) for d in (2, 3)]
    assert spectra[0].tolist() == [-1.0, 1.0]
    assert spectra[1].tolist() == [0.0, 0.0, 0.0]
    for depth in (2, 3, 5):
        assert (
            jnp.abs(theory.chain_gradient(jnp.zeros(depth))).tolist() == [0.0] * depth
        )


@pytest.mark.parametrize(("depth", "start"), [(1, 0.1), (2, 1e-3), (3, 0.05), (4, 0.2)])
def test_escape_time_is_that_of_the_flow(depth, start):
    slope = jax.jit(theory.chain_gradient)
    flow = scipy.integrate.solve_ivp(
        lambda t, w: -np.asarray(slope(w)),
        (0.0, 50.0), np.full(depth, start), events=lambda t, w: np.prod(w) - 0.5,
        rtol=1e-8, atol=1e-12,
    )  # fmt: skip
    assert theory.chain_escape_time(depth, start) == pytest.approx(
        float(flow.t_events[0][0]), rel=1e-5
    )


def test_escape_time_grows_as_stated():
    p = 1e-8  # two weights: the logistic equation
    wanted = np.log((1 - p) / p) / 2
    assert theory.chain_escape_time(2, 1e-4) == pytest.approx(wanted, rel=1e-9)
    for depth in (3, 5):
        small = theory.chain_escape_time(depth, 1e-4)
        assert small == pytest.approx(1e4 ** (depth - 2) / (depth - 2), rel=1e-2)


def test_unit_has_a_flat_bad_minimum_and_descent_is_as_written():
    w = jnp.array([-2.0, -0.1, 0.5, 1.0])
    assert theory.relu_unit_loss(w).tolist() == [0.5, 0.5, 0.125, 0.0]
    slope = jax.grad(theory.relu_unit_loss)
    assert float(slope(-0.1)) == 0.0
    for start in (-0.3, 0.2, 3.0):
        w = start
        for _ in range(7):
            w = w - 0.4 * float(slope(w))
        assert theory.relu_unit_descent(start, 0.4, 7) == pytest.approx(w)
    assert theory.relu_unit_descent(0.2, 0.4, 200) == pytest.approx(1.0)


@pytest.mark.parametrize("num_units", [1, 3])
def test_stuck_probability_is_the_share_of_runs_that_fail(num_units):
    w = np.random.default_rng(0).normal(size=(2000, num_units))
    start = w.copy()
    for _ in range(300):
        off = np.maximum(w, 0).sum(axis=1, keepdims=True) - 1
        w = w - 0.1 * off * (w > 0)
    failed = np.abs(np.maximum(w, 0).sum(axis=1) - 1) > 1e-6
    assert (failed == (start < 0).all(axis=1)).all()
    probability = theory.stuck_probability(num_units)
    assert failed.mean() == pytest.approx(probability, abs=4 * np.sqrt(0.25 / 2000))


@pytest.mark.parametrize("width", [1, 2, 3])
def test_linear_network_minimum_is_where_descent_ends(width):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20, 4))
    y = x @ rng.normal(size=(4, 3)) + 0.3 * rng.normal(size=(20, 3))
    wanted = theory.linear_network_minimum(x, y, width=width)

    @jax.jit
    def descend(weights):
        def loss(weights):
            return jnp.sum((y - x @ weights[0] @ weights[1]) ** 2) / 40

        def step(_, weights):
            slopes = jax.grad(loss)(weights)
            return [w - 0.05 * s for w, s in zip(weights, slopes, strict=True)]

        return loss(jax.lax.fori_loop(0, 4000, step, weights))

    for seed in range(2):
        start = [normal(seed, 4, width), normal(seed + 1, width, 3)]
        assert float(descend(start)) == pytest.approx(wanted, rel=1e-5)


def test_starts_outside_the_flow_are_refused():
    with pytest.raises(ValueError, match="`start` must be a finite number, got nan"):
        theory.relu_unit_descent(float("nan"), 0.5, 1)
    with pytest.raises(ValueError, match="got start = 0.9, depth = 2 and level = 0.5"):
        theory.chain_escape_time(2, 0.9)
    with pytest.raises(ValueError, match="`rate` must be between 0 and 1, got 2.5"):
        theory.relu_unit_descent(0.5, 2.5, 1)
