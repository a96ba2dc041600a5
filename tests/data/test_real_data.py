"""The official files themselves, where `TANGENTLAB_DATA` has them."""

import gzip
import pickle

import jax
import numpy as np
import pytest

from tangentlab.data import (
    available,
    channel_moments,
    cifar2,
    fetch,
    load,
    normalize,
    subset,
    verify,
)
from tests.data import official


@pytest.fixture(scope="module")
def cifar10(real_data):
    return load("cifar10", directory=real_data)


@pytest.fixture(scope="module")
def mnist(real_data):
    return load("mnist", directory=real_data)


def test_cifar10_has_60000_images_of_ten_equal_classes(cifar10):
    assert cifar10.x.shape == (60_000, 32, 32, 3)
    assert cifar10.num_train == 50_000
    assert np.bincount(cifar10.y[:50_000]).tolist() == [5_000] * 10
    assert np.bincount(cifar10.y[50_000:]).tolist() == [1_000] * 10
    assert [cifar10.names[label] for label in cifar10.y[:4]] == [
        "frog",
        "truck",
        "truck",
        "deer",
    ]
    assert cifar10.y[50_000:50_004].tolist() == [3, 8, 8, 0]


def test_cifar10_training_moments_are_the_published_ones(cifar10):
    mean, std = channel_moments(cifar10)
    assert np.round(mean, 4).tolist() == [0.4914, 0.4822, 0.4465]
    assert np.round(std, 4).tolist() == [0.2470, 0.2435, 0.2616]


def test_normalized_cifar10_is_standard_on_its_training_split(cifar10):
    mean, std = channel_moments(normalize(cifar10))
    np.testing.assert_allclose(mean, 0, atol=1e-6)
    np.testing.assert_allclose(std, 1, atol=1e-6)


def test_mnist_has_70000_images(mnist):
    assert mnist.x.shape == (70_000, 28, 28, 1)
    assert mnist.num_train == 60_000
    totals = np.bincount(mnist.y)
    assert totals.tolist() == [
        6903,
        7877,
        6990,
        7141,
        6824,
        6313,
        6876,
        7293,
        6825,
        6958,
    ]
    train = np.bincount(mnist.y[:60_000])
    assert train.tolist() == [
        5923,
        6742,
        5958,
        6131,
        5842,
        5421,
        5918,
        6265,
        5851,
        5949,
    ]
    mean, std = channel_moments(mnist)
    assert (round(float(mean[0]), 4), round(float(std[0]), 4)) == (0.1307, 0.3081)
    assert (mnist.x.min(), mnist.x.max()) == (0, 1)


def test_mnist_first_labels_are_its_fingerprint(mnist):
    assert mnist.y[:10].tolist() == official.FIRST_MNIST_LABELS


def test_real_mnist_is_never_loaded_as_fashion(real_data):
    with pytest.raises(ValueError, match="holds the labels of mnist, not of fashion"):
        load("fashion_mnist", directory=real_data / "MNIST" / "raw")


def test_real_files_are_found_by_the_variable_alone(real_data):
    paths = {record.name: record.path for record in available()}
    assert paths["cifar10"] == real_data / "cifar-10-batches-bin"
    assert paths["mnist"] == real_data / "MNIST" / "raw"


@pytest.mark.parametrize("name", ["cifar10", "mnist"])
def test_real_files_are_intact_and_not_fetched_again(real_data, name):
    before = sorted(real_data.rglob("*"))
    assert verify(name, real_data).is_dir()
    assert fetch(name, directory=real_data, progress=False) == real_data
    assert sorted(real_data.rglob("*")) == before


def test_cifar2_is_half_and_half(cifar10):
    halves = cifar2(cifar10)
    assert halves.name == "cifar2"
    assert halves.names == (
        "dog/frog/horse/ship/truck",
        "airplane/automobile/bird/cat/deer",
    )
    assert np.bincount(halves.y).tolist() == [30_000, 30_000]
    np.testing.assert_array_equal(halves.y, cifar10.y <= 4)


def test_stratified_subset_of_cifar10(cifar10):
    part = subset(cifar10, 1003, num_test=500, key=jax.random.key(0))
    assert set(np.bincount(part.y[:1003])) == {100, 101}
    assert np.bincount(part.y[1003:]).tolist() == [50] * 10


@pytest.fixture(scope="module")
def pickled_cifar(real_data, tmp_path_factory):
    """The real images as `cifar-10-batches-py`."""
    folder = tmp_path_factory.mktemp("real") / "cifar-10-batches-py"
    folder.mkdir()
    for name in official.CIFAR_BATCHES:
        path = real_data / "cifar-10-batches-bin" / f"{name}.bin"
        records = np.fromfile(path, np.uint8).reshape(10_000, 3073)
        labels, planes = records[:, 0].tolist(), np.ascontiguousarray(records[:, 1:])
        batch = {"labels": labels, "data": planes}
        (folder / name).write_bytes(pickle.dumps(batch, protocol=2))
    yield folder
    for path in folder.iterdir():
        path.unlink()


def test_real_images_pickled_by_this_python_are_the_same(pickled_cifar, cifar10):
    dataset = load("cifar10", directory=pickled_cifar)
    assert np.array_equal(dataset.x, cifar10.x)
    assert np.array_equal(dataset.y, cifar10.y)


def test_real_mnist_gzipped_is_the_same_and_intact(real_data, mnist, tmp_path):
    (tmp_path / "mnist").mkdir()
    for path in (real_data / "MNIST" / "raw").glob("*-ubyte"):
        packed = gzip.compress(path.read_bytes(), 1)
        (tmp_path / "mnist" / f"{path.name}.gz").write_bytes(packed)
    assert verify("mnist", tmp_path) == tmp_path / "mnist"
    dataset = load("mnist", directory=tmp_path)
    assert np.array_equal(dataset.x, mnist.x)
    assert np.array_equal(dataset.y, mnist.y)
