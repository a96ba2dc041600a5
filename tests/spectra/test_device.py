"""Decomposition on an accelerator: its code on the CPU's own JAX arrays."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.spectra import decomposition, device
from tests.helpers import assert_close

from .matrices import Rotated, decay


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    """JAX arrays count as arrays of an accelerator, in strips and panels of few."""

    def is_jax(K):
        return isinstance(K, jax.Array)

    monkeypatch.setattr(decomposition, "is_on_accelerator", is_jax)
    monkeypatch.setattr(device, "_STRIP", 7000)
    monkeypatch.setattr(device, "_PANEL", 64)
    monkeypatch.setattr("tangentlab.spectra.multiplying._DEVICE_STRIP", 7000)


def _residuals(K, spectrum):
    V = np.asarray(spectrum.eigenvectors, np.float64)
    return np.linalg.norm(
        np.asarray(K, np.float64) @ V - V * spectrum.eigenvalues, axis=0
    )


@pytest.mark.parametrize("refined", [0, 6, 256])
@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_float32_is_refined_beyond_its_own_rounding(
    exponent, refined, as_on_a_gpu, monkeypatch
):
    monkeypatch.setattr(device, "_LEADING", refined)
    K = jnp.asarray(Rotated(decay(300, exponent)).dense(), jnp.float32)
    found, known = tl.spectrum(K), tl.spectrum(np.asarray(K), method="dense")
    assert isinstance(found.eigenvectors, jax.Array)
    assert found.eigenvectors.dtype == jnp.float32 and found.method == "dense"
    apart, largest = _residuals(K, found), float(known.eigenvalues[0])
    assert (np.diff(found.eigenvalues) <= 0).all()
    np.testing.assert_allclose(found.residuals, apart, rtol=1e-6, atol=1e-14 * largest)
    assert found.trace == known.trace
    if refined:
        reached = np.maximum(1e-4 * known.eigenvalues, 1e-7 * largest)
        assert (apart <= reached).all()
        assert_close(found.eigenvectors[:, :5], np.float32(known.eigenvectors[:, :5]))
    errors = np.abs(found.eigenvalues - known.eigenvalues)
    assert errors.max() <= 1e-6 * known.eigenvalues[min(refined, 300 // 16)]


def test_a_device_without_room_says_what_to_do(as_on_a_gpu, monkeypatch):
    said = ["RESOURCE_EXHAUSTED: Unable to allocate workspace", "INTERNAL: else"]

    def full(_):
        raise jax.errors.JaxRuntimeError(said[0])

    monkeypatch.setattr(device, "_vectors", full)
    with pytest.raises(MemoryError, match=r"of 60 rows.*leading pairs.*TF_GPU"):
        tl.spectrum(jnp.eye(60))
    said.pop(0)
    with pytest.raises(jax.errors.JaxRuntimeError, match="else"):
        tl.spectrum(jnp.eye(60))


def test_a_solver_that_fails_returns_no_nan(as_on_a_gpu, monkeypatch):
    """JAX fills vectors with NaN then, and says nothing."""
    monkeypatch.setattr(device, "_vectors", lambda A: jnp.full_like(A, jnp.nan))
    K = jnp.eye(60, dtype=jnp.float32)
    with pytest.raises(
        np.linalg.LinAlgError, match=r"failed on a matrix of 60 rows .*method='krylov'"
    ):
        tl.spectrum(K)


def test_leading_pairs_do_without_the_device_s_solver(as_on_a_gpu, monkeypatch):
    def fails(A):
        return jnp.full(len(A), jnp.nan), jnp.full_like(A, jnp.nan)

    K = Rotated(decay(200, 1.0))
    monkeypatch.setattr(jnp.linalg, "eigh", fails)
    found = tl.spectrum(jnp.asarray(K.dense()), 10, method="krylov")
    assert_close(found.eigenvalues, K.lam[:10])
    assert found.num_unconverged == 0


def test_vectors_are_orthonormal_with_signs_fixed(as_on_a_gpu):
    K = jnp.asarray(Rotated(np.repeat(decay(100, 1.0), 2)).dense(), jnp.float32)
    found = tl.spectrum(K, method="dense")
    assert tl.spectra.orthogonality_error(found) < 1e-5
    V = np.asarray(found.eigenvectors)
    assert (V[np.abs(V).argmax(axis=0), np.arange(200)] > 0).all()


def test_float64_stays_float64_and_leading_pairs_can_be_asked_for(as_on_a_gpu):
    K = Rotated(decay(130, 3.0))
    found = tl.spectrum(jnp.asarray(K.dense()), 100)
    assert found.eigenvectors.shape == (130, 100)
    assert found.eigenvectors.dtype == jnp.float64
    np.testing.assert_allclose(found.eigenvalues, K.lam[:100], atol=1e-13)
    assert found.residuals.max() < 1e-13


def test_rank_deficient_kernels_are_refined_where_there_is_something(as_on_a_gpu):
    K = jnp.asarray(Rotated(np.r_[decay(7, 1.0), np.zeros(93)]).dense(), jnp.float32)
    with pytest.warns(tl.spectra.AccuracyWarning, match="93 of 100"):
        found = tl.spectrum(K)
    assert np.isfinite(found.eigenvectors).all()
    assert found.residuals.max() < 1e-7
    np.testing.assert_allclose(found.eigenvalues[:7], decay(7, 1.0), rtol=1e-6)


def test_zero_matrix_is_decomposed(as_on_a_gpu):
    found = tl.spectrum(jnp.zeros((10, 10), jnp.float32))
    assert not found.eigenvalues.any() and not found.residuals.any()
    assert tl.spectra.orthogonality_error(found) < 1e-6


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_leading_pairs_by_products_where_the_kernel_is(dtype, as_on_a_gpu):
    K = jnp.asarray(Rotated(decay(200, 1.0)).dense(), dtype)
    found = tl.spectrum(K, 10, method="krylov")
    known = tl.spectrum(np.asarray(K), 10, method="dense")
    assert found.method == "krylov" and isinstance(found.eigenvectors, np.ndarray)
    assert_close(found.eigenvalues, known.eigenvalues)
    assert_close(found.eigenvectors, known.eigenvectors)
    assert (_residuals(K, found) <= 1.01e-8 * known.eigenvalues).all()


@pytest.mark.parametrize("method", ["dense", "krylov"])
def test_spectrum_is_the_same_where_64_bit_types_are_switched_off(method, as_on_a_gpu):
    K = jnp.asarray(Rotated(decay(100, 1.0)).dense(), jnp.float32)
    known = tl.spectrum(K, 10, method=method)
    with jax.enable_x64(False):
        found = tl.spectrum(K, 10, method=method)
    np.testing.assert_array_equal(found.eigenvalues, known.eigenvalues)
    assert found.residuals.dtype == np.float64


@pytest.mark.parametrize(
    ("entry", "message"),
    [(np.nan, "first in row 70"), (np.inf, "first in row 70"), (1.0, "differ by 1")],
)
def test_bad_matrices_raise(entry, message, as_on_a_gpu):
    K = jnp.eye(90).at[70, 3].set(entry)
    with pytest.raises(ValueError, match=message):
        tl.spectrum(K)


def test_the_last_of_some_pairs_has_a_neighbor_too(as_on_a_gpu):
    K = jnp.diag(jnp.array([4.0, 2.0, 2.0, 1.0]))
    assert tl.spectrum(K, 2).unresolved.tolist() == [False, True]


def test_host_arrays_are_not_on_an_accelerator():
    assert not decomposition.is_on_accelerator(np.eye(2))
    assert not decomposition.is_on_accelerator(jnp.eye(2))
