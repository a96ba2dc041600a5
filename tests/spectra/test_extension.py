import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.helpers import assert_close

from .matrices import Rotated, decay


def _kernel(x, y):
    return np.exp(-((x[:, None] - y[None]) ** 2) / 0.5)


def test_on_the_sample_it_is_the_vector_times_the_root_of_n():
    K = Rotated(decay(30, 1.0)).dense()
    spectrum = tl.spectrum(K)
    assert_close(tl.spectra.extend(spectrum, K), np.sqrt(30) * spectrum.eigenvectors)
    some = tl.spectra.extend(spectrum, jnp.asarray(K[3:5]), [7, 2])
    assert_close(some, np.sqrt(30) * spectrum.eigenvectors[3:5][:, [7, 2]])


def test_nested_lists_are_a_kernel():
    spectrum = tl.spectrum(np.diag([2.0, 1.0]))
    assert_close(
        tl.spectra.extend(spectrum, [[2.0, 0.0]], np.array([0])), [[np.sqrt(2)]]
    )
    assert tl.spectra.extend(spectrum, [[2.0, 0.0]], []).shape == (1, 0)


def test_held_out_values_approach_those_of_the_joint_kernel_as_samples_grow():
    random, errors = np.random.default_rng(0), []
    new = random.uniform(-1, 1, 40)
    for n in (100, 400, 1600):
        x = random.uniform(-1, 1, n)
        few = tl.spectrum(_kernel(x, x), 4)
        extended = tl.spectra.extend(few, _kernel(new, x))
        both = np.r_[x, new]
        joint = tl.spectrum(_kernel(both, both), 4)
        values = np.sqrt(len(both)) * joint.eigenvectors
        signs = np.sign((values[:n] * few.eigenvectors).sum(axis=0))
        errors.append(np.abs(extended * signs - values[n:]).max())
    assert errors[0] > errors[1] > errors[2] and errors[2] < 0.02


def test_functions_beyond_the_sample_have_mean_square_near_one():
    random = np.random.default_rng(1)
    x, new = random.uniform(-1, 1, 800), random.uniform(-1, 1, 4000)
    phi = tl.spectra.extend(tl.spectrum(_kernel(x, x), 5), _kernel(new, x))
    np.testing.assert_allclose(phi.T @ phi / 4000, np.eye(5), atol=0.1)


def test_float32_kernels_and_kernels_on_disk_are_taken(tmp_path):
    x = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    params = np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32)

    def apply(params, x):
        return jnp.tanh(x @ params).sum(axis=1, keepdims=True)

    spectrum = tl.spectrum(tl.gram(apply, params, x[:30]), 4)
    K_new = tl.gram(apply, params, x[30:], x[:30])
    stored = tl.gram(apply, params, x[30:], x[:30], store=tmp_path / "K")
    assert isinstance(stored, tl.TiledGram) and K_new.dtype == jnp.float32
    exact = np.asarray(K_new, np.float64) @ spectrum.eigenvectors
    for kernel in (K_new, np.asarray(K_new), stored):
        phi = tl.spectra.extend(spectrum, kernel)
        np.testing.assert_allclose(
            phi, exact * np.sqrt(30) / spectrum.eigenvalues, rtol=1e-5, atol=1e-4
        )


@pytest.mark.parametrize(
    ("shape", "indices", "message"),
    [
        ((2, 3), None, r"the 4 samples of the spectrum, \(m, 4\), got shape \(2, 3\)"),
        ((4,), None, r"got shape \(4,\)"),
        ((2, 4), [0.7], r"list of whole numbers in 0\.\.3 .* got \[0.7\]"),
        ((2, 4), [True, False], "list of whole numbers .* got .True, False"),
        ((2, 4), 0, "list of whole numbers .* got 0"),
        ((2, 4), [4], r"numbers in 0\.\.3 \(the spectrum has 4 pairs\), got \[4\]"),
        ((2, 4), [-1], r"numbers in 0\.\.3"),
        ((2, 4), None, r"Eigenfunction 3 .* below the resolution .*`indices` below 3"),
        ((2, 4), [0, 3], "Eigenfunction 3 has the eigenvalue 1e-20"),
    ],
)
def test_what_cannot_be_extended_raises(shape, indices, message, no_type_checks):
    with pytest.warns(tl.spectra.AccuracyWarning):
        spectrum = tl.spectrum(np.diag([3.0, 2.0, 1.0, 1e-20]))
    with pytest.raises(ValueError, match=message):
        tl.spectra.extend(spectrum, np.ones(shape), indices)


def test_advice_is_left_out_where_nothing_can_be_extended():
    spectrum = tl.spectrum(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"not known beyond the sample\.$"):
        tl.spectra.extend(spectrum, np.eye(2))


def test_a_complex_kernel_raises(no_type_checks):
    with pytest.raises(ValueError, match="must be real-valued, got dtype complex128"):
        tl.spectra.extend(tl.spectrum(np.eye(2)), 1j * np.eye(2))


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_a_kernel_that_is_not_finite_is_no_label(entry):
    """NaN is not above zero: without a word it would be class 0."""
    K_new = np.ones((5, 3))
    K_new[2, 1] = entry
    with pytest.raises(ValueError, match="NaN or infinite entries, the first in row 2"):
        tl.spectra.extend(tl.spectrum(np.diag([3.0, 2.0, 1.0])), K_new)
