import numpy as np
import pytest

import tangentlab as tl


def _ten_classes(num_classes=10):
    y = np.arange(20) % num_classes
    names = tuple(map(str, range(num_classes)))
    return tl.Dataset(np.ones((20, 2)), y, names, 15, name="cifar10")


def test_cifar2_puts_the_first_five_classes_in_class_one():
    task = tl.tasks.cifar2(_ten_classes())
    assert task.y.tolist() == [1.0] * 5 + [0.0] * 5 + [1.0] * 5 + [0.0] * 5
    assert task.name == "cifar2" and task.index is None and task.balance == 0.5


def test_cifar2_of_other_than_ten_classes_raises():
    with pytest.raises(ValueError, match="halves ten classes, got 4"):
        tl.tasks.cifar2(_ten_classes(4))


def test_chance_is_the_larger_class_of_the_test_split():
    labels = np.array([1] * 15 + [0, 0, 0, 0, 1])
    task = tl.tasks.from_labels(_ten_classes(), labels)
    assert task.test_chance == 0.8 and task.balance == 0.8 and not task.degenerate


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


def test_a_task_needs_both_splits():
    dataset = tl.Dataset(np.ones((4, 2)), np.zeros(4, int), ("a",), 4)
    with pytest.raises(ValueError, match="both splits need samples"):
        tl.tasks.from_labels(dataset, np.zeros(4))
