import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl


def _ten_classes(num_classes=10, n=20, num_train=15):
    y = np.arange(n) % num_classes
    names = tuple(map(str, range(num_classes)))
    return tl.Dataset(np.ones((n, 2)), y, names, num_train, name="cifar10")


def test_cifar2_puts_the_first_five_classes_in_class_one():
    task = tl.tasks.cifar2(_ten_classes())
    assert task.y.tolist() == [1.0] * 5 + [0.0] * 5 + [1.0] * 5 + [0.0] * 5
    assert task.name == "cifar2" and task.index is None and task.balance == 0.5


def test_cifar2_of_other_than_ten_classes_raises():
    with pytest.raises(ValueError, match="halves ten classes, got 4"):
        tl.tasks.cifar2(_ten_classes(4))


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize("label", [1j, "one"])
def test_labels_that_are_no_real_numbers_raise(label, regression, no_type_checks):
    with pytest.raises(ValueError, match="labels must be real numbers, got dtype"):
        tl.tasks.from_labels(_ten_classes(), np.full(20, label), regression=regression)


def test_grouping_labels_the_second_group_1():
    dataset = _ten_classes(4)
    task = tl.tasks.grouping(dataset, [["1", 3], [0, "2"]])
    np.testing.assert_array_equal(task.y, np.asarray(dataset.y) % 2 == 0)
    assert task.name == "cifar10 0/2 against 1/3" and task.x is dataset.x
    assert tl.tasks.grouping(dataset, [[0], [1, 2, 3]], name="rest").name == "rest"


@settings(deadline=None, max_examples=30)
@given(ones=st.sets(st.integers(0, 9)))
def test_balance_of_a_grouping_is_its_share_of_classes(ones):
    groups = [sorted(set(range(10)) - ones), sorted(ones)]
    task = tl.tasks.grouping(_ten_classes(num_train=10), groups)
    assert task.balance == pytest.approx(len(ones) / 10)
    assert task.degenerate == (len(ones) in (0, 10))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0, 1], [2], [3]], "two groups of classes, .* got 3"),
        ([[0, 1], [1, 2, 3]], "exactly one group"),
        ([[0], [1]], "Use `select_classes` first"),
        ([["zero"], [1, 2, 3]], "Unknown class 'zero'"),
    ],
)
def test_grouping_of_other_than_two_groups_of_all_classes_raises(groups, message):
    with pytest.raises(ValueError, match=message):
        tl.tasks.grouping(_ten_classes(4), groups)


def test_chance_is_the_larger_class_of_the_test_split():
    labels = np.array([1] * 14 + [0] + [0, 0, 0, 0, 1])
    task = tl.tasks.from_labels(_ten_classes(), labels)
    assert task.test_chance == 0.8 and task.balance == 0.75 and not task.degenerate


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full(20, -1.0), "labels must be 0 or 1, got -1"),
        (np.zeros(19), r"20 samples need labels of shape \(20,\), got \(19,\)"),
        (np.zeros((20, 1)), r"got \(20, 1\)"),
        (np.full(20, np.nan), "labels must be 0 or 1, got nan"),
    ],
)
def test_bad_labels_raise(labels, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.tasks.from_labels(_ten_classes(), labels)


def test_own_targets_of_a_regression_keep_their_precision():
    targets = np.linspace(-1, 1, 20)
    task = tl.tasks.from_labels(_ten_classes(), targets, regression=True)
    assert task.kind == "regression" and task.y.dtype == np.float64
    np.testing.assert_array_equal(task.y, targets)
    whole = tl.tasks.from_labels(_ten_classes(), np.arange(20), regression=True)
    assert whole.y.dtype == np.float32 and whole.y[7] == 7


def test_a_task_needs_both_splits():
    dataset = tl.Dataset(np.ones((4, 2)), np.zeros(4, int), ("a",), 4)
    with pytest.raises(ValueError, match="both splits need samples"):
        tl.tasks.from_labels(dataset, np.zeros(4))


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**16), share=st.floats(0.01, 0.99))
def test_random_labels_have_their_share_and_one_key_one_answer(seed, share):
    dataset, key = _ten_classes(n=4000, num_train=3000), jax.random.key(seed)
    task = tl.tasks.random_labels(dataset, key=key, share=share)
    deviation = np.sqrt(share * (1 - share) / 4000)
    assert abs(task.balance - share) <= 6 * deviation
    again = tl.tasks.random_labels(dataset, key=key, share=share)
    np.testing.assert_array_equal(task.y, again.y)


def test_random_labels_depend_on_the_key_and_not_on_the_classes():
    dataset = _ten_classes(n=400, num_train=300)
    one, other = (
        np.asarray(tl.tasks.random_labels(dataset, key=jax.random.key(s)).y)
        for s in (0, 1)
    )
    assert 0.3 < np.mean(one == other) < 0.7
    by_class = [one[np.asarray(dataset.y) == c].mean() for c in range(10)]
    assert max(by_class) < 1 and min(by_class) > 0


def test_random_test_labels_do_not_depend_on_the_training_split():
    small, large = (
        tl.tasks.random_labels(
            _ten_classes(n=n, num_train=n - 50), key=jax.random.key(3)
        )
        for n in (80, 200)
    )
    np.testing.assert_array_equal(small.y[-50:], large.y[-50:])
    np.testing.assert_array_equal(small.y[:30], large.y[:30])


@pytest.mark.parametrize("share", [-0.1, 1.5, float("nan")])
def test_a_share_that_is_no_probability_raises(share):
    with pytest.raises(ValueError, match=r"`share` must lie in 0\.\.1, got"):
        tl.tasks.random_labels(_ten_classes(), key=jax.random.key(0), share=share)
