"""Theorem 1: both sides, measured."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy

from tangentlab.analysis import nads, stein, stein_sides
from tests.networks import dense_apply, dense_params

PARAMS = dense_params(jax.random.key(0), (3, 7, 1))
U = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0][:2]


@pytest.mark.parametrize("seed", range(3))
def test_both_sides_agree_within_their_errors(seed):
    params = dense_params(jax.random.key(seed), (3, 7, 1))
    found = stein_sides(dense_apply, params, U, 20_000, key=jax.random.key(seed))
    assert (np.abs(found.difference) < 3 * found.difference_error).all()
    assert (found.alignment_error < 0.01 * found.alignment).all()
    np.testing.assert_allclose(
        found.alignment - found.derivative, found.difference, rtol=1e-9
    )


def test_a_kernel_whose_alignment_is_known(monkeypatch):
    """f = w . x has gradient x, so that both sides are the squared length of u."""
    monkeypatch.setattr(stein, "_CHUNK", 100)
    found = stein_sides(
        lambda w, x: x @ w, jnp.ones((3, 1)), 2 * U, 8000, key=jax.random.key(1)
    )
    np.testing.assert_allclose(found.derivative, 4, rtol=1e-12)
    assert (found.derivative_error < 1e-12).all()
    assert (np.abs(found.alignment - 4) < 3 * found.alignment_error).all()


@pytest.mark.parametrize("size", [1e-30, 1e-3, 200.0, 1e30])
def test_both_sides_are_quadratic_in_the_direction(size):
    params = jax.tree.map(lambda a: a.astype(np.float32), PARAMS)
    found, one = (
        stein_sides(dense_apply, params, s * U, 200, key=jax.random.key(5))
        for s in (size, 1.0)
    )
    for name in ("alignment", "derivative", "difference_error"):
        expected = size**2 * getattr(one, name)
        np.testing.assert_allclose(getattr(found, name), expected, rtol=1e-4)


def test_what_is_alike_at_mirror_images_is_no_noise():
    """Nor is how far samples lie along the direction."""
    d, num = 400, 4000
    params = dense_params(jax.random.key(0), (d, 5, 1))
    params = jax.tree.map(lambda a: 0.3 * a, params)  # so that noise of u is small
    u = np.eye(1, d)
    found = stein_sides(dense_apply, params, u, num, key=jax.random.key(1))
    assert (np.abs(found.difference) < 3 * found.difference_error).all()
    x = np.random.default_rng(2).normal(size=(num, d))
    J = tangents(params, x)
    means = (J * (x @ u.T)).reshape(32, -1, J.shape[1]).mean(axis=1)
    value, error = stein._jackknife((means @ means.T)[None])
    assert abs(value - found.alignment) < 4 * error
    assert error > 4 * found.alignment_error


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_are_gaussian_and_spread_evenly_along_the_direction(dtype):
    u = jax.numpy.asarray([[0.6, 0.0], [0.0, -0.8]], dtype)
    x = np.asarray(stein._stratified(jax.random.key(4), 20_000, u), np.float64)
    flat = x.reshape(len(x), -1)
    np.testing.assert_allclose(flat.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(flat.T @ flat / len(x), np.eye(4), atol=0.04)
    along = np.sort(flat @ np.ravel(u))
    slabs = np.floor(scipy.special.ndtr(along) * len(x) + [[-1e-2], [1e-2]])
    own = np.arange(len(x))
    assert ((slabs[0] <= own) & (own <= slabs[1])).all()


def test_no_direction_gives_zeros():
    found = stein_sides(
        dense_apply, PARAMS, np.zeros((1, 3)), 64, key=jax.random.key(0)
    )
    np.testing.assert_array_equal(found.alignment, 0)
    np.testing.assert_array_equal(found.derivative, 0)


def tangents(params, x):
    """Gradients of all samples, as rows."""
    leaves = jax.tree.leaves(jax.jacobian(lambda p: dense_apply(p, x)[:, 0])(params))
    return np.concatenate([np.reshape(leaf, (len(x), -1)) for leaf in leaves], axis=1)


def test_products_of_groups_are_unbiased_and_errors_are_honest():
    """The naive squared norm of the mean would be too large by a quarter."""
    rng = np.random.default_rng(0)
    means = np.array([1.0, 0, 0]) + rng.normal(size=(5000, 12, 3))
    values, errors = stein._jackknife(means @ means.swapaxes(1, 2))
    naive = (means.mean(axis=1) ** 2).sum(axis=1)
    assert abs(values.mean() - 1) < 4 * values.std() / 5000**0.5
    assert naive.mean() - 1 == pytest.approx(3 / 12, rel=0.2)
    assert np.sqrt((errors**2).mean()) == pytest.approx(values.std(), rel=0.1)


def test_the_right_side_is_the_energy_of_nads():
    x = np.random.default_rng(2).normal(size=(4000, 3))
    found = stein_sides(dense_apply, PARAMS, U, 20_000, key=jax.random.key(3))
    averaged = nads(dense_apply, PARAMS, (3,), x)
    V = averaged.directions
    energies = ((U @ V.T) ** 2) @ averaged.energies
    np.testing.assert_allclose(energies, found.derivative, rtol=0.1)


def test_messages(no_type_checks):
    key = jax.random.key(0)
    with pytest.raises(ValueError, match=r"add the axis with `u\[None\]`"):
        stein_sides(dense_apply, PARAMS, U[0], 100, key=key)
    with pytest.raises(ValueError, match="at least 4 groups and a sample in each"):
        stein_sides(dense_apply, PARAMS, U, 100, key=key, num_groups=2)
    two = dense_params(key, (3, 4, 2))
    with pytest.raises(ValueError, match="of one output, this network has 2"):
        stein_sides(dense_apply, two, U, 100, key=key)
