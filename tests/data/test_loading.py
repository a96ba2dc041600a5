import numpy as np
import pytest
from sklearn.datasets import load_digits

import tangentlab.data
from tangentlab.data import load


def test_digits_are_the_uci_digits_in_their_order():
    dataset = load("digits")
    pixels, labels = load_digits(return_X_y=True)
    assert dataset.x.dtype == np.float32
    assert dataset.x.shape == (1797, 8, 8, 1)
    np.testing.assert_array_equal(dataset.x.reshape(1797, 64) * 16, pixels)
    np.testing.assert_array_equal(dataset.y, labels)
    assert (dataset.num_train, dataset.num_test) == (1437, 360)
    assert dataset.names == tuple("0123456789")
    assert (dataset.x.min(), dataset.x.max()) == (0, 1)


def test_digits_come_with_their_attribution():
    folder = tangentlab.data.fetch("digits")
    text = (folder / "digits.txt").read_text()
    assert "Alpaydin" in text and "Kaynak" in text and "CC BY 4.0" in text


@pytest.mark.parametrize("name", ["imagenet", "CIFAR10", "", "mine.npy"])
def test_unknown_name_lists_the_known_ones(name):
    known = "PATH.npz, cifar10, digits, fashion_mnist, mnist"
    with pytest.raises(ValueError, match=f"Unknown data set '{name}'. Known: {known}"):
        load(name)


def test_a_directory_that_is_not_there_is_not_passed_over(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        load("mnist", directory=tmp_path / "typo")
