import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
from jax.flatten_util import ravel_pytree

from tangentlab import theory
from tests.networks import dense_apply, dense_params
from tests.theory.problems import normal


def noisy_descent(rate, num_steps, noise, num_runs=400):
    """Mean squared gradient norms along SGD on a smooth non-convex function."""
    rng = np.random.default_rng(0)
    x = np.full((num_runs, 2), 1.0)
    found = []
    for _ in range(num_steps):
        slope = 2 * x / (1 + x**2) ** 2  # of sum x^2 / (1 + x^2), 2-smooth, from 1 to 0
        found.append((slope**2).sum(axis=1).mean())
        x = x - rate * (slope + noise * rng.normal(size=x.shape))
    return np.array(found)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_descent_gets_below_the_bound(noise):
    gap, C = 1.0, 2 * noise**2
    norms = noisy_descent(0.2, 100, noise)
    bound = theory.sgd_gradient_bound(100, 0.2, smoothness=2.0, gap=gap, C=C)
    assert norms.min() <= bound
    assert norms[0] > 0.1  # it started with a gradient


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_number_of_steps_suffices(noise):
    gap, C = 1.0, 2 * noise**2
    steps, rate = theory.sgd_steps(0.5, smoothness=2.0, gap=gap, C=C)
    assert noisy_descent(rate, min(steps, 3000), noise).min() <= 0.25
    bound = theory.sgd_gradient_bound(steps, rate, smoothness=2.0, gap=gap, C=C)
    assert bound <= 0.25 * (1 + 1e-12)


def test_bound_is_reached_by_a_parabola_and_holds_with_noise_that_grows():
    # F = |x|^2 / 2, so that |grad F|^2 = 2 F, and noise s x in each coordinate
    assert theory.sgd_gradient_bound(1, 1.0, smoothness=1.0, gap=3.0) == 2 * 3.0
    rate, s, x = 0.3, 1.2, np.full((4000, 2), 1.0)
    rng, norms = np.random.default_rng(0), []
    for _ in range(6):
        norms.append((x**2).sum(axis=1).mean())
        x = x - rate * x * (1 + s * rng.normal(size=x.shape))
    bounds = [
        theory.sgd_gradient_bound(k, rate, smoothness=1.0, gap=1.0, A=s**2)
        for k in range(1, 7)
    ]
    assert (np.minimum.accumulate(norms) <= bounds).all()
    without = theory.sgd_gradient_bound(6, rate, smoothness=1.0, gap=1.0)
    assert bounds[-1] == pytest.approx(without * (1 + s**2 * rate**2) ** 6)


def test_growth_with_the_loss_is_part_of_the_steps():
    steps, rate = theory.sgd_steps(0.1, smoothness=3.0, gap=2.0, A=0.5, B=1.5, C=0.3)
    bound = theory.sgd_gradient_bound(
        steps, rate, smoothness=3.0, gap=2.0, A=0.5, B=1.5, C=0.3
    )
    assert bound <= 0.01
    more, _ = theory.sgd_steps(0.05, smoothness=3.0, gap=2.0, A=0.5, B=1.5, C=0.3)
    assert more == pytest.approx(16 * steps, rel=1e-3)


def test_loss_of_gradient_flow_stays_below_the_bound():
    params = dense_params(jax.random.key(0), (2, 30, 1))
    x = normal(1, 4, 2)
    y = jnp.sign(x[:, :1])
    flat, rebuild = ravel_pytree(params)

    @jax.jit
    def loss(w):
        return jnp.sum((dense_apply(rebuild(w), x) - y) ** 2) / 8

    slope, times = jax.jit(jax.grad(loss)), np.linspace(0, 10, 11)
    flow = scipy.integrate.solve_ivp(
        lambda t, w: -np.asarray(slope(w)), (0, 10), np.asarray(flat),
        t_eval=times, rtol=1e-8, atol=1e-10,
    )  # fmt: skip
    jacobian = jax.jit(jax.jacrev(lambda w: dense_apply(rebuild(w), x)[:, 0]))
    smallest, bound = np.inf, np.inf
    for t, w in zip(times, flow.y.T, strict=True):
        J = np.asarray(jacobian(w))
        smallest = min(smallest, float(np.linalg.eigvalsh(J @ J.T)[0]))
        bound = theory.flow_loss_bound(float(loss(flat)), 0.99 * smallest, t, 4)
        assert float(loss(w)) <= bound * (1 + 1e-9)
    assert smallest > 0.01 and bound < 0.9 * float(loss(flat))


def test_bound_is_an_equality_for_equal_eigenvalues():
    K, y = 4 * np.eye(3), np.ones(3)  # of x @ w with inputs 2 I
    residual = scipy.linalg.expm(-0.7 * K / 3) @ y
    exact = float((residual**2).sum() / 6)
    assert theory.flow_loss_bound(0.5, 4.0, 0.7, 3) == pytest.approx(exact)


def test_residual_is_that_of_descent_step_by_step():
    params = dense_params(jax.random.key(1), (2, 8, 1))
    x, rate = normal(2, 5, 2), 0.7
    flat, rebuild = ravel_pytree(params)
    outputs = jax.jit(lambda w: dense_apply(rebuild(w), x)[:, 0])
    J = np.asarray(jax.jacrev(outputs)(flat))
    r_0 = np.asarray(outputs(flat)) - np.asarray(normal(3, 5))
    move = np.zeros(J.shape[1])
    for _ in range(20):  # of the mean loss, in the space of weights
        move = move - rate * J.T @ (r_0 + J @ move) / 5
    exact = np.linalg.norm(r_0 + J @ move)
    found = theory.descent_residual_norm(J @ J.T, r_0, 20, rate)
    assert found == pytest.approx(exact, rel=1e-10)
    summed, v = np.linalg.eigh(J @ J.T)  # of a summed loss, as in the paper
    shares = (1 - rate / 5 * summed) ** 40 * (v.T @ r_0) ** 2
    assert found == pytest.approx(np.sqrt(shares.sum()))
    assert theory.descent_residual_norm(np.eye(1), np.ones(1), 10**6, 9.0) == np.inf
    with pytest.raises(ValueError, match="`residual` holds NaN or infinite"):
        theory.descent_residual_norm(np.eye(1), np.array([np.nan]), 1, rate)


def test_rates_beyond_the_theorem_are_refused():
    with pytest.raises(
        ValueError, match="rates up to 1 / \\(smoothness \\* B\\) = 0.5"
    ):
        theory.sgd_gradient_bound(10, 1.0, smoothness=2.0, gap=1.0)
    with pytest.raises(ValueError, match="`epsilon` must be a finite number above 0"):
        theory.sgd_steps(0.0, smoothness=1.0, gap=1.0)
