"""Predictions by kernels of wide networks are those of dense linear algebra."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

import tangentlab as tl
from tangentlab import infinite as inf
from tests.infinite.networks import NETWORKS, examples

NUM_TRAIN, NUM_TEST = 7, 4
NOISE, TIMES = 0.3, (0.5, 5.0)


@pytest.fixture(scope="module", params=["dense", "conv_gap", "masked_attention"])
def kernels(request):
    """NNGP and NTK of training samples followed by test samples."""
    layer = NETWORKS[request.param].build()
    found = layer.kernel(examples(request.param, NUM_TRAIN + NUM_TEST))
    return inf.Kernels(*(jnp.asarray(K) for K in found))


@pytest.fixture(scope="module")
def y():
    return np.random.default_rng(5).normal(size=(NUM_TRAIN, 2))


def parts(K):
    return K[:NUM_TRAIN, :NUM_TRAIN], K[NUM_TRAIN:, :NUM_TRAIN]


def after(theta, t):
    """What multiplies targets at time `t` to give coefficients."""
    decay = scipy.linalg.expm(-t * theta / NUM_TRAIN)
    return np.linalg.solve(theta, np.eye(NUM_TRAIN) - decay)


@pytest.mark.parametrize("kind", ["nngp", "ntk"])
def test_a_gaussian_process(kernels, kind, y):
    K = getattr(kernels, kind)
    train, across = parts(K)
    prior = K[NUM_TRAIN:, NUM_TRAIN:]
    found = tl.predict.gp_posterior(train, y, across, prior, noise=NOISE)
    regularized = train + NOISE * np.eye(NUM_TRAIN)
    mean = across @ np.linalg.solve(regularized, y)
    covariance = prior - across @ np.linalg.solve(regularized, across.T)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-9, atol=1e-12)
    ridge = tl.predict.ridge(train, y, NOISE)
    seen = tl.predict.evaluate(ridge, across)
    np.testing.assert_allclose(seen, mean, rtol=1e-9, atol=1e-12)


def test_gradient_flow(kernels, y):
    theta, across = parts(kernels.ntk)
    flow = tl.predict.gradient_flow(theta, y, np.array(TIMES))
    seen = tl.predict.evaluate(flow, across)
    for outputs, test_outputs, t in zip(flow.outputs, seen, TIMES, strict=True):
        made = after(theta, t) @ y
        np.testing.assert_allclose(outputs, theta @ made, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(test_outputs, across @ made, rtol=1e-7, atol=1e-9)


def test_an_ensemble_at_a_time(kernels, y):
    """Outputs are linear in those before training, whose covariance is the NNGP."""
    theta, across = parts(kernels.ntk)
    ntk, nngp = (tl.predict.split_kernel(K, NUM_TRAIN) for K in kernels[::-1])
    found = tl.predict.ensemble(ntk, nngp, y, TIMES[0])
    A = across @ after(theta, TIMES[0])
    trained = np.concatenate([-A, np.eye(NUM_TEST)], axis=1)
    covariance = trained @ kernels.nngp @ trained.T
    np.testing.assert_allclose(found.mean, A @ y, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-7, atol=1e-9)
