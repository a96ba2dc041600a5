"""Complexity of targets along the modes of a spectrum, beside dense solves."""

import dataclasses

import numpy as np
import pytest

import tangentlab as tl
from tangentlab.analysis import complexity, kernel_norm, resolved_modes

from .problems import vectors

N = 24


def kernel(seed=0):
    """Positive definite, with eigenvalues over three decades."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((N, N)))
    return (Q * np.logspace(0, -3, N)) @ Q.T


@pytest.mark.parametrize("seed", range(3))
def test_a_whole_spectrum_gives_the_dense_solve(seed):
    K, y = kernel(seed), np.sign(vectors(seed, N, 3))
    found = complexity(tl.spectrum(K), y)
    solved = (y * np.linalg.solve(K, y)).sum(axis=0)
    np.testing.assert_allclose(found.squared, solved, rtol=1e-10)
    np.testing.assert_allclose(found.least, solved, rtol=1e-10)
    np.testing.assert_allclose(found.held, 1, rtol=1e-12)
    np.testing.assert_allclose(found.squared, kernel_norm(K, y).squared, rtol=1e-10)
    one = complexity(tl.spectrum(K), y[:, 1])
    assert one.squared.shape == () and one.squared == pytest.approx(solved[1])


@pytest.mark.parametrize("num", [1, 5, 20])
def test_leading_pairs_give_a_lower_bound(num):
    K, y = kernel(), np.sign(vectors(1, N, 4))
    found, whole = tl.spectrum(K, num), kernel_norm(K, y).squared
    some = complexity(found, y)
    lam, V = (a[..., ::-1][..., :num] for a in np.linalg.eigh(K))
    inside = (V.T @ y) ** 2
    held = inside.sum(axis=0) / N
    sums = (inside / lam[:, None]).sum(axis=0)
    np.testing.assert_allclose(some.squared, sums, rtol=1e-8)
    np.testing.assert_allclose(some.least, sums + N * (1 - held) / lam[-1], rtol=1e-8)
    assert (some.squared < some.least).all() and (some.least < whole).all()


def test_a_real_valued_eigenfunction_costs_its_inverse_eigenvalue():
    found = tl.spectrum(kernel())
    phi = np.sqrt(N) * np.asarray(found.eigenvectors)
    np.testing.assert_allclose(
        complexity(found, phi).squared, N / np.asarray(found.eigenvalues), rtol=1e-9
    )


def test_modes_that_are_not_resolved_are_left_out():
    found = tl.spectrum(np.diag([4.0, 2.0, 1.0]))
    coarse = dataclasses.replace(found, resolution=0.3)
    measured = complexity(coarse, np.ones(3))
    assert measured.squared == pytest.approx(1 / 4 + 1 / 2)
    assert measured.held == pytest.approx(2 / 3)
    assert measured.least == pytest.approx(1 / 4 + 1 / 2 + 1 / 2)
    none = complexity(dataclasses.replace(found, resolution=9.0), np.ones(3))
    assert (none.squared, none.held, none.least) == (0, 0, np.inf)
    kept = resolved_modes(found.eigenvalues, 0.3)
    assert kept.tolist() == [True, True, False]
