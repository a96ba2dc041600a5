import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl

from .matrices import Rotated, decay


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.5])
def test_exponent_of_a_power_law_is_found_exactly(exponent):
    K = 7.0 * Rotated(decay(200, exponent)).dense()
    fit = tl.spectra.power_law(tl.spectrum(K))
    assert fit.exponent == pytest.approx(exponent, rel=1e-6)
    assert fit.prefactor == pytest.approx(7.0, rel=1e-6)
    assert fit.standard_error < 1e-6
    assert (fit.start, fit.stop) == (10, 100)


def test_standard_error_is_that_of_least_squares():
    random = np.random.default_rng(0)
    lam = np.sort(decay(300, 1.0) * np.exp(0.1 * random.standard_normal(300)))[::-1]
    fit = tl.spectra.power_law(tl.spectrum(np.diag(lam)), 5, 250)
    x, y = np.log(np.arange(6, 251)), np.log(lam[5:250])
    (slope, _), covariance = np.polyfit(x, y, 1, cov=True)
    assert fit.exponent == pytest.approx(-slope)
    assert fit.standard_error == pytest.approx(covariance[0, 0] ** 0.5, rel=1e-6)


def test_default_range_avoids_head_resolution_and_the_bend_of_the_tail():
    lam = np.r_[1e4 * np.ones(10), decay(90, 1.0)]
    assert tl.spectra.power_law(tl.spectrum(np.diag(lam))).start == 10
    with pytest.warns(tl.spectra.AccuracyWarning):
        rounded = tl.spectrum(np.diag(np.float32(2.0 ** -np.arange(60))))
    fit = tl.spectra.power_law(rounded)
    assert fit.stop == (rounded.eigenvalues > 10 * rounded.resolution).sum() == 20
    leading = tl.spectrum(np.diag(decay(400, 1.0)), 30)
    assert tl.spectra.power_law(leading).stop == 30


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**16), scale=st.floats(1e-3, 1e3))
def test_ranks_are_scale_free_and_ordered(seed, scale):
    lam = np.random.default_rng(seed).exponential(size=20)
    ours = tl.spectra.summary(tl.spectrum(np.diag(lam)))
    scaled = tl.spectra.summary(tl.spectrum(np.diag(scale * lam)))
    for name in ("effective_rank", "participation_ratio", "trace_over_largest"):
        assert getattr(scaled, name) == pytest.approx(getattr(ours, name))
    assert scaled.trace == pytest.approx(scale * ours.trace)
    assert 1 <= ours.participation_ratio <= ours.effective_rank <= 20 + 1e-9
    assert ours.trace_over_largest <= ours.participation_ratio + 1e-9
    assert ours.captured == pytest.approx(1.0)


def test_equal_eigenvalues_count_themselves():
    lam = np.r_[np.ones(12), np.zeros(8)]
    with pytest.warns(tl.spectra.AccuracyWarning):
        found = tl.spectra.summary(tl.spectrum(np.diag(lam)))
    assert found.effective_rank == pytest.approx(12)
    assert found.participation_ratio == pytest.approx(12)
    assert found.trace_over_largest == pytest.approx(12)
    assert found.power_law is None  # two of them are past the head: no fit


def test_part_of_a_spectrum_says_how_much_it_holds():
    lam = decay(40, 1.0)
    spectrum = tl.spectrum(np.diag(lam), 10)
    found = tl.spectra.summary(spectrum)
    assert found.trace == pytest.approx(lam.sum())
    assert found.captured == pytest.approx(lam[:10].sum() / lam.sum())
    unknown = tl.spectra.leading_pairs(lambda V: lam[:, None] * V, 40, 10)
    found = tl.spectra.summary(unknown)
    assert np.isnan(found.captured)
    assert found.trace == pytest.approx(lam[:10].sum())


@pytest.mark.parametrize(
    ("lam", "start", "stop", "message"),
    [
        (decay(40, 1.0), 3, 5, r"at least 3 of the 40 .* got indices 3\.\.4"),
        (decay(40, 1.0), 3, 41, r"got indices 3\.\.40"),
        (decay(40, 1.0), 0.5, None, r"must be whole numbers, .* got 0\.5 and 20"),
        (decay(40, 1.0), 0, True, "must be whole numbers, .* got 0 and True"),
        (decay(40, 1.0), -1, 9, r"got indices -1\.\.8"),
        (decay(8, 1.0), None, None, "past the head and above .* compute more pairs"),
        (2.0 ** -np.arange(80), 0, 70, "Eigenvalue 69 is .* a smaller `stop`"),
    ],
)
@pytest.mark.filterwarnings("ignore::tangentlab.spectra.AccuracyWarning")
def test_ranges_that_cannot_be_fitted_raise(lam, start, stop, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.spectra.power_law(tl.spectrum(np.diag(lam)), start, stop)


def test_zero_matrix_has_no_rank():
    with pytest.raises(ValueError, match="largest eigenvalue is 0"):
        tl.spectra.summary(tl.spectrum(np.zeros((3, 3))))
