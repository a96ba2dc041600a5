import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.helpers import assert_close

from .matrices import Rotated, decay


def _samples(n):
    x = np.random.default_rng(0).uniform(-1, 1, n)
    return np.exp(-((x[:, None] - x[None]) ** 2) / 0.5)


def test_all_samples_as_landmarks_give_the_spectrum_itself():
    K = Rotated(decay(50, 1.0)).dense()
    found, known = tl.spectra.nystrom(K, K, 50), tl.spectrum(K)
    assert_close(found.eigenvalues, known.eigenvalues)
    assert_close(found.eigenvectors, known.eigenvectors)
    assert found.residuals.max() < 1e-13 and found.method == "nystrom"
    assert found.trace == pytest.approx(known.trace)


def test_formula_of_the_paper_with_vectors_of_unit_norm():
    K, m, n = _samples(60), 20, 60
    lam, U = np.linalg.eigh(K[:m, :m])
    lam, U = lam[::-1][:4], U[:, ::-1][:, :4]
    found = tl.spectra.nystrom(K[:m, :m], K[:, :m], 4)
    assert_close(found.eigenvalues, n / m * lam)
    V = np.sqrt(m / n) * K[:, :m] @ U / lam
    cosines = (V * found.eigenvectors).sum(axis=0) / np.linalg.norm(V, axis=0)
    assert_close(np.abs(cosines), np.ones(4))
    assert_close(np.linalg.norm(found.eigenvectors, axis=0), np.ones(4))
    assert found.resolution == pytest.approx(np.finfo(float).eps * n / m * lam[0])


def test_errors_fall_with_landmarks_and_estimates_follow_the_truth():
    K = _samples(2000)
    known, last = tl.spectrum(K, 3), np.inf
    for m in (50, 200, 800):
        found = tl.spectra.nystrom(K[:m, :m], K[:, :m], 3)
        V = found.eigenvectors
        truth = np.linalg.norm(K @ V - V * found.eigenvalues, axis=0)
        ratio = found.residuals / truth
        assert (ratio > 1 / 3).all() and (ratio < 3).all()
        error = np.abs(found.eigenvalues / known.eigenvalues - 1).max()
        assert error < last
        last = error
        overlap = np.abs((V * known.eigenvectors).sum(axis=0))
        assert (overlap > 1 - 10 / m).all()
    assert tl.spectra.orthogonality_error(found) < 0.05
    assert tl.spectra.orthogonality_error(known) < 1e-9


def test_float32_and_kernels_on_disk_are_taken(tmp_path):
    x = np.random.default_rng(0).standard_normal((90, 3)).astype(np.float32)
    params = np.random.default_rng(1).standard_normal((3, 9)).astype(np.float32)

    def apply(params, x):
        return jnp.tanh(x @ params).sum(axis=1, keepdims=True)

    K_mm = tl.gram(apply, params, x[:30])
    K_nm = tl.gram(apply, params, x, x[:30])
    stored = tl.gram(apply, params, x, x[:30], store=tmp_path / "K")
    assert isinstance(stored, tl.TiledGram)
    here, there = (tl.spectra.nystrom(K_mm, K, 5) for K in (K_nm, stored))
    np.testing.assert_allclose(here.eigenvectors, there.eigenvectors, atol=1e-4)
    np.testing.assert_allclose(here.residuals, there.residuals, rtol=1e-3)


@pytest.mark.parametrize(
    ("m_shape", "n_shape", "num", "message"),
    [
        ((3, 4), (9, 3), 2, "`K_mm` must be a square"),
        ((3, 3), (9, 4), 2, r"the 3 landmarks, \(n, 3\) with n at least 3, got .*9, 4"),
        ((3, 3), (2, 3), 2, "with n at least 3"),
        ((3, 3), (9, 3), 4, r"`num` must lie in 1\.\.3"),
    ],
)
def test_what_does_not_fit_raises(m_shape, n_shape, num, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.spectra.nystrom(np.ones(m_shape), np.ones(n_shape), num)


def test_landmarks_of_a_lower_rank_raise():
    with pytest.raises(
        ValueError, match="Eigenvalue 1 of `K_mm` .* below the resolution .*num=1"
    ):
        tl.spectra.nystrom(np.diag([2.0, 0.0, 0.0]), np.ones((9, 3)), 2)
    with pytest.raises(ValueError, match=r"Eigenvalue 0 .*beyond the landmarks\.$"):
        tl.spectra.nystrom(np.zeros((1, 1)), np.zeros((2, 1)), 1)


def test_rows_without_the_landmarks_raise():
    with pytest.raises(ValueError, match="nothing of eigenvector 0 .* `K_mm` itself"):
        tl.spectra.nystrom(np.eye(1), np.zeros((2, 1)), 1)


def test_nested_lists_are_matrices():
    found = tl.spectra.nystrom([[2.0]], [[2.0], [1.0]], 1)
    known = tl.spectra.nystrom(np.array([[2.0]]), np.array([[2.0], [1.0]]), 1)
    np.testing.assert_array_equal(found.eigenvectors, known.eigenvectors)
    with pytest.raises(ValueError, match=r"`K_mm` is empty, of shape \(0, 0\)"):
        tl.spectra.nystrom(np.zeros((0, 0)), np.zeros((3, 0)), 1)
