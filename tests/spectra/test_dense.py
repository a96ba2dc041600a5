import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.spectra import decomposition, dense, describing
from tests.helpers import assert_close, psd_from_eigenvalues


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("num", [None, 1, 3])
def test_known_eigenvalues_and_subspaces_are_found(seed, num):
    lam = jnp.array([5.0, 3.0, 2.0, 0.5, 0.0])
    K, V = psd_from_eigenvalues(lam, jax.random.key(seed))
    k = num or 5
    with warnings.catch_warnings():  # of the last one, which is 0 but for rounding
        warnings.simplefilter("ignore" if num is None else "error")
        found = tl.spectrum(K, num)
    assert_close(found.eigenvalues, lam[:k])
    projector = found.eigenvectors @ found.eigenvectors.T
    assert_close(projector, V[:, :k] @ V[:, :k].T)
    assert found.residuals.max() < 1e-13 * 5


def test_largest_entry_of_each_vector_is_positive():
    K, _ = psd_from_eigenvalues(jnp.arange(1.0, 7.0), jax.random.key(0))
    V = tl.spectrum(K).eigenvectors
    assert (V[np.abs(V).argmax(axis=0), np.arange(6)] > 0).all()


def test_mercer_divides_by_the_number_of_samples():
    spectrum = tl.spectrum(np.diag([8.0, 4.0]))
    assert spectrum.mercer.tolist() == [4.0, 2.0]


def test_float32_matrix_is_decomposed_in_float64_with_its_own_resolution():
    K, _ = psd_from_eigenvalues(jnp.array([1.0, 0.5, 1e-9]), jax.random.key(1))
    with pytest.warns(
        UserWarning, match=r"^1 of 3 eigenvalues lie below the resolution .*num=2"
    ):
        rounded = tl.spectrum(K.astype(jnp.float32))
    assert rounded.eigenvalues.dtype == np.float64
    assert rounded.num_below_resolution == 1
    assert rounded.resolution == pytest.approx(np.finfo(np.float32).eps)
    assert tl.spectrum(K).num_below_resolution == 0
    tl.spectrum(K.astype(jnp.float32), 2)  # nothing below is asked for: no warning


def test_negative_eigenvalues_are_counted_not_hidden():
    with pytest.warns(UserWarning, match="1 of 3 eigenvalues are negative, down to -1"):
        spectrum = tl.spectrum(np.diag([2.0, 1.0, -1.0]))
    assert (spectrum.num_negative, spectrum.num_below_resolution) == (1, 1)
    assert spectrum.eigenvalues.tolist() == [2.0, 1.0, -1.0]


def _warnings(K, num=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tl.spectrum(K, num)
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_negative_eigenvalue_is_no_rounding(dtype):
    (said,) = _warnings(np.array([[-2.0]], dtype))
    assert said.startswith("1 of 1 eigenvalues are negative, down to -2, which is no")
    assert said.endswith("not positive semi-definite, as every Gram matrix is.")
    assert len(_warnings(np.diag([1.0, 1e-20, -0.5]).astype(dtype))) == 2


@pytest.mark.parametrize("rank", [1, 10])
def test_negative_eigenvalues_of_a_gram_matrix_are_rounding(rank):
    features = np.random.default_rng(rank).standard_normal((100, rank))
    (said,) = _warnings(features @ features.T)
    assert "they and their vectors are rounding" in said


def test_advice_is_what_can_be_done():
    lam = np.array([1.0, 0.5, 1e-20])
    (narrow,) = _warnings(np.diag(lam).astype(np.float32))
    assert narrow.endswith("rounding. Ask for num=2, or compute it in float64.")
    (wide,) = _warnings(np.diag(lam))
    assert wide.endswith("rounding. Ask for num=2.")
    _, nothing_left = _warnings(np.diag([1e-20, -1.0]))
    assert nothing_left.endswith("their vectors are rounding.")


def test_clusters_within_rounding_are_flagged():
    K = np.diag([3.0, 2.0, 2.0 + 1e-16, 1.0])
    apart = tl.spectrum(np.diag([3.0, 2.0, 2.0 - 1e-13, 1.0]))
    assert not apart.unresolved.any()
    spectrum = tl.spectrum(K)
    assert spectrum.unresolved.tolist() == [False, True, True, False]
    assert spectrum.num_unresolved == 2
    assert spectrum.trace == K.trace() and spectrum.method == "dense"


def rotated(lam, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((len(lam), len(lam))))
    return ((Q * lam) @ Q.T).astype(dtype)


def circulant(n):
    """The matrix of exp(-distance / 5) on a circle, and its pairs of equal modes."""
    steps = np.abs(np.arange(n)[:, None] - np.arange(n))
    pairs = np.ones(n, bool)
    pairs[[0, n - 1]] = False
    return np.exp(-np.minimum(steps, n - steps) / 5), pairs


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n", [6, 64, 256])
def test_equal_eigenvalues_are_flagged_however_lapack_parts_them(n, seed, dtype):
    whole = np.repeat([3.0, 1.0], n // 2)
    assert tl.spectrum(rotated(whole, seed, dtype)).unresolved.all()
    pairs = np.repeat(1 / np.arange(1.0, 9), 2)[: n // 2]
    alone = 1 / np.arange(9.0, 9 + n - len(pairs))
    found = tl.spectrum(rotated(np.concatenate([pairs, alone]), seed, dtype))
    assert found.unresolved[: len(pairs) - len(pairs) % 2].all()
    assert not found.unresolved[len(pairs) :].any()


@pytest.mark.parametrize("n", [64, 128])
def test_equal_eigenvalues_of_a_circulant_kernel_are_flagged(n):
    K, pairs = circulant(n)
    assert tl.spectrum(K).unresolved.tolist() == pairs.tolist()


@pytest.mark.parametrize("method", ["dense", "krylov"])
def test_the_last_of_some_pairs_has_a_neighbor_too(method):
    """Three pairs, of which the third is one of two equal ones."""
    K = np.diag([4.0, 3.0, 2.0, 2.0, 1.0, 0.5]).astype(np.float32)
    cut, whole = (tl.spectrum(K, num, method=method) for num in (3, 2))
    assert cut.unresolved.tolist() == [False, False, True]
    assert whole.unresolved.tolist() == [False, False]


@pytest.mark.parametrize(
    ("K", "num", "message"),
    [
        (np.ones((2, 3)), None, "square Gram matrix"),
        (np.eye(3), 0, r"`num` must lie in 1\.\.3"),
        (np.eye(3), 4, r"`num` must lie in 1\.\.3"),
        (np.eye(3), 2.0, r"`num` must be a whole number of pairs, got 2\.0"),
        (np.eye(3), True, "`num` must be a whole number of pairs, got True"),
        (np.eye(3), np.True_, "`num` must be a whole number of pairs, got np.True_"),
        (np.eye(0), None, r"`K` is empty, of shape \(0, 0\)"),
        ([[]], None, r"square Gram matrix \(n, n\), got shape \(1, 0\)"),
        ([1.0, 2.0], None, r"square Gram matrix \(n, n\), got shape \(2,\)"),
        (None, None, r"square Gram matrix \(n, n\), got shape \(\)"),
        ([[1, 0], [0, 1]], None, "must be real-valued, got dtype int64"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), None, "first in row 0"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), None, "must be symmetric"),
        (np.array([[1, 0.2], [0.9, 1]], np.float16), None, "must be symmetric"),
        (jnp.array([[1, -1], [1, 1]], jnp.bfloat16), None, "must be symmetric"),
        (np.eye(2) * 1j, None, "must be real-valued, got dtype complex128"),
        (np.eye(2, dtype=int), None, "must be real-valued, got dtype int64"),
        (
            np.broadcast_to(np.ones(1), (40_000, 40_000)),
            None,
            "at most n = 32766.*num=",
        ),
        (
            np.broadcast_to(np.ones(1), (40_000, 40_000)),
            20_000,
            "at most 16383 .*got num=20000. Ask for fewer",
        ),
    ],
)
def test_bad_matrices_raise(K, num, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.spectrum(K, num)


def test_a_traced_matrix_raises():
    with pytest.raises(TypeError, match="`K` is traced, .* outside `jax.jit`"):
        jax.jit(lambda K: tl.spectrum(K).eigenvalues)(jnp.eye(2))


def test_nested_lists_are_a_matrix():
    assert tl.spectrum([[1.0]]).eigenvalues.tolist() == [1.0]
    assert tl.spectrum([[1.0, 0.0], [0.0, 3.0]], 1).eigenvalues.tolist() == [3.0]


def test_what_does_not_fit_memory_is_refused_before_the_work(monkeypatch):
    K = np.diag(np.arange(1.0, 1101))
    monkeypatch.setattr(dense, "host_memory", lambda: 10**7)
    for num in (None, 500):
        with pytest.raises(MemoryError, match=r"1,100 rows takes .*method='krylov'"):
            tl.spectrum(K, num)
    assert tl.spectrum(K[:600, :600], 10).method == "dense"


def test_pairs_that_do_not_converge_stay_where_dense_does_not_fit(monkeypatch):
    def rough(K, num, *options):
        V = np.eye(len(K))[:, :num]
        return describing.Solution(np.ones(num), V, np.ones(num), "krylov", num, "No.")

    monkeypatch.setattr(decomposition, "_krylov", rough)
    K = np.eye(1100)
    assert tl.spectrum(K, 2).method == "dense"
    monkeypatch.setattr(dense, "host_memory", lambda: 10**7)
    with pytest.warns(UserWarning, match="No."):
        assert tl.spectrum(K, 2).method == "krylov"


def test_the_error_of_the_matrix_decides_what_is_resolved():
    K = np.diag([1.0, 0.5, 0.4999, 0.01, 1e-5])
    with pytest.warns(UserWarning, match="1 of 5 .*its relative error 0.001 times"):
        found = tl.spectrum(K, epsilon=1e-3)
    assert found.resolution == pytest.approx(1e-3)
    assert found.unresolved.tolist() == [False, True, True, False, False]
    assert found.num_below_resolution == 1
    with pytest.raises(ValueError, match=r"`epsilon` is a relative error.* got 2"):
        tl.spectrum(K, epsilon=2.0)
    rounding = tl.spectrum(K.astype(np.float32), epsilon=0.0).resolution
    assert rounding == np.finfo(np.float32).eps  # and never less than that
    with pytest.raises(ValueError, match="Eigenvalue 4 of `K_mm` .*Ask for num=4"):
        tl.spectra.nystrom(K, K, 5, epsilon=1e-3)
