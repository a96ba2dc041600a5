import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.data import gaussian, one_over_f, sphere

MAKERS = {
    "gaussian": lambda key, train, test: gaussian(key, train, test, shape=(4, 5)),
    "sphere": lambda key, train, test: sphere(key, train, test, dim=7),
    "one_over_f": lambda key, train, test: one_over_f(
        key, train, test, shape=(8, 6, 2)
    ),
}


@pytest.mark.parametrize("name", MAKERS)
def test_sizes_types_and_labels(name, getkey):
    dataset = MAKERS[name](getkey(), 300, 100)
    assert (dataset.num_train, dataset.num_test) == (300, 100)
    assert dataset.x.dtype == np.float32
    assert dataset.name == name
    assert dataset.names == ("negative", "positive")
    assert 120 < dataset.y[:300].sum() < 180  # 3.5 standard deviations


@pytest.mark.parametrize("name", MAKERS)
def test_splits_do_not_change_each_other(name, getkey):
    key = getkey()
    first, second = MAKERS[name](key, 20, 30), MAKERS[name](key, 10, 30)
    np.testing.assert_array_equal(first.x[20:], second.x[10:])
    np.testing.assert_array_equal(first.y[20:], second.y[10:])
    third = MAKERS[name](key, 20, 20)
    np.testing.assert_array_equal(first.x[:20], third.x[:20])
    assert not np.array_equal(first.x[:10], first.x[20:30])


@pytest.mark.parametrize("name", MAKERS)
def test_samples_do_not_depend_on_the_precision_setting(name, getkey):
    key = getkey()
    with jax.enable_x64(False):
        without = MAKERS[name](key, 5, 5)
    np.testing.assert_array_equal(without.x, MAKERS[name](key, 5, 5).x)


def test_gaussian_has_the_given_scales(getkey):
    scale = np.array([1.0, 0.1, 10.0])
    x = gaussian(getkey(), 40_000, 0, shape=(3,), scale=scale).x / scale
    covariance = x.T @ x / len(x)
    # Standard errors: 1/200 for means and covariances, sqrt(2)/200 for variances.
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=5 / 200)
    np.testing.assert_allclose(covariance, np.eye(3), atol=5 * np.sqrt(2) / 200)


def test_sphere_is_uniform(getkey):
    dim = 5
    x = sphere(getkey(), 40_000, 0, dim=dim).x.astype(np.float64)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=5 / 200 / np.sqrt(dim))
    np.testing.assert_allclose(x.T @ x / len(x), np.eye(dim) / dim, atol=5 / 200 / dim)
    # The fourth moment of a coordinate, 3 / (d (d + 2)), tells it from other laws.
    fourth = (x**4).mean(axis=0)
    np.testing.assert_allclose(fourth, 3 / (dim * (dim + 2)), rtol=0.05)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.5])
@pytest.mark.parametrize("shape", [(32, 32, 3), (15, 24, 1)])
def test_amplitudes_fall_with_the_exponent(exponent, shape, getkey):
    x = one_over_f(getkey(), 2000, 0, shape=shape, exponent=exponent).x
    power = np.mean(np.abs(np.fft.fft2(x, axes=(1, 2))) ** 2, axis=(0, 3))
    rows, columns = np.fft.fftfreq(shape[0]), np.fft.fftfreq(shape[1])
    frequency = np.hypot(rows[:, None], columns[None, :])
    inside = frequency >= 1 / min(shape[:2])
    slope, _ = np.polyfit(np.log(frequency[inside]), np.log(power[inside]) / 2, 1)
    assert slope == pytest.approx(-exponent, abs=0.02)
    assert float(x.mean()) == pytest.approx(0, abs=0.1)
    assert float(x.var()) == pytest.approx(1, abs=0.05)


def test_constant_part_of_images_is_bounded(getkey):
    x = one_over_f(getkey(), 4000, 0, shape=(16, 16, 1)).x
    power = np.mean(np.abs(np.fft.fft2(x, axes=(1, 2))) ** 2, axis=(0, 3))
    assert power[0, 0] == pytest.approx(power[0, 1], rel=0.15)
    assert power[0, 1] / power[0, 2] == pytest.approx(4, rel=0.15)


def test_labels_are_signs_along_the_direction(getkey):
    direction = jnp.array([1.0, -2.0, 0.5])
    dataset = gaussian(getkey(), 50, 50, shape=(3,), direction=direction)
    expected = np.asarray(dataset.x, np.float64) @ np.asarray(direction) > 0
    np.testing.assert_array_equal(dataset.y, expected)


def test_default_labels_of_images_follow_one_horizontal_wave(getkey):
    dataset = one_over_f(getkey(), 50, 0, shape=(8, 12, 2))
    wave = np.cos(2 * np.pi * np.arange(12) / 12)
    expected = np.einsum("nhwc,w->n", dataset.x.astype(np.float64), wave) > 0
    np.testing.assert_array_equal(dataset.y, expected)


def test_default_labels_of_points_follow_the_first_coordinate(getkey):
    dataset = sphere(getkey(), 50, 0, dim=3)
    np.testing.assert_array_equal(dataset.y, dataset.x[:, 0] > 0)


def test_direction_of_another_shape(no_type_checks, getkey):
    message = r"sphere: `direction` must have the shape of a sample, \(3,\), got \(2,\)"
    with pytest.raises(ValueError, match=message):
        sphere(getkey(), 5, 0, dim=3, direction=np.ones(2))


def test_scale_of_another_shape(no_type_checks, getkey):
    message = (
        r"`scale` must be one number or of the shape of a sample, \(3,\), got \(2,\)"
    )
    with pytest.raises(ValueError, match=message):
        gaussian(getkey(), 5, 0, shape=(3,), scale=np.ones(2))


def test_no_training_samples(getkey):
    with pytest.raises(ValueError, match="num_train must lie in 1.."):
        sphere(getkey(), 0, 5, dim=3)
