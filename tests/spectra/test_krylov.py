"""The block Krylov method against spectra that are known."""

import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.spectra.krylov import Effort, leading, usual_effort
from tests.helpers import assert_close

from .matrices import Rotated, decay

_TOLERANCE = 1e-8


def _check(K, found, num, tolerance=_TOLERANCE):
    """Eigenvalues, orthonormality, and residuals evaluated apart."""
    lam, V = found.values, np.asarray(found.vectors)
    largest = np.abs(K.lam).max()
    np.testing.assert_allclose(lam, K.lam[:num], rtol=0, atol=1e-10 * largest)
    np.testing.assert_allclose(V.T @ V, np.eye(num), atol=1e-12)
    apart = np.linalg.norm(K @ V - V * lam, axis=0)
    np.testing.assert_allclose(found.residuals, apart, rtol=0.01, atol=1e-13 * largest)
    reached = tolerance * np.maximum(np.abs(lam), 1e-3 * largest)
    assert found.converged.all() and (apart <= 1.01 * reached).all()


def _leading(K, num, xp=np, **changes):
    n = K.shape[0]
    effort = usual_effort(n, num)._replace(**changes)
    multiply = K if xp is np else jnp.asarray(K.dense())
    return leading(
        lambda V: multiply @ V, n, num, tolerance=_TOLERANCE, effort=effort, xp=xp
    )


@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 4.0])
def test_power_laws_are_found(exponent, xp):
    K = Rotated(decay(400, exponent))
    found = _leading(K, 20, xp)
    _check(K, found, 20)
    assert found.num_columns <= (400 if exponent < 1 else 200)


SPECTRA = {
    "every eigenvalue twice": np.repeat(decay(60, 1.0), 2),
    "one value forty times, more than a block": np.r_[
        [3.0] * 40, [2.0] * 40, [1.0] * 40
    ],
    "a large value many times, then decay": np.r_[[5.0] * 30, decay(90, 1.0)],
    "near duplicates": np.repeat(decay(60, 1.0), 2) * (1 + 1e-13 * np.arange(120)),
    "rank seven": np.r_[decay(7, 1.0), np.zeros(113)],
    "identity": np.ones(120),
    "zero": np.zeros(120),
    "indefinite, the largest negative": np.r_[decay(60, 1.0), -5 * decay(60, 1.0)],
    "negative": -1 - decay(120, 1.0),
    "a cluster around the last": np.r_[
        decay(9, 1.0), 0.1 + 1e-6 * np.arange(40), np.zeros(71)
    ],
    "huge": 1e100 * decay(120, 2.0),
    "tiny": 1e-100 * decay(120, 2.0),
}


@pytest.mark.parametrize("num", [1, 10, 24, 120])
@pytest.mark.parametrize("name", SPECTRA)
def test_multiplicities_ranks_and_signs_are_found(name, num):
    K = Rotated(SPECTRA[name])
    _check(K, _leading(K, num), num)


@pytest.mark.parametrize("n", [1, 2, 3, 9])
def test_smallest_matrices_are_decomposed_whole(n):
    K = Rotated(decay(n, 1.0))
    for num in range(1, n + 1):
        _check(K, _leading(K, num), num)


def test_diagonal_matrices_are_not_a_trap_for_replacing_directions():
    """Directions of the identity are exactly in spaces that a diagonal matrix makes."""
    lam = np.repeat([4.0, 2.0, 0.0], 20)
    found = leading(
        lambda V: lam[:, None] * V,
        60,
        50,
        tolerance=_TOLERANCE,
        effort=Effort(5, 60, 1000),
    )
    assert_close(found.values, lam[:50])


@pytest.mark.parametrize("block", [1, 3, 16, 50])
def test_values_do_not_depend_on_the_block(block):
    K = Rotated(decay(300, 1.5))
    found = _leading(K, 12, block=block)
    _check(K, found, 12)


@pytest.mark.parametrize("xp", [np, jnp], ids=["numpy", "jax"])
def test_restarts_converge_in_little_memory(xp):
    K = Rotated(decay(500, 0.7))
    free, small = _leading(K, 10, xp, largest=500), _leading(K, 10, xp, largest=60)
    _check(K, small, 10)
    assert small.num_columns > 60  # there were restarts
    assert_close(small.values, free.values)


def test_search_ends_with_what_it_has_and_says_so():
    K = Rotated(decay(500, 0.3))
    found = _leading(K, 20, columns=60, largest=100)
    assert not found.converged.all()
    apart = np.linalg.norm(K @ found.vectors - found.vectors * found.values, axis=0)
    assert_close(found.residuals, apart)
    assert found.excess == pytest.approx(
        (apart / (_TOLERANCE * found.values)).max(), rel=1e-3
    )


def test_copies_that_one_vector_cannot_find_are_found_by_a_fresh_one():
    """A Krylov space of one vector holds one copy of each eigenvalue."""
    K = Rotated(np.r_[2.0, 2.0, 2.0, decay(100, 3.0)])
    _check(K, _leading(K, 5, block=1), 5)


def test_pairs_are_the_same_at_every_call():
    K = Rotated(decay(200, 1.0))
    first, second = _leading(K, 8), _leading(K, 8)
    np.testing.assert_array_equal(first.vectors, second.vectors)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_spectrum_chooses_krylov_where_it_is_cheaper(dtype):
    K = Rotated(decay(1000, 1.0)).dense().astype(dtype)
    found, dense = tl.spectrum(K, 60), tl.spectrum(K, 60, method="dense")
    assert (found.method, dense.method) == ("krylov", "dense")
    assert tl.spectrum(K, 63).method == "dense"
    assert_close(found.eigenvalues, dense.eigenvalues)
    assert_close(found.eigenvectors[:, :20], dense.eigenvectors[:, :20])
    assert found.resolution == pytest.approx(dense.resolution)
    assert found.trace == dense.trace == pytest.approx(decay(1000, 1.0).sum())
    assert found.num_unconverged == 0
    largest = found.residuals / found.eigenvalues
    assert largest.max() <= 1e-8 and found.eigenvalues.dtype == np.float64


def test_krylov_that_does_not_converge_warns_or_is_replaced(monkeypatch):
    def few(n, num):
        return Effort(4, 40, 44)

    monkeypatch.setattr("tangentlab.spectra.matrix_free.usual_effort", few)
    K = Rotated(decay(1000, 0.5)).dense()
    with pytest.warns(
        tl.spectra.AccuracyWarning,
        match=r"^\d+ of 10 pairs did not converge to tolerance 1e-08 with 44 columns",
    ):
        found = tl.spectrum(K, 10, method="krylov")
    assert found.num_unconverged > 0
    replaced = tl.spectrum(K, 10)
    assert (replaced.method, replaced.num_unconverged) == ("dense", 0)


def test_no_space_grows_beyond_the_limit_of_lapack():
    """Its own decomposition is LAPACK's, too."""
    assert usual_effort(60_000, 1000).largest == 7250
    for num in (6000, 16_383):
        effort = usual_effort(60_000, num)
        assert num + 2 * effort.block < effort.largest == 32_766
    assert usual_effort(32_766, 32_766).largest == 32_766


def test_leading_pairs_beyond_the_limit_of_lapack_need_products_alone():
    class Large(Rotated):
        def diagonal(self):
            u = self._u[:, 0]
            return self.lam - 4 * u**2 * self.lam + 4 * u**2 * (self.lam @ u**2)

    K = Large(decay(33_000, 2.0))
    found = tl.spectrum(K, 3)
    assert found.method == "krylov" and found.num_unconverged == 0
    assert_close(found.eigenvalues, K.lam[:3])
    assert found.trace == pytest.approx(K.lam.sum())
    assert np.isfinite(found.eigenvectors).all()


def test_anything_with_shape_slices_and_products_is_taken():
    K = Rotated(decay(1000, 1.0))
    by_products, whole = tl.spectrum(K, 5), tl.spectrum(K.dense(), 5)
    assert_close(by_products.eigenvalues, whole.eigenvalues)
    assert_close(by_products.eigenvectors, whole.eigenvectors)
    assert by_products.trace == pytest.approx(whole.trace)


def test_kernel_on_disk_is_streamed(tmp_path, monkeypatch):
    x = np.random.default_rng(0).standard_normal((1000, 3))
    params = np.random.default_rng(1).standard_normal((3, 40))

    def apply(params, x):
        return jnp.tanh(x @ params).sum(axis=1, keepdims=True)

    K = tl.gram(apply, params, x)
    stored = tl.gram(apply, params, x, store=tmp_path / "K")
    assert isinstance(stored, tl.TiledGram)
    monkeypatch.delattr(tl.TiledGram, "__array__")
    found, known = tl.spectrum(stored, 20), tl.spectrum(K, 20, method="dense")
    assert_close(found.eigenvalues, known.eigenvalues)
    assert_close(found.eigenvectors, known.eigenvectors)
    assert found.trace == pytest.approx(known.trace)


@pytest.mark.parametrize(
    ("entry", "message"),
    [(np.nan, "first in row 7"), (np.inf, "first in row 7"), (1e3, "u K v and v K u")],
)
def test_bad_matrices_raise(entry, message):
    K = Rotated(decay(1000, 1.0)).dense()
    K[7, 3] = entry
    with pytest.raises(ValueError, match=message):
        tl.spectrum(K, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "lanczos"}, "Unknown method 'lanczos'. Known: auto, dense, krylov"),
        ({"tolerance": 0.0}, "between 0 and 1, such as 1e-8, got 0.0"),
        ({"tolerance": 1.0}, "between 0 and 1"),
    ],
)
def test_bad_options_raise(options, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.spectrum(np.eye(3), 1, **options)


class _Slices:
    """A matrix on disk, as far as a search knows it."""

    def __init__(self, K):
        self.array, self.shape, self.dtype = K, K.shape, K.dtype

    def __getitem__(self, key):
        return self.array[key]

    def __matmul__(self, V):
        return self.array @ V


@pytest.mark.parametrize("kind", [np.asarray, _Slices], ids=["array", "slices"])
def test_what_does_not_converge_because_it_is_not_symmetric_is_refused(kind):
    """One entry is too little for random products to see."""
    K = Rotated(1e4 * decay(400, 1.0)).dense().astype(np.float32)
    K[3, 250] += 5
    with pytest.raises(ValueError, match="must be symmetric.* differ by 5"):
        tl.spectrum(kind(K), 10, method="krylov")
