import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl

SEEDS = st.integers(0, 2**16)
SHAPES = st.sampled_from([(7,), (4, 5, 3), (6, 6, 1), (5, 2)])


def _task(x, num_train=None):
    num_train = len(x) - 3 if num_train is None else num_train
    return tl.Task(x, np.arange(len(x)) % 2 * 1.0, num_train, name="points", index=1)


def _positions(n, shape):
    """Every channel of a pixel holds the pixel's number, other images other numbers."""
    channels = 1 if len(shape) == 1 else shape[-1]
    size = int(np.prod(shape)) // channels
    numbers = np.repeat(np.arange(size, dtype=np.float64), channels).reshape(shape)
    return np.arange(n).reshape(-1, *[1] * len(shape)) * 1000 + numbers, size, channels


def _orders(shuffled, size, channels):
    """The permutation applied to each image of `_positions`."""
    moved = np.asarray(shuffled).reshape(len(shuffled), size, channels)
    numbers = moved - 1000 * np.arange(len(moved))[:, None, None]
    assert (numbers == numbers[:, :, :1]).all()  # channels stay together
    return numbers[:, :, 0].astype(int)


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS, shape=SHAPES, per_image=st.booleans())
def test_shuffling_can_be_undone(seed, shape, per_image):
    x, size, channels = _positions(8, shape)
    key = jax.random.key(seed)
    made = tl.tasks.shuffled_pixels(_task(x), key=key, per_image=per_image)
    orders = _orders(made.x, size, channels)
    np.testing.assert_array_equal(
        np.sort(orders, axis=1), np.tile(np.arange(size), (8, 1))
    )
    picture = np.random.default_rng(seed).normal(size=x.shape)
    moved = tl.tasks.shuffled_pixels(_task(picture), key=key, per_image=per_image).x
    back = np.take_along_axis(
        np.asarray(moved).reshape(8, size, channels),
        np.argsort(orders, axis=1)[:, :, None],
        axis=1,
    )
    np.testing.assert_array_equal(back.reshape(x.shape), picture)


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS)
def test_one_permutation_for_all_images_or_one_for_each(seed):
    x, size, channels = _positions(10, (8, 8, 3))
    key = jax.random.key(seed)
    shared = _orders(tl.tasks.shuffled_pixels(_task(x), key=key).x, size, channels)
    assert (shared == shared[0]).all() and (shared[0] != np.arange(size)).any()
    own = tl.tasks.shuffled_pixels(_task(x), key=key, per_image=True).x
    assert len({tuple(order) for order in _orders(own, size, channels)}) == 10


def test_every_position_is_equally_likely_per_image():
    x, size, channels = _positions(4000, (5, 2))
    made = tl.tasks.shuffled_pixels(_task(x), key=jax.random.key(0), per_image=True)
    orders = _orders(made.x, size, channels)
    counts = np.stack([np.bincount(column, minlength=size) for column in orders.T])
    deviation = np.sqrt(4000 * (1 / size) * (1 - 1 / size))
    assert np.abs(counts - 4000 / size).max() < 5 * deviation


def test_shuffling_keeps_labels_and_tells_in_the_name():
    task = _task(np.random.default_rng(0).normal(size=(8, 4, 4, 1)).astype(np.float32))
    key = jax.random.key(0)
    made = tl.tasks.shuffled_pixels(task, key=key)
    assert made.y is task.y and made.index == 1 and made.x.dtype == np.float32
    assert made.name == "points, shuffled pixels"
    own = tl.tasks.shuffled_pixels(task, key=key, per_image=True)
    assert own.name == "points, pixels shuffled per image"
    np.testing.assert_array_equal(
        own.x, tl.tasks.shuffled_pixels(task, key=key, per_image=True).x
    )


def test_samples_of_one_number_have_no_pixels():
    with pytest.raises(ValueError, match=r"single numbers, x has shape \(5,\)"):
        tl.tasks.shuffled_pixels(_task(np.arange(5.0)), key=jax.random.key(0))


@settings(deadline=None, max_examples=10)
@given(seed=SEEDS, shift=st.floats(-5, 5), scale=st.floats(0.1, 10))
def test_gaussian_images_have_the_moments_of_each_channel(seed, shift, scale):
    rng = np.random.default_rng(seed)
    channels = np.array([1.0, 2.0, 0.5])
    x = shift * channels + scale * channels * rng.uniform(-1, 1, (300, 6, 6, 3))
    made = tl.tasks.gaussian_images(_task(x, 200), key=jax.random.key(seed)).x
    made, train = np.asarray(made), x[:200]
    num = 300 * 36
    mean, std = train.mean(axis=(0, 1, 2)), train.std(axis=(0, 1, 2))
    assert (abs(made.mean(axis=(0, 1, 2)) - mean) <= 6 * std / np.sqrt(num)).all()
    assert (abs(made.std(axis=(0, 1, 2)) / std - 1) <= 6 / np.sqrt(2 * num)).all()


def test_gaussian_images_have_gaussian_tails_and_no_correlations():
    x = np.random.default_rng(0).uniform(size=(2000, 4, 1))
    made = tl.tasks.gaussian_images(_task(x, 1500), key=jax.random.key(0)).x
    z = np.asarray(made).reshape(2000, 4)
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    assert abs(np.mean(z**4) - 3) < 6 * np.sqrt(96 / z.size)
    between_pixels = z.T @ z / 2000 - np.eye(4)
    between_images = np.mean(z[:-1] * z[1:])
    assert np.abs(between_pixels).max() < 6 / np.sqrt(2000)
    assert abs(between_images) < 6 / np.sqrt(z.size)


def test_gaussian_images_take_the_moments_of_the_training_split_alone():
    x = np.random.default_rng(0).normal(size=(50, 4))
    strange = np.concatenate([x[:40], 100 + x[40:]])
    key = jax.random.key(1)
    made, again = (
        tl.tasks.gaussian_images(_task(a, 40), key=key) for a in (x, strange)
    )
    np.testing.assert_array_equal(made.x, again.x)
    assert made.name == "points, Gaussian images" and made.x.dtype == np.float64


def test_gaussian_images_of_single_numbers_raise():
    with pytest.raises(ValueError, match="samples need an axis for channels"):
        tl.tasks.gaussian_images(_task(np.arange(5.0)), key=jax.random.key(0))


@pytest.mark.parametrize("change", ["shuffle", "gaussian"])
def test_draws_for_the_test_split_do_not_depend_on_the_training_split(change):
    x = np.tile(np.random.default_rng(0).normal(size=(1, 30)), (20, 1))
    key = jax.random.key(0)

    def changed(task):
        if change == "shuffle":
            return tl.tasks.shuffled_pixels(task, key=key, per_image=True).x
        return tl.tasks.gaussian_images(task, key=key).x

    x = x + (np.arange(20) % 2)[:, None]  # equal moments for even sizes
    small, large = changed(_task(x[:12], 8)), changed(_task(x, 16))
    assert_equal = np.testing.assert_allclose
    assert_equal(small[8:], large[16:], rtol=1e-12, atol=1e-12)
    assert_equal(small[:8], large[:8], rtol=1e-12, atol=1e-12)


def test_draws_do_not_depend_on_the_width_of_jax_numbers():
    task = _task(np.random.default_rng(0).normal(size=(9, 4, 4, 2)).astype(np.float32))

    def all_draws():
        key = jax.random.key(5)
        dataset = tl.Dataset(task.x, np.zeros(9, int), ("any",), 6)
        made = [
            tl.tasks.shuffled_pixels(task, key=key).x,
            tl.tasks.shuffled_pixels(task, key=key, per_image=True).x,
            tl.tasks.gaussian_images(task, key=key).x,
            tl.tasks.random_labels(dataset, key=key).y,
            tl.tasks.with_label_noise(task, 0.5, key=key).y,
            tl.tasks.direction(jnp.ones(4, jnp.float32), 5, 3, key=key).x,
        ]
        return [np.asarray(array) for array in made]

    wide = all_draws()
    with jax.enable_x64(False):
        narrow = all_draws()
    for one, other in zip(wide, narrow, strict=True):
        np.testing.assert_array_equal(one, other)
