import numpy as np
import pytest

from tangentlab.data import cifar2, from_arrays, group_labels, load, select_classes


@pytest.fixture
def animals():
    y = np.array([0, 1, 2, 3, 3, 1])
    names = ["cat", "dog", "frog", "ship"]
    x = np.arange(6.0)[:, None]
    return from_arrays(x, y, num_train=4, names=names, name="animals")


def test_groups_become_classes(animals):
    grouped = group_labels(animals, [["ship"], [0, "dog", 2]])
    assert grouped.y.tolist() == [1, 1, 1, 0, 0, 1]
    assert grouped.names == ("ship", "cat/dog/frog")
    assert grouped.num_train == 4
    np.testing.assert_array_equal(grouped.x, animals.x)


def test_groups_may_be_named(animals):
    grouped = group_labels(animals, [[3], range(3)], names=["thing", "animal"])
    assert grouped.names == ("thing", "animal")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([[0, 1], [2]], "animals: each of the 4 classes must be in exactly one group"),
        ([[0, 1], [1, 2, 3]], r"exactly one group, got \[\[0, 1\], \[1, 2, 3\]\]"),
        ([["cow"], [0, 1, 2, 3]], "Unknown class 'cow'. Known: cat, dog, frog, ship"),
        ([[4], [0, 1, 2, 3]], "animals: class indices lie in 0..3, got 4"),
        ([[-1], [0, 1, 2]], "class indices lie in 0..3, got -1"),
    ],
)
def test_wrong_groups(animals, groups, message):
    with pytest.raises(ValueError, match=message):
        group_labels(animals, groups)


def test_wrong_number_of_names(animals):
    with pytest.raises(ValueError, match="animals: 2 groups need as many names"):
        group_labels(animals, [[3], [0, 1, 2]], names=["a"])


def test_selected_classes_are_numbered_in_their_order(animals):
    kept = select_classes(animals, ["ship", 1])
    assert kept.names == ("ship", "dog")
    assert kept.y.tolist() == [1, 0, 0, 1]
    assert np.asarray(kept.x)[:, 0].tolist() == [1, 3, 4, 5]
    assert (kept.num_train, kept.num_test) == (2, 2)


def test_wrong_selections(animals):
    with pytest.raises(ValueError, match=r"a class occurs twice among \['dog', 1\]"):
        select_classes(animals, ["dog", 1])
    with pytest.raises(ValueError, match=r"no training sample belongs to \[\]"):
        select_classes(animals, [])


def test_cifar2_halves_ten_classes():
    digits = load("digits")
    halves = cifar2(digits)
    np.testing.assert_array_equal(halves.y, (digits.y <= 4).astype(int))
    assert halves.names == ("5/6/7/8/9", "0/1/2/3/4")
    assert halves.name == "digits-2"
    np.testing.assert_array_equal(halves.x, digits.x)


def test_cifar2_needs_ten_classes(animals):
    with pytest.raises(ValueError, match="animals: CIFAR2 halves ten classes, got 4"):
        cifar2(animals)
