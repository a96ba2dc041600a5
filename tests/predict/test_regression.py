import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge

from tangentlab import predict
from tangentlab.spectra import AccuracyWarning
from tests.helpers import assert_close, leaf_jacobians
from tests.networks import dense_apply

from .problems import case, train_linearized


@pytest.mark.parametrize("outputs", [None, 3])
def test_ridge_regression_is_that_of_another_library(outputs):
    p = case(outputs=outputs)
    other = KernelRidge(alpha=2, kernel="precomputed").fit(p.K, p.y)
    found = predict.ridge(p.K, p.y, 2.0)
    assert_close(found.coefficients, other.dual_coef_)
    assert_close(predict.evaluate(found, p.K_test), other.predict(p.K_test))


def test_ridge_regression_with_a_kernel_between_outputs():
    p = case(outputs=2, full=True)
    K = p.K.reshape(16, 16)
    beta = np.linalg.solve(K + 0.3 * np.eye(16), (p.y - p.f_0).ravel())
    found = predict.ridge(p.K, p.y, 0.3, f_0=p.f_0)
    assert found.is_full and found.squared_norm.shape == ()
    assert_close(found.coefficients.ravel(), beta)
    assert_close(found.outputs.ravel(), p.f_0.ravel() + K @ beta)
    assert_close(found.squared_norm, beta @ K @ beta)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16))
def test_a_vanishing_ridge_is_the_minimum_norm_solution(seed):
    p = case(seed=seed)
    found = predict.decompose(p.K)
    limit = predict.ridgeless(found, p.y, f_0=p.f_0)
    errors = [
        np.abs(predict.ridge(found, p.y, r, f_0=p.f_0).outputs - limit.outputs).max()
        for r in (1e-5, 1e-6)
    ]
    assert errors[0] / errors[1] == pytest.approx(10, rel=1e-2)
    assert_close(limit.outputs, p.y)
    residual = p.y - p.f_0
    assert_close(limit.squared_norm, residual @ np.linalg.solve(p.K, residual))


def test_it_is_where_gradient_descent_on_the_linearized_network_ends(nets):
    for net in nets:
        K = np.asarray(net.K)
        rate = 1.9 * len(K) / np.linalg.eigvalsh(K).max()
        outputs, moved = train_linearized(net, 20_000, rate, 0.95)
        limit = predict.ridgeless(K, net.y, f_0=net.f_0)
        assert_close(limit.outputs, net.y)
        predicted = predict.evaluate(limit, net.K_test, net.f_0_test)
        np.testing.assert_allclose(predicted, outputs, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(limit.squared_norm, moved[None], rtol=1e-3)


def test_no_other_interpolating_parameters_are_nearer(nets, getkey):
    net = nets[0]
    limit = predict.ridgeless(net.K, net.y, f_0=net.f_0)
    J = jnp.concatenate(leaf_jacobians(dense_apply, net.params, net.x), axis=-1)[:, 0]
    step = J.T @ limit.coefficients[:, 0]
    assert_close(step @ step, limit.squared_norm[0])
    for _ in range(3):
        other = jax.random.normal(getkey(), step.shape)
        other = other - jnp.linalg.pinv(J) @ (J @ other)  # changes no output
        assert_close(J @ (step + other), net.y[:, 0] - net.f_0[:, 0])
        assert jnp.linalg.norm(step + other) > jnp.linalg.norm(step)


def test_a_kernel_of_rank_two_interpolates_what_it_can():
    x = np.array([-2.0, -1.0, 0.5, 1.0, 3.0])
    K = np.where(np.outer(x, x) > 0, np.abs(np.outer(x, x)), 0.0)
    y = np.array([1.0, 0.0, 1.0, 2.0, 0.0])
    with pytest.warns(AccuracyWarning, match="3 of 5 eigenvalues .* cannot be told"):
        found = predict.ridgeless(K, y)
    assert_close(found.coefficients, np.linalg.pinv(K, rcond=1e-10) @ y)
    assert found.num_unresolved == 3 and (found.condition or 0) > 1e15
    with_ridge = predict.ridge(K, y, 1e-3)
    assert_close(with_ridge.outputs, K @ np.linalg.solve(K + 1e-3 * np.eye(5), y))
    assert with_ridge.num_unresolved == 0


def test_rounding_of_the_kernel_is_told_from_its_eigenvalues():
    K = np.diag([1.0, 1e-9]).astype(np.float32)
    with pytest.warns(AccuracyWarning, match="1 of 2 eigenvalues"):
        found = predict.ridgeless(K, np.ones(2))
    assert_close(found.outputs, [1.0, 0.0])
    wide = predict.ridgeless(K.astype(np.float64), np.ones(2))
    np.testing.assert_allclose(wide.outputs, 1.0, rtol=1e-6)
