"""What is true of every kernel, on networks and inputs at random."""

from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tangentlab import infinite as inf
from tangentlab.infinite import cutting
from tests.infinite.networks import NETWORKS, examples

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
COSTLY = {"myrtle5", "wide_resnet", "conv_3d", "attention_images"}
NOISY = {"dropout", "dropout_conv"}  # an example meets itself with the same noise
NAMES = sorted(set(NETWORKS) - COSTLY)
SEEDS = st.integers(0, 2**16)
properties = settings(deadline=None, max_examples=8, derandomize=True)


def draw(seed, shape, n=5):
    return np.random.default_rng(seed).normal(size=(n, *shape))


def alone(batch, chosen):
    """Some of the examples."""
    parts = [None if part is None else np.asarray(part)[chosen] for part in batch]
    return inf.Batch(*parts)  # pyright: ignore[reportArgumentType]


@settings(deadline=None, max_examples=20, derandomize=True)
@given(st.sampled_from(NAMES), SEEDS)
def test_kernels_are_symmetric_and_positive_and_of_two_examples_alone(name, seed):
    """Among others, and in another order, two examples have the same kernels."""
    layer, x = NETWORKS[name].build(), examples(name, 5, seed)
    others = jax.tree.map(np.array, examples(name, 5, seed + 1))
    others.x[:] *= 10.0
    place, kept = np.array([0, 4]), np.array([3, 1])
    for part, own in zip(others, x, strict=True):
        if part is not None:
            part[place] = np.asarray(own)[kept]
    for K, other in zip(layer.kernel(x), layer.kernel(others), strict=True):
        np.testing.assert_array_equal(K, K.T)
        lam = np.linalg.eigvalsh(K)
        assert lam[0] > -1e-12 * lam[-1]
        found, wanted = other[jnp.ix_(place, place)], K[jnp.ix_(kept, kept)]
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


@settings(deadline=None, max_examples=4, derandomize=True)
@given(st.sampled_from(sorted(set(NAMES) - NOISY)), SEEDS)
def test_kernels_do_not_depend_on_how_pairs_are_cut(name, seed):
    """In tiles of one pair; and as rows of another set, not of their own."""
    layer, x = NETWORKS[name].build(), examples(name, 5, seed)
    found, across = layer.kernel(x), layer.kernel(alone(x, np.array([3, 1])), x)
    with mock.patch.dict(cutting._TARGET, {"cpu": 1}):
        small = layer.kernel(x)
    for K, tiled, part in zip(found, small, across, strict=True):
        np.testing.assert_allclose(tiled, K, rtol=1e-7)
        apart = ~np.eye(5, dtype=bool)
        np.testing.assert_allclose(tiled[apart], K[apart], rtol=1e-10)
        np.testing.assert_allclose(part, K[np.array([3, 1])], rtol=1e-7)


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
