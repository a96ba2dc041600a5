"""Energy concentration, in both readings."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab.analysis import energy_concentration_of
from tests.helpers import assert_close, psd_from_eigenvalues
from tests.networks import dense_apply

from .problems import N, mean_kernel, network, on_disk, positive, vectors


def test_it_is_a_ratio_of_norms_or_of_energies(getkey):
    K, V = psd_from_eigenvalues(jnp.array([4.0, 2.0, 1.0]), getkey())
    y = 3 * V[:, 0] + 4 * V[:, 2]
    assert_close(tl.energy_concentration(K, y, 1), 0.6)
    assert_close(tl.energy_concentration(K, y, 2), 0.6)
    assert_close(tl.energy_concentration(K, y, 3), 1.0)
    assert_close(tl.energy_concentration(K, y, 1, squared=True), 0.36)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**16), scale=st.floats(1e-3, 1e3))
def test_invariances_and_the_dense_formula(seed, scale):
    K, y = positive(seed), vectors(seed, N, 2)
    V = np.linalg.eigh(K)[1][:, ::-1][:, :4]
    expected = np.linalg.norm(V.T @ y, axis=0) / np.linalg.norm(y, axis=0)
    order = np.random.default_rng(seed).permutation(N)
    for A, b in ((K, y), (scale * K, -scale * y), (K[order][:, order], y[order])):
        np.testing.assert_allclose(
            tl.energy_concentration(A, b, 4), expected, rtol=1e-6
        )


def test_turning_vectors_inside_an_eigenspace_changes_nothing():
    Q = np.linalg.qr(vectors(0, 6, 6))[0]
    turned = np.linalg.qr(vectors(1, 3, 3))[0]
    y = vectors(2, 6)
    K = (Q * np.array([5, 5, 5, 2, 1, 0.5])) @ Q.T
    inside = Q[:, :3] @ turned
    expected = np.linalg.norm(inside.T @ y) / np.linalg.norm(y)
    assert tl.energy_concentration(K, y, 3) == pytest.approx(expected, rel=1e-10)


def test_chance_level():
    """A random target has the share k / n of its energy in k vectors."""
    y = vectors(3, 60, 4000)
    found = tl.energy_concentration(positive(0, 60), y, 15, squared=True)
    assert abs(found.mean() - 15 / 60) < 4 * found.std() / 4000**0.5


def test_from_a_spectrum_a_network_or_tiles(tmp_path):
    params, x, full = network()
    K, y = mean_kernel(full), vectors(4, N, 2)
    expected = tl.energy_concentration(K, y, 2)
    for found in (
        tl.energy_concentration(tl.spectrum(K, 4), y, 2),
        tl.energy_concentration(on_disk(tmp_path, K), y, 2),
        energy_concentration_of(dense_apply, params, x, y, 2, precision="float64"),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_a_target_of_zeros_is_nan():
    assert np.isnan(tl.energy_concentration(np.diag([2.0, 1.0]), np.zeros(2), 1))


@pytest.mark.parametrize("num", [0, 4, -1])
def test_it_needs_some_of_the_vectors(num):
    with pytest.raises(ValueError, match=r"`num` must lie in 1\.\.3"):
        tl.energy_concentration(jnp.eye(3), jnp.ones(3), num)
    with pytest.raises(ValueError, match=r"`num` must lie in 1\.\.2"):
        found = tl.spectrum(np.diag([3.0, 2.0, 1.0]), 2)
        tl.energy_concentration(found, jnp.ones(3), 5)


def test_messages(no_type_checks):
    with pytest.raises(ValueError, match="same n samples"):
        tl.energy_concentration(jnp.eye(3), jnp.ones(4), 1)
    with pytest.raises(ValueError, match="labels 0 and 1 become"):
        tl.energy_concentration(jnp.eye(3), jnp.ones(3, jnp.int32), 1)
    params, x, _ = network()
    with pytest.raises(ValueError, match=r"got shape \(4,\)"):
        energy_concentration_of(dense_apply, params, x, np.ones(4), 1)
