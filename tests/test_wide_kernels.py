"""Kernels in float64 are taken everywhere while JAX's 64-bit types are off."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import analysis, infinite, predict

N, M = 24, 16  # samples, and those to train on


def network(params, x):
    return jnp.tanh(x @ params["inner"]) @ params["outer"]


@pytest.fixture
def x() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, 3)).astype(np.float32)


@pytest.fixture
def y(x) -> np.ndarray:
    return np.sign(x[:, 0])


@pytest.fixture
def params():
    rng = np.random.default_rng(1)
    drawn = {"inner": rng.normal(size=(3, 40)), "outer": rng.normal(size=(40, 1))}
    return jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), drawn)


def trained(K, y):
    x, f_0 = np.arange(N, dtype=np.float32)[:, None], np.zeros(N, np.float32)
    task = tl.Task(x, (y > 0).astype(np.float32), M)
    recipe = tl.Recipe(epochs=2, batch_size=8, learning_rate=1e-3)
    return tl.train_dual(K, f_0, task, recipe, key=jax.random.key(0)).coefficients


def ensemble(K, y):
    cut = predict.split_kernel(K, M)
    return predict.ensemble(cut, cut, y[:M], 1.0).mean


def posterior(K, y):
    blocks = K[:M, :M], y[:M], K[M:, :M], K[M:, M:]
    return predict.gp_posterior(*blocks, noise=0.1).covariance


TAKING_A_KERNEL = {
    "spectrum": lambda K, y: tl.spectrum(K).eigenvalues,
    "spectrum with num": lambda K, y: tl.spectrum(K, 3).eigenvectors,
    "krylov": lambda K, y: tl.spectrum(K, 3, method="krylov").eigenvalues,
    "energy_concentration": lambda K, y: tl.energy_concentration(K, y, 4),
    "ridge": lambda K, y: predict.ridge(K, y, 0.1).outputs,
    "gradient_flow": lambda K, y: predict.gradient_flow(K, y, 1.0).outputs,
    "gp_posterior": posterior,
    "ensemble": ensemble,
    "max_learning_rate": lambda K, y: predict.max_learning_rate(K),
    "hard_margin": lambda K, y: predict.hard_margin(K, y).outputs,
    "gram_alignment": lambda K, y: analysis.gram_alignment(K, y).unbiased,
    "kernel_size": lambda K, y: analysis.kernel_size(K).trace,
    "kernel_norm": lambda K, y: analysis.kernel_norm(K, y).squared,
    "kernel_distance": lambda K, y: tl.kernel_distance(K, K[::-1, ::-1]),
    "cka": lambda K, y: analysis.cka(K, K[::-1, ::-1]),
    "centered_alignment": lambda K, y: analysis.centered_alignment(K, y),
    "train_dual": trained,
}


def kernel_of(source, params, x):
    if source == "gram":
        return tl.gram(network, params, x, precision="float64")
    return infinite.fc(depth=2).ntk(x, precision="float64")


@pytest.mark.parametrize("source", ["gram", "infinite"])
@pytest.mark.parametrize("taking", TAKING_A_KERNEL)
def test_a_kernel_in_float64_is_taken_without_64_bit_types(
    taking, source, params, x, y
):
    with jax.enable_x64(False):
        K = kernel_of(source, params, x)
        assert isinstance(K, jax.Array)
        assert K.dtype == np.float64
        found, expected = (TAKING_A_KERNEL[taking](A, y) for A in (K, np.asarray(K)))
    digits = np.finfo(np.asarray(found).dtype).eps  # training is in float32 there
    np.testing.assert_allclose(found, expected, rtol=1e3 * digits, atol=10 * digits)


def test_a_kernel_is_tracked_in_float64_without_64_bit_types(params, x, y):
    kernels, moved = [], jax.tree.map(lambda a: 1.1 * a, params)
    with jax.enable_x64(False):
        tracker = analysis.Tracker(network, x, y, precision="float64")
        for step, at in enumerate([params, moved]):
            tracker(step, at)
            kernels.append(np.asarray(tl.gram(network, at, x, precision="float64")))
        told = tracker.history()
    first, last = kernels
    expected = {
        "trace": [np.trace(K) for K in kernels],
        "distance": [0.0, tl.kernel_distance(first, last)],
        "cka": [1.0, analysis.cka(first, last)],
    }
    for name, numbers in expected.items():
        np.testing.assert_allclose(told[name], numbers, rtol=1e-12, atol=1e-15)
