"""Exponents, digits and points, on data whose answer is known."""

import jax
import numpy as np
import pytest

from tangentlab.experiments.stages.points import draw_points
from tangentlab.experiments.stages.scaling import digits, slope, slopes

X = np.array([10.0, 100.0, 1000.0, 10_000.0])


def test_slopes_of_power_laws_are_their_exponents():
    exponents = np.array([-0.5, -1.0, 2.0])
    values = 3 * X[None] ** exponents[:, None]
    np.testing.assert_allclose(slopes(X, values), exponents, atol=1e-12)


def test_a_known_correction_is_taken_out():
    values = (X**-0.5 * np.exp(2 * X ** (-1 / 3)))[None]
    assert slopes(X, values)[0] < -0.55
    assert slopes(X, values, correction=1 / 3)[0] == pytest.approx(-0.5, abs=1e-10)


def test_interval_of_a_slope_is_over_rows():
    spread = np.random.default_rng(0).normal(size=(30, 4))
    found = slope(X, X[None] ** -0.5 * np.exp(0.1 * spread))
    assert found.low < -0.5 < found.high and found.high - found.low < 0.03
    exact = slope(X, np.tile(X**-1.0, (5, 1)))
    assert exact.low == pytest.approx(exact.high, abs=1e-12)


def test_a_value_that_is_not_positive_leaves_no_slope():
    assert np.isnan(slope(X, np.array([[1.0, 0.5, 0.0, 0.1]])).value)


def test_digits():
    assert digits(1e-12) == pytest.approx(-12)
    assert digits(0.0) == -18
    assert np.isnan(digits(float("nan")))


def test_points_on_a_sphere_have_its_radius_and_a_known_target():
    points = draw_points("sphere", 5, 3, dim=4, key=jax.random.key(0))
    np.testing.assert_allclose(np.linalg.norm(points.x, axis=1), 2.0)
    x = points.x_test
    expected = (x[:, :1] + x[:, :1] * x[:, 1:2]) / np.sqrt(2)
    np.testing.assert_allclose(points.y_test, expected)
    unit = draw_points("sphere", 5, 3, dim=4, key=jax.random.key(0), norm=1.0)
    np.testing.assert_allclose(unit.x, points.x / 2)
    np.testing.assert_allclose(unit.y, points.y)


def test_images_are_scaled_and_their_classes_halved():
    points = draw_points("digits", 20, 10, dim=2, key=jax.random.key(0))
    assert points.x.shape == (20, 64) and points.x_test.shape == (10, 64)
    np.testing.assert_allclose(np.linalg.norm(points.x_test, axis=1), 8.0)
    assert set(points.y.ravel()) == {-1.0, 1.0}


def test_no_points_are_refused():
    with pytest.raises(ValueError, match="num_train and num_test must be at least 1"):
        draw_points("sphere", 0, 3, dim=4, key=jax.random.key(0))
    with pytest.raises(ValueError, match="dim must be at least 2, got 1"):
        draw_points("sphere", 1, 3, dim=1, key=jax.random.key(0))
