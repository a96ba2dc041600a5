from typing import Any

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

from tangentlab import predict
from tangentlab.spectra import AccuracyWarning
from tests.helpers import assert_close

from .problems import case


def test_it_is_the_posterior_of_another_library():
    random = np.random.default_rng(0)
    x, new, y = (
        random.normal(size=(9, 2)),
        random.normal(size=(4, 2)),
        random.normal(size=9),
    )
    kernel = RBF(1.3)
    fixed: Any = None  # no search for a better kernel
    other = GaussianProcessRegressor(kernel, alpha=0.1, optimizer=fixed).fit(x, y)
    mean, covariance = other.predict(new, return_cov=True)
    found = predict.gp_posterior(kernel(x), y, kernel(new, x), kernel(new), noise=0.1)
    assert_close(found.mean, mean)
    assert_close(found.covariance, covariance)


@pytest.mark.parametrize("full", [False, True])
def test_a_prior_mean_and_outputs(full):
    p = case(outputs=2, full=full)
    found = predict.gp_posterior(
        p.K, p.y, p.K_test, p.K_test_test, noise=0.2, f_0=p.f_0, f_0_test=p.f_0_test
    )
    fitted = predict.ridge(p.K, p.y, 0.2, f_0=p.f_0)
    assert_close(found.mean, predict.evaluate(fitted, p.K_test, p.f_0_test))
    side, other = (16, 10) if full else (8, 5)
    K, k = p.K.reshape(side, side), p.K_test.reshape(other, side)
    inner = np.linalg.solve(K + 0.2 * np.eye(side), k.T)
    dense = p.K_test_test.reshape(other, other) - k @ inner
    assert_close(found.covariance, dense.reshape(p.K_test_test.shape))


def test_without_noise_the_training_samples_are_known():
    p = case()
    found = predict.gp_posterior(p.K, p.y, p.K, p.K)
    assert_close(found.mean, p.y)
    assert_close(found.covariance, np.zeros((8, 8)))
    limit = predict.ridgeless(p.K, p.y)
    there = predict.gp_posterior(p.K, p.y, p.K_test, p.K_test_test)
    assert_close(there.mean, predict.evaluate(limit, p.K_test))


def test_conditioning_is_told():
    p = case()
    found = predict.gp_posterior(p.K, p.y, p.K_test, p.K_test_test, noise=0.2)
    wanted = np.linalg.cond(p.K + 0.2 * np.eye(8))
    assert found.condition == pytest.approx(wanted) and found.num_unresolved == 0
    one = np.ones((2, 2))
    with pytest.warns(AccuracyWarning, match="1 of 2 eigenvalues"):
        found = predict.gp_posterior(one, np.ones(2), one, one)
    assert found.condition is not None and found.condition > 1e15
    assert found.num_unresolved == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"K_test": np.ones((5, 9))}, r"`K_test` must hold .* \(5, 9\)"),
        ({"K_test_test": np.ones((4, 4))}, r"kernel of shape \(5, 5\), .* \(4, 4\)"),
        ({"K_test_test": np.full((5, 5), np.nan)}, "`K_test_test` holds NaN"),
        ({"K_test": np.full((5, 8), np.inf)}, "`K_test` holds NaN or infinite"),
        ({"f_0": np.ones(8)}, "pass `f_0` and `f_0_test`, or neither"),
        ({"noise": np.nan}, "`noise` must be a finite number"),
    ],
)
def test_blocks_that_do_not_fit_raise(change, message, no_type_checks):
    p = case()
    blocks = {"K_test": p.K_test, "K_test_test": p.K_test_test} | change
    with pytest.raises(ValueError, match=message):
        predict.gp_posterior(p.K, p.y, **blocks)
