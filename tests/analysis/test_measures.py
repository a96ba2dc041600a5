import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.helpers import assert_close, psd_from_eigenvalues
from tests.networks import dense_apply, dense_params


@pytest.mark.parametrize("seed", range(3))
def test_alignment_needs_no_gram_matrix(seed):
    keys = jax.random.split(jax.random.key(seed), 3)
    params = dense_params(keys[0], (3, 5, 1))
    x, f = jax.random.normal(keys[1], (9, 3)), jax.random.normal(keys[2], (9, 2))
    K = tl.gram(dense_apply, params, x)
    reference = jnp.stack([v @ K @ v for v in f.T]) / 9**2
    np.testing.assert_allclose(
        tl.alignment(dense_apply, params, x, f), reference, rtol=1e-10
    )


def test_alignment_of_an_eigenfunction_is_its_mercer_eigenvalue(getkey):
    params = dense_params(getkey(), (3, 5, 1))
    x = jax.random.normal(getkey(), (8, 3))
    spectrum = tl.spectrum(tl.gram(dense_apply, params, x))
    phi = np.sqrt(8) * spectrum.eigenvectors
    np.testing.assert_allclose(
        tl.alignment(dense_apply, params, x, phi),
        spectrum.mercer,
        rtol=1e-9,
        atol=1e-12,
    )


def test_alignment_streams_over_all_samples(getkey, monkeypatch):
    params = dense_params(getkey(), (3, 5, 1))
    x, f = jax.random.normal(getkey(), (10, 3)), jax.random.normal(getkey(), (10, 1))
    whole = tl.alignment(dense_apply, params, x, f)
    monkeypatch.setattr("tangentlab.analysis.measures._BLOCK", 4)
    assert_close(tl.alignment(dense_apply, params, x, f), whole)


def test_energy_concentration_is_a_ratio_of_norms(getkey):
    K, V = psd_from_eigenvalues(jnp.array([4.0, 2.0, 1.0]), getkey())
    y = 3 * V[:, 0] + 4 * V[:, 2]
    assert_close(tl.energy_concentration(K, y, 1), 0.6)
    assert_close(tl.energy_concentration(K, y, 2), 0.6)
    assert_close(tl.energy_concentration(K, y, 3), 1.0)


def test_kernel_distance_ignores_scale_and_is_symmetric(getkey):
    K, _ = psd_from_eigenvalues(jnp.array([3.0, 1.0]), getkey())
    L, _ = psd_from_eigenvalues(jnp.array([2.0, 1.0]), getkey())
    assert_close(tl.kernel_distance(K, 5 * K), 0.0)
    assert_close(tl.kernel_distance(K, L), tl.kernel_distance(L, K))
    reference = 1 - jnp.trace(K @ L) / jnp.sqrt(jnp.trace(K @ K) * jnp.trace(L @ L))
    assert_close(tl.kernel_distance(K, L), reference)


def test_other_samples_raise(no_type_checks):
    with pytest.raises(ValueError, match="same n samples"):
        tl.kernel_distance(jnp.eye(3), jnp.eye(4))
    with pytest.raises(ValueError, match="same n samples"):
        tl.energy_concentration(jnp.eye(3), jnp.ones(4), 1)


@pytest.mark.parametrize("num", [0, 4, -1])
def test_energy_concentration_needs_some_of_the_vectors(num):
    with pytest.raises(ValueError, match=r"`num` must lie in 1\.\.3"):
        tl.energy_concentration(jnp.eye(3), jnp.ones(3), num)


@pytest.mark.parametrize(
    ("outputs", "rows", "message"),
    [(2, 9, "scalar network, this one has 2"), (1, 8, r"\(9, k\), got shape \(8, 2\)")],
)
def test_alignment_refuses_what_it_cannot_measure(
    getkey, outputs, rows, message, no_type_checks
):
    params = dense_params(getkey(), (3, 5, outputs))
    x, f = jnp.ones((9, 3)), jnp.ones((rows, 2))
    with pytest.raises(ValueError, match=message):
        tl.alignment(dense_apply, params, x, f)


def test_alignment_leaves_integer_buffers_alone(getkey):
    net, x = dense_params(getkey(), (3, 5, 1)), jax.random.normal(getkey(), (6, 3))
    params = {"net": net, "order": jnp.array([2, 0, 1])}
    f = jax.random.normal(getkey(), (6, 2))
    measured = tl.alignment(
        lambda p, x: dense_apply(p["net"], x[:, p["order"]]), params, x, f
    )
    reference = tl.alignment(dense_apply, net, x[:, params["order"]], f)
    assert_close(measured, reference)
