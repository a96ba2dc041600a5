"""Figures of spectra: what is drawn is what is there."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import tangentlab as tl
from tangentlab.report import spectrum_figures
from tangentlab.report.style import style


@pytest.fixture
def ax():
    with style():
        figure = Figure()
        yield figure.subplots()
        FigureCanvasAgg(figure).draw()  # labels and scales are made only now


def _spectrum(n=200, dtype=np.float64):
    return tl.spectrum(np.diag(np.arange(1.0, n + 1) ** -1.5).astype(dtype))


def test_eigenvalues_and_their_fit_are_drawn(ax):
    spectrum = _spectrum()
    fit = tl.spectra.power_law(spectrum)
    spectrum_figures.eigenvalue_decay(ax, spectrum, fit)
    lines = {line.get_label(): line for line in ax.get_lines()}
    np.testing.assert_allclose(lines["eigenvalues"].get_ydata(), spectrum.eigenvalues)
    (label,) = [name for name in lines if "alpha" in name]
    assert "1.500 ±" in label and "modes 11 to 100" in label
    x, y = lines[label].get_data()
    np.testing.assert_allclose(y, np.asarray(x) ** -1.5, rtol=1e-6)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert not ax.texts  # the resolution is far below


def test_resolution_is_drawn_where_it_is_near(ax):
    with pytest.warns(tl.spectra.AccuracyWarning):
        spectrum = tl.spectrum(np.diag(np.float32(2.0 ** -np.arange(40))))
    spectrum_figures.eigenvalue_decay(ax, spectrum)
    assert ax.texts[0].get_text() == "below: rounding of the matrix"
    assert ax.get_ylim()[0] < spectrum.resolution < ax.get_ylim()[1]
    known = ax.get_lines()[0].get_ydata()
    assert len(known) == 40 - spectrum.num_below_resolution


def test_matrices_without_small_or_positive_eigenvalues_are_drawn(ax):
    spectrum_figures.eigenvalue_decay(ax, tl.spectrum(np.eye(1)))
    with pytest.warns(tl.spectra.AccuracyWarning):
        indefinite = tl.spectrum(np.diag([1.0, 0.0, -1.0]))
    spectrum_figures.eigenvalue_decay(ax, indefinite)


def test_energy_of_each_target_is_drawn_beside_chance(ax):
    spectrum = _spectrum(50)
    y = np.c_[spectrum.eigenvectors[:, 3], np.ones(50)]
    energy = tl.spectra.energy(spectrum, y)
    shown = spectrum_figures.targets(["a mode", "constant"], energy)
    spectrum_figures.cumulative_energy(ax, shown, 50)
    lines = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    np.testing.assert_allclose(lines["a mode"], [0.0] * 3 + [1.0] * 47, atol=1e-12)
    np.testing.assert_allclose(lines["random target"], np.arange(1, 51) / 50)
    assert list(lines) == ["random target", "a mode", "constant"]


def test_one_target_has_no_axis_of_its_own():
    spectrum = _spectrum(5)
    energy = tl.spectra.energy(spectrum, np.ones(5))
    (target,) = spectrum_figures.targets(["one"], energy)
    assert target.cumulative.shape == (5,)


@pytest.mark.parametrize("count", [0, 7])
def test_more_targets_than_colors_raise(ax, count):
    target = spectrum_figures.Target("one", np.ones(3))
    with pytest.raises(ValueError, match=f"takes 1 to 6 targets, got {count}"):
        spectrum_figures.cumulative_energy(ax, [target] * count, 3)


def test_modes_are_marked_on_the_curve(ax):
    spectrum = _spectrum(50)
    spectrum_figures.eigenvalue_decay(ax, spectrum)
    spectrum_figures.mark_modes(ax, spectrum, [0, 9], "tasks")
    marks = {line.get_label(): line for line in ax.get_lines()}["tasks"]
    np.testing.assert_allclose(marks.get_xydata(), [[1, 1], [10, 10**-1.5]])
