"""Kernel norms, how far to trust them, and Lemma 1."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab.analysis import kernel_norm, kernel_norm_bound
from tests.networks import dense_apply

from .problems import N, mean_kernel, network, on_disk, positive, vectors


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_norm_is_a_solution_of_the_system(seed, ridge):
    K, y = positive(seed), vectors(seed, N, 2)
    found = kernel_norm(K, y, ridge=ridge)
    regular = K + ridge * np.eye(N)
    expected = (y * np.linalg.solve(regular, y)).sum(0)
    np.testing.assert_allclose(found.squared, expected, rtol=1e-8)
    bound = (y**2).sum(0) ** 2 / (y * (regular @ y)).sum(0)
    np.testing.assert_allclose(found.bound, bound, rtol=1e-10)
    mu = np.linalg.eigvalsh(regular)
    assert found.condition == pytest.approx(mu[-1] / mu[0], rel=1e-8)
    assert found.num_modes == N and not found.outside.any()


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 2**16), scale=st.floats(1e-3, 1e3))
def test_lemma_1(seed, scale):
    """The bound holds, and both sides scale as one over the kernel."""
    K, y = positive(seed), vectors(seed, N)
    found, scaled = kernel_norm(K, y), kernel_norm(scale * K, y)
    assert found.squared >= found.bound * (1 - 1e-12)
    rounding = 1e-15 * found.condition  # of the matrix, as the record says
    same = pytest.approx(float(found.squared), rel=1e-12 + rounding)
    assert scaled.squared * scale == same
    assert scaled.bound * scale == pytest.approx(float(found.bound), rel=1e-9)


def test_lemma_1_is_equal_on_eigenvectors_and_only_there():
    K = positive(0)
    mu, V = np.linalg.eigh(K)
    found = kernel_norm(K, V)
    np.testing.assert_allclose(found.squared, 1 / mu, rtol=1e-10)
    np.testing.assert_allclose(found.squared, found.bound, rtol=1e-10)
    mixed = kernel_norm(K, V[:, 0] + V[:, -1])
    assert mixed.squared > 2 * mixed.bound


def test_the_bound_needs_no_gram_matrix():
    params, x, full = network()
    f = vectors(1, N, 4)
    found = kernel_norm_bound(dense_apply, params, x, f)
    expected = kernel_norm(mean_kernel(full), f).bound
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    single = kernel_norm_bound(dense_apply, params, x, f[:, 0])
    assert single == pytest.approx(expected[0], rel=1e-10)


def test_what_a_singular_matrix_cannot_tell_is_told():
    mu, V = np.linalg.eigh(positive(0, rank=4))
    K, y = (V * np.where(mu > 1e-8, mu, 0)) @ V.T, vectors(2, N)
    found = kernel_norm(K, y)
    assert found.num_modes == 4
    inside = V[:, -4:].T @ y
    assert found.outside == pytest.approx(1 - (inside @ inside) / (y @ y), rel=1e-8)
    assert found.squared == pytest.approx((inside**2 / mu[-4:]).sum(), rel=1e-8)
    ridge = kernel_norm(K, y, ridge=1e-3)
    assert ridge.num_modes == N and ridge.outside == 0
    outside = float(found.outside) * (y @ y) / 1e-3
    assert ridge.squared == pytest.approx(outside + found.squared, rel=1e-3)


def test_float32_matrices_resolve_less_and_tiles_are_read(tmp_path):
    K = np.diag(np.array([1.0, 1e-3, 1e-9]))
    y = np.ones(3)
    assert kernel_norm(K, y).num_modes == 3
    single = kernel_norm(K.astype(np.float32), y)
    assert single.num_modes == 2 and single.outside == pytest.approx(1 / 3)
    tiled = on_disk(tmp_path, K.astype(np.float32), side=2)
    assert kernel_norm(tiled, y).squared == pytest.approx(float(single.squared))


def test_a_kernel_of_zeros():
    found = kernel_norm(np.zeros((2, 2)), np.ones(2))
    assert found.num_modes == 0 and found.outside == 1 and np.isnan(found.condition)


def test_messages(no_type_checks):
    with pytest.raises(ValueError, match="`ridge` must be finite and at least 0"):
        kernel_norm(np.eye(2), np.ones(2), ridge=-1.0)
    with pytest.raises(ValueError, match="same n samples"):
        kernel_norm(np.eye(2), np.ones(3))
    with pytest.raises(ValueError, match="square Gram matrix"):
        kernel_norm(np.ones((2, 3)), np.ones(2))


def test_labels_of_the_kernel_have_smaller_norm_than_random_ones():
    """What the norm is for: labels that follow the kernel against permuted ones."""
    x = np.random.default_rng(0).normal(size=(60, 2))
    K = np.exp(-((x[:, None] - x[None]) ** 2).sum(-1)) + 1e-3 * np.eye(60)
    y = np.sign(x[:, 0])
    random = np.stack([np.random.default_rng(i).permutation(y) for i in range(50)], 1)
    assert kernel_norm(K, y).squared < kernel_norm(K, random).squared.min()
    assert tl.spectrum(K).num_below_resolution == 0
