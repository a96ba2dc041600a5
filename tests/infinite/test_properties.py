"""What is true of every kernel, on networks and inputs at random."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tangentlab import infinite as inf

DENSE = inf.serial(inf.Dense(8, 1.3, 0.2), inf.Relu(), inf.Dense(8), inf.Erf())
CONV = inf.serial(
    inf.Conv(4, (3, 3), weight_std=1.2, bias_std=0.1),
    inf.Relu(),
    inf.AvgPool((2, 2), 2),
    inf.Conv(4, (2, 2), padding="CIRCULAR"),
    inf.Relu(),
    inf.GlobalAvgPool(),
    inf.Dense(1),
)
HOMOGENEOUS = inf.cntk(2, 4)
SHIFTED = inf.serial(
    inf.Conv(4, (3, 2), padding="CIRCULAR"), inf.Relu(), inf.GlobalAvgPool()
)
BOTH = st.sampled_from([(DENSE, (6,)), (CONV, (4, 4, 2))])
SEEDS = st.integers(0, 2**16)
properties = settings(deadline=None, max_examples=8, derandomize=True)


def draw(seed, shape, n=5):
    return np.random.default_rng(seed).normal(size=(n, *shape))


@properties
@given(BOTH, SEEDS)
def test_kernels_are_symmetric_and_positive(case, seed):
    layer, shape = case
    for K in layer.kernel(draw(seed, shape)):
        np.testing.assert_array_equal(K, K.T)
        lam = np.linalg.eigvalsh(K)
        assert lam[0] > -1e-12 * lam[-1]


@properties
@given(BOTH, SEEDS)
def test_an_entry_depends_on_its_two_examples_alone(case, seed):
    layer, shape = case
    x = draw(seed, shape)
    nngp, ntk = layer.kernel(x)
    order = np.array([3, 1, 4])
    for K, part in zip((nngp, ntk), layer.kernel(x[order]), strict=True):
        np.testing.assert_allclose(part, K[jnp.ix_(order, order)], rtol=1e-9)
    for K, part in zip((nngp, ntk), layer.kernel(x[order], x), strict=True):
        np.testing.assert_allclose(part, K[order], rtol=1e-7)


@properties
@given(SEEDS)
def test_a_dense_kernel_does_not_change_when_inputs_are_rotated(seed):
    x = draw(seed, (6,))
    Q, _ = np.linalg.qr(draw(seed + 1, (6,), n=6))
    for K, turned in zip(DENSE.kernel(x), DENSE.kernel(x @ Q), strict=True):
        np.testing.assert_allclose(turned, K, rtol=1e-9)


@properties
@given(SEEDS)
def test_a_circular_kernel_does_not_change_when_one_image_is_shifted(seed):
    x = draw(seed, (4, 5, 2))
    y = np.roll(x, (1, 3), axis=(1, 2))
    for K, shifted in zip(SHIFTED.kernel(x), SHIFTED.kernel(x, y), strict=True):
        np.testing.assert_allclose(shifted, K, rtol=1e-6)


@properties
@given(SEEDS, st.floats(0.1, 10.0))
def test_without_biases_relu_kernels_scale_with_the_inputs(seed, scale):
    x = draw(seed, (4, 4, 2), n=3)
    for K, scaled in zip(
        HOMOGENEOUS.kernel(x), HOMOGENEOUS.kernel(scale * x, x), strict=True
    ):
        np.testing.assert_allclose(scaled, scale * K, rtol=1e-6)


@pytest.mark.parametrize("case", [(DENSE, (6,)), (CONV, (4, 4, 2))], ids=str)
def test_gradients_are_finite_where_examples_coincide_or_vanish(case):
    layer, shape = case
    x = jnp.asarray(draw(0, shape, n=2))
    x = jnp.concatenate([x, x[:1], jnp.zeros_like(x[:1])])

    def total(x):
        return sum(K.sum() for K in layer.kernel(x))

    gradient = jax.jit(jax.grad(total))(x)
    assert np.isfinite(gradient).all()
    away = x[1] + 1e-6 * jnp.ones(shape)
    moved = total(x.at[1].set(away)) - total(x)
    np.testing.assert_allclose(moved, 1e-6 * gradient[1].sum(), rtol=1e-3)


def test_under_jit_as_without():
    x = draw(3, (4, 4, 2))
    for K, traced in zip(CONV.kernel(x), jax.jit(CONV.kernel)(x), strict=True):
        np.testing.assert_allclose(traced, K, rtol=1e-9)
    diagonals = jax.jit(CONV.diagonal)(x)
    np.testing.assert_allclose(diagonals.ntk, np.diag(CONV.ntk(x)), rtol=1e-7)


def test_float32_stays_and_float64_on_request():
    x = draw(0, (6,)).astype(np.float32)
    K = DENSE.ntk(x)
    wide = DENSE.ntk(x, precision="float64")
    assert (K.dtype, wide.dtype) == (jnp.float32, jnp.float64)
    np.testing.assert_allclose(K, wide, rtol=2e-3)
    np.testing.assert_allclose(wide, DENSE.ntk(x.astype(np.float64)), rtol=1e-12)
