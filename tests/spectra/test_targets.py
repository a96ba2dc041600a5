import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.helpers import assert_close

from .matrices import Rotated, decay


def test_energy_of_modes_and_of_their_sums():
    K = Rotated(decay(12, 1.0)).dense()
    spectrum, random = tl.spectrum(K), np.random.default_rng(0)
    coefficients = random.standard_normal((12, 3))
    y = spectrum.eigenvectors @ coefficients
    found = tl.spectra.energy(spectrum, y)
    assert_close(found.per_mode, coefficients**2 / (coefficients**2).sum(axis=0))
    assert_close(found.cumulative[-1], np.ones(3))
    assert (np.diff(found.cumulative, axis=0) >= 0).all()


def test_root_of_cumulative_energy_is_the_concentration():
    K = Rotated(decay(30, 1.0)).dense()
    y = np.where(np.arange(30) % 3 > 0, 1.0, -1.0)
    found = tl.spectra.energy(tl.spectrum(K), jnp.asarray(y))
    assert found.cumulative.shape == (30,)
    for num in (1, 7, 30):
        known = tl.energy_concentration(K, y, num)
        assert_close(np.sqrt(found.cumulative[num - 1]), float(known))


def test_leading_pairs_hold_less_than_all_and_zeros_are_nan():
    K = Rotated(decay(30, 1.0)).dense()
    spectrum = tl.spectrum(K, 5)
    y = np.c_[np.random.default_rng(0).standard_normal(30), np.zeros(30)]
    found = tl.spectra.energy(spectrum, y)
    assert 0 < found.cumulative[-1, 0] < 1
    assert np.isnan(found.per_mode[:, 1]).all()


def test_lists_are_targets():
    found = tl.spectra.energy(tl.spectrum(np.diag([2.0, 1.0])), [3.0, 4.0])
    assert_close(found.per_mode, [0.36, 0.64])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.ones(4), r"targets at the 3 samples .* got shape \(4,\)"),
        (np.ones((3, 1, 1)), r"got shape \(3, 1, 1\)"),
        ([1, 0, 1], "must be real-valued, got dtype int64"),
        (None, r"got shape \(\)"),
        (np.ones(3, int), r"dtype int64: labels 0 and 1 become `2.0 \* y - 1.0`"),
    ],
)
def test_targets_of_other_samples_raise(y, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.spectra.energy(tl.spectrum(np.eye(3)), y)
