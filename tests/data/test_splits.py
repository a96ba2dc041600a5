import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl


def points(n=10):
    """A data set whose samples and labels say where they came from."""
    x = np.arange(n, dtype=float)[:, None]
    return tl.data.from_arrays(x, np.arange(n), num_train=n // 2, name="points")


@settings(deadline=None, max_examples=50)
@given(data=st.data(), n=st.integers(2, 30))
def test_samples_come_in_the_order_of_their_indices(data, n):
    order = data.draw(st.permutations(range(n)))
    num = data.draw(st.integers(1, n - 1))
    end = data.draw(st.integers(num + 1, n))
    part = tl.data.split(points(n), order[:num], np.array(order[num:end]))
    assert (part.num_train, part.num_test) == (num, end - num)
    np.testing.assert_array_equal(part.x[:, 0], order[:end])
    np.testing.assert_array_equal(part.y, order[:end])
    assert part.names == points(n).names and part.name == "points"


@settings(deadline=None, max_examples=50)
@given(
    train=st.sets(st.integers(0, 9), min_size=1),
    test=st.sets(st.integers(0, 9), min_size=1),
)
def test_a_split_is_refused_exactly_where_it_overlaps(train, test):
    both = sorted(train & test)
    if not both:
        tl.data.split(points(), sorted(train), sorted(test))
        return
    named = f"both hold the indices {', '.join(map(str, both[:5]))}"
    with pytest.raises(ValueError, match=f"points: training and test .*{named}"):
        tl.data.split(points(), sorted(train), sorted(test))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int32])
def test_all_integers_are_indices(dtype):
    train, test = np.array([9, 0], dtype), jnp.array([4, 5])
    part = tl.data.split(points(), train, test)
    assert part.y.tolist() == [9, 0, 4, 5] and isinstance(part.x, np.ndarray)


def test_a_long_overlap_names_a_few():
    with pytest.raises(
        ValueError, match=r"overlap, .* 1, 2, 3, 4, 5 and 3 more\. Leave"
    ):
        tl.data.split(points(), range(9), range(1, 10))


def test_equal_samples_under_other_indices_may_be_split():
    twins = tl.data.from_arrays(np.ones((4, 2)), np.zeros(4, int))
    assert tl.data.split(twins, [0, 1], [2, 3]).num_test == 2


@pytest.mark.parametrize(
    ("train", "message"),
    [
        ([], "`train` is empty, but both splits need samples"),
        (np.arange(10) < 3, r"is a mask, .* pass `np.flatnonzero\(train\)`"),
        ([True, False], r"is a mask, .* pass `np.flatnonzero\(train\)`"),
        ([0.0, 1.0], r"whole numbers along one axis, got float64 of shape \(2,\)"),
        (["a"], "whole numbers along one axis, got <U1"),
        ([[0, 1]], r"whole numbers along one axis, got int64 of shape \(1, 2\)"),
        (3, r"whole numbers along one axis, got int64 of shape \(\)"),
        ([0, 10, 11], r"`train` must hold indices in 0\.\.9, got 10, 11\."),
        ([-1], r"`train` must hold indices in 0\.\.9, got -1"),
        ([3, 1, 3, 1, 0], "every index once, got more than once: 1, 3"),
    ],
)
def test_other_than_different_indices_raises(train, message, no_type_checks):
    with pytest.raises(ValueError, match=f"points: .*{message}"):
        tl.data.split(points(), train, [9])
    with pytest.raises(
        ValueError, match=f"points: .*{message}".replace("train", "test")
    ):
        tl.data.split(points(), [8], train)
