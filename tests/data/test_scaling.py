import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tangentlab.data import Dataset, channel_moments, from_arrays, load, normalize
from tests.helpers import assert_close


def make(x, num_train):
    return from_arrays(x, np.zeros(len(x), int), num_train=num_train)


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 2**16),
    num_train=st.integers(2, 9000),
    shift=st.floats(-1e3, 1e3),
)
def test_moments_are_those_of_the_training_split(seed, num_train, shift):
    rng = np.random.default_rng(seed)
    x = rng.normal(shift, 2.0, (num_train + 3, 2, 1, 3))
    mean, std = channel_moments(make(x, num_train))
    assert_close(mean, x[:num_train].mean(axis=(0, 1, 2)))
    assert_close(std, x[:num_train].std(axis=(0, 1, 2)))


def test_training_split_becomes_standard_and_test_split_follows():
    rng = np.random.default_rng(0)
    x = rng.normal(5.0, [1.0, 2.0, 3.0], (50, 4, 4, 3))
    dataset = normalize(make(x, 40))
    assert_close(dataset.x[:40].mean(axis=(0, 1, 2)), np.zeros(3))
    assert_close(dataset.x[:40].std(axis=(0, 1, 2)), np.ones(3))
    mean, std = x[:40].mean(axis=(0, 1, 2)), x[:40].std(axis=(0, 1, 2))
    assert_close(dataset.x[40:], (x[40:] - mean) / std)


def test_test_split_has_no_influence():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 2, 2, 1))
    changed = x.copy()
    changed[20:] = 1e6
    before, after = normalize(make(x, 20)), normalize(make(changed, 20))
    np.testing.assert_array_equal(before.x[:20], after.x[:20])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("num_channels", [1, 2])
def test_samples_passed_in_are_left_alone(dtype, num_channels):
    x = np.random.default_rng(0).normal(3.0, 2.0, (9, num_channels)).astype(dtype)
    before = x.copy()
    normalize(make(x, 6))
    np.testing.assert_array_equal(x, before)


def test_everything_but_the_samples_is_kept():
    digits = load("digits")
    result = normalize(digits)
    assert result.x.dtype == np.float32
    assert (result.num_train, result.names, result.name) == (
        digits.num_train,
        digits.names,
        digits.name,
    )
    np.testing.assert_array_equal(result.y, digits.y)
    assert float(result.x[:1437].std()) == pytest.approx(1, abs=1e-5)


def test_vectors_are_normalized_by_coordinate():
    x = np.array([[0.0, 10.0], [2.0, 30.0], [100.0, 100.0]])
    dataset = normalize(make(x, 2))
    assert_close(dataset.x, np.array([[-1.0, -1.0], [1.0, 1.0], [99.0, 8.0]]))


def test_jax_arrays_are_accepted():
    x = jnp.array([[0.0], [2.0]])
    dataset = Dataset(x, jnp.array([0, 0]), names=("a",), num_train=2)
    assert_close(normalize(dataset).x, np.array([[-1.0], [1.0]]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_channel_is_an_error(dtype):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10_000, 3)).astype(dtype)
    x[:9000, 1] = 0.1
    message = (
        "arrays: 1 of 3 channels are constant over the 9000 training samples, the "
        "first is channel 1. Drop them"
    )
    with pytest.raises(ValueError, match=message):
        normalize(make(x, 9000))


def test_zero_channel_is_an_error():
    with pytest.raises(ValueError, match="2 of 2 channels are constant"):
        normalize(make(np.zeros((3, 2)), 3))


def test_samples_without_channels_are_an_error():
    with pytest.raises(ValueError, match="need an axis for channels, got x of shape"):
        normalize(make(np.arange(3.0), 3))
