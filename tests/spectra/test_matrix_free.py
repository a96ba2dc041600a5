import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.helpers import assert_close
from tests.networks import dense_apply, dense_params

from .matrices import Rotated, decay


def test_products_are_enough():
    K = Rotated(decay(200, 1.0))
    found = tl.spectra.leading_pairs(lambda V: K @ V, 200, 10, trace=3.0)
    assert_close(found.eigenvalues, K.lam[:10])
    known = np.abs(K.vectors[:, :10])
    assert_close(np.abs(found.eigenvectors), known)
    assert (
        found.eigenvectors[np.abs(found.eigenvectors).argmax(0), range(10)] > 0
    ).all()
    assert (found.trace, found.method, found.num_unconverged) == (3.0, "krylov", 0)


@pytest.mark.parametrize("outputs", [1, 3])
def test_kernel_that_is_never_formed_has_the_spectrum_of_its_gram(outputs, getkey):
    params = dense_params(getkey(), (4, 16, outputs))
    x = jax.random.normal(getkey(), (50, 4))
    found = tl.spectra.spectrum_of(dense_apply, params, x, 8)
    K = tl.gram(dense_apply, params, x)
    known = tl.spectrum(K, 8, method="dense")
    assert_close(found.eigenvalues, known.eigenvalues)
    assert_close(found.eigenvectors, known.eigenvectors)
    assert found.trace == pytest.approx(np.trace(K))
    assert found.resolution == pytest.approx(known.resolution)


def test_float32_network_is_held_to_what_float32_can_do(getkey):
    params = dense_params(getkey(), (4, 16, 1), jnp.float32)
    x = jax.random.normal(getkey(), (60, 4), jnp.float32)
    found = tl.spectra.spectrum_of(dense_apply, params, x, 6)
    exact = tl.spectra.spectrum_of(dense_apply, params, x, 6, precision="float64")
    np.testing.assert_allclose(found.eigenvalues, exact.eigenvalues, rtol=1e-5)
    reached = np.maximum(1e-4 * found.eigenvalues, 1e-7 * found.eigenvalues[0])
    assert (found.residuals <= reached).all()
    assert found.resolution > 1e8 * exact.resolution


def test_nothing_is_hidden_of_products_that_are_rough():
    """Noise far above the tolerance: residuals do not converge, and that is said."""
    K, random = Rotated(decay(300, 1.0)), np.random.default_rng(0)

    def product(V):
        return K @ V + 1e-6 * random.standard_normal(V.shape)

    with pytest.warns(tl.spectra.AccuracyWarning, match="of 5 pairs did not converge"):
        found = tl.spectra.leading_pairs(product, 300, 5, epsilon=1e-6)
    assert found.num_unconverged > 0
    np.testing.assert_allclose(found.eigenvalues, K.lam[:5], atol=1e-4)


@pytest.mark.parametrize(
    ("product", "num", "message"),
    [
        (lambda V: V, 0, r"`num` must lie in 1\.\.9, got 0"),
        (lambda V: V, 10, r"`num` must lie in 1\.\.9, got 10"),
        (lambda V: V[:4], 2, r"has shape \(4, 8\): it must be that of a square"),
        (lambda V: V * np.nan, 2, "product with `K` holds NaN or infinite"),
        (lambda V: np.roll(V, 1, axis=0), 2, "must be symmetric, but u K v and v K u"),
    ],
)
def test_what_is_no_symmetric_matrix_raises(product, num, message):
    with pytest.raises(ValueError, match=message):
        tl.spectra.leading_pairs(product, 9, num)


@pytest.mark.parametrize(
    ("n", "epsilon", "message"),
    [
        (2.0, 1e-16, r"`n` must be the side of the matrix, 1 or more, got 2\.0"),
        (0, 1e-16, "`n` must be the side of the matrix, 1 or more, got 0"),
        (True, 1e-16, "`n` must be the side .* got True"),
        (2, -1.0, r"`epsilon` is a relative error.* got -1\.0"),
        (2, np.nan, "`epsilon` is a relative error.* got nan"),
    ],
)
def test_bad_sizes_of_a_matrix_raise(n, epsilon, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.spectra.leading_pairs(lambda V: V, n, 1, epsilon=epsilon)


def test_a_matrix_is_no_product(no_type_checks):
    with pytest.raises(TypeError, match="must be a function .* got ndarray: pass"):
        tl.spectra.leading_pairs(np.eye(2), 2, 1)  # pyright: ignore[reportArgumentType]


def test_bad_requests_of_a_network_raise_before_any_product(getkey):
    params, x = dense_params(getkey(), (4, 8, 1)), np.ones((5, 4))
    with pytest.raises(ValueError, match=r"`num` must lie in 1\.\.5, got 6"):
        tl.spectra.spectrum_of(dense_apply, params, x, 6)
    with pytest.raises(ValueError, match="`tolerance` is a share"):
        tl.spectra.spectrum_of(dense_apply, params, x, 2, tolerance=2.0)
