import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tangentlab.data import from_arrays, load, subset


def make(y, num_train):
    """A data set whose samples say where they came from."""
    y = np.asarray(y)
    return from_arrays(np.arange(len(y), dtype=float)[:, None], y, num_train=num_train)


def origins(dataset):
    """Where the training and the test samples came from."""
    rows = np.asarray(dataset.x)[:, 0].astype(int)
    return rows[: dataset.num_train], rows[dataset.num_train :]


@pytest.fixture
def balanced():
    """Ten classes of 20 training and 5 test samples each, mixed."""
    rng = np.random.default_rng(0)
    train, test = np.repeat(np.arange(10), 20), np.repeat(np.arange(10), 5)
    return make(np.concatenate([rng.permutation(train), rng.permutation(test)]), 200)


@settings(deadline=None, max_examples=50)
@given(
    num_classes=st.integers(1, 6), num=st.integers(1, 60), seed=st.integers(0, 2**16)
)
def test_every_class_keeps_its_share_to_less_than_a_sample(num_classes, num, seed):
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.geometric(0.4, 60), num_classes) - 1  # unequal, some empty
    part = subset(make(y, 60), num, key=jax.random.key(seed))
    assert part.num_train == len(part.x) == num
    kept = np.bincount(part.y, minlength=num_classes)
    share = np.bincount(y, minlength=num_classes) * (num / 60)
    assert np.all(np.abs(kept - share) < 1)


def test_largest_remainders_get_what_is_left():
    # The exact shares are 3, 3, 4, then 2.1, 2.1, 2.8, then 1.2, 1.2, 1.6.
    y = np.repeat([0, 1, 2], [6, 6, 8])
    for num, expected in [(10, [3, 3, 4]), (7, [2, 2, 3]), (4, [1, 1, 2])]:
        part = subset(make(y, 20), num, key=jax.random.key(1))
        assert np.bincount(part.y).tolist() == expected


def test_samples_keep_labels_and_order(balanced, getkey):
    part = subset(balanced, 57, num_test=20, key=getkey())
    train, test = origins(part)
    assert np.all(np.diff(train) > 0) and np.all(np.diff(test) > 0)
    assert train.max() < 200 <= test.min()
    rows = np.concatenate([train, test])
    np.testing.assert_array_equal(part.y, balanced.y[rows])
    assert (part.num_train, part.num_test) == (57, 20)
    assert part.names == balanced.names


def test_the_whole_is_a_subset_of_itself(balanced, getkey):
    part = subset(balanced, 200, key=getkey())
    np.testing.assert_array_equal(part.x, balanced.x)


def test_smaller_subsets_lie_within_larger_ones(balanced):
    for seed in range(3):
        key = jax.random.key(seed)
        nested = [
            set(origins(subset(balanced, num, key=key))[0]) for num in range(1, 201)
        ]
        for smaller, larger in zip(nested, nested[1:], strict=False):
            assert smaller < larger


def test_keys_draw_different_samples_and_break_ties_differently(balanced):
    keys = jax.random.split(jax.random.key(0), 20)
    parts = [subset(balanced, 5, key=key) for key in keys]
    assert len({tuple(origins(part)[0]) for part in parts}) == len(parts)
    assert {int(label) for part in parts for label in part.y[:5]} == set(range(10))


def test_equal_keys_draw_equal_samples(balanced):
    first, second = (subset(balanced, 50, key=jax.random.key(3)) for _ in range(2))
    np.testing.assert_array_equal(first.x, second.x)


def test_test_split_depends_on_its_size_alone(balanced):
    everything = np.arange(200, 250)
    fixed = origins(subset(balanced, 10, num_test=23, key=jax.random.key(0)))[1]
    for seed, num_train in [(0, 100), (1, 10), (2, 200)]:
        key = jax.random.key(seed)
        whole = subset(balanced, num_train, key=key)
        np.testing.assert_array_equal(origins(whole)[1], everything)
        part = subset(balanced, num_train, num_test=23, key=key)
        np.testing.assert_array_equal(origins(part)[1], fixed)
    counts = np.bincount(balanced.y[fixed])
    assert counts.sum() == 23 and set(counts) == {2, 3}


def test_samples_do_not_depend_on_the_precision_setting(balanced):
    with_x64 = subset(balanced, 50, num_test=7, key=jax.random.key(3))
    with jax.enable_x64(False):
        without = subset(balanced, 50, num_test=7, key=jax.random.key(3))
    np.testing.assert_array_equal(with_x64.x, without.x)


def test_no_test_samples(balanced, getkey):
    assert subset(balanced, 10, num_test=0, key=getkey()).num_test == 0
    assert subset(make([0, 1, 0], 3), 2, key=getkey()).num_test == 0


@pytest.mark.parametrize("num_train", [0, -1, 1438])
def test_impossible_training_sizes(num_train, getkey):
    message = f"digits: `num_train` must lie in 1..1437, .* got {num_train}"
    with pytest.raises(ValueError, match=message):
        subset(load("digits"), num_train, key=getkey())


@pytest.mark.parametrize("num_test", [-1, 361])
def test_impossible_test_sizes(num_test, getkey):
    message = f"digits: `num_test` must lie in 0..360, .* got {num_test}"
    with pytest.raises(ValueError, match=message):
        subset(load("digits"), 10, num_test=num_test, key=getkey())


def test_a_missing_test_split_comes_with_the_remedy(getkey):
    message = "has no test split, but 1 .*`num_train`, or `x_test` and `y_test`"
    with pytest.raises(ValueError, match=message):
        subset(make([0, 1, 0], 3), 2, num_test=1, key=getkey())
