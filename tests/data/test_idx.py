import gzip

import numpy as np
import pytest

from tangentlab.data import load
from tangentlab.data.catalog import FASHION_MNIST, MNIST
from tests.data import official

RAW = {"mnist": "MNIST/raw", "fashion_mnist": "FashionMNIST/raw"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Made-up files that are neither MNIST nor Fashion-MNIST."""
    folder = tmp_path_factory.mktemp("idx")
    official.write_idx(folder, [7, 7, 7])
    return folder


@pytest.mark.parametrize("name", RAW)
def test_images_and_labels_in_order(folder, name):
    dataset = load(name, directory=folder)
    assert dataset.x.shape == (70_000, 28, 28, 1)
    assert dataset.x.dtype == np.float32
    assert (dataset.num_train, dataset.num_test) == (60_000, 10_000)
    assert dataset.y[:5].tolist() == [7, 7, 7, 3, 4]
    assert dataset.y[60_000:60_005].tolist() == [7, 7, 7, 3, 4]
    for n, record in [(0, 0), (59_999, 59_999), (60_001, 1)]:
        expected = np.float32((record + 3 * 28 + 5) % 256) / np.float32(255)
        assert dataset.x[n, 3, 5, 0] == expected


def test_names():
    assert MNIST.names == tuple("0123456789")
    assert (FASHION_MNIST.names[0], FASHION_MNIST.names[9]) == (
        "T-shirt/top",
        "Ankle boot",
    )


def test_gzipped_files_give_the_same_arrays(folder, tmp_path):
    official.write_idx(tmp_path / "MNIST" / "raw", [7, 7, 7], gzipped=True)
    packed = load("mnist", directory=tmp_path)
    plain = load("mnist", directory=folder)
    assert np.array_equal(packed.x, plain.x)
    assert np.array_equal(packed.y, plain.y)


@pytest.mark.parametrize(
    ("name", "other", "first_labels"),
    [
        ("mnist", "fashion_mnist", official.FIRST_FASHION_LABELS),
        ("fashion_mnist", "mnist", official.FIRST_MNIST_LABELS),
    ],
)
def test_one_is_never_taken_for_the_other(tmp_path, name, other, first_labels):
    official.write_idx(tmp_path / RAW[name], first_labels)
    message = f"train-labels-idx1-ubyte holds the labels of {other}, not of {name}"
    with pytest.raises(ValueError, match=message):
        load(name, directory=tmp_path)
    (tmp_path / RAW[name]).rename(tmp_path / other)
    assert load(other, directory=tmp_path).name == other


def link_all_but(folder, target, broken):
    for path in folder.iterdir():
        if path.name != broken:
            (target / path.name).symlink_to(path)
    return (folder / broken).read_bytes()


def test_truncated_images_are_named(folder, tmp_path):
    data = link_all_but(folder, tmp_path, "train-images-idx3-ubyte")
    (tmp_path / "train-images-idx3-ubyte").write_bytes(data[:-1])
    message = (
        "train-images-idx3-ubyte is damaged .* expected 47040016 bytes, got 47040015"
    )
    with pytest.raises(ValueError, match=message):
        load("mnist", directory=tmp_path)


@pytest.mark.parametrize("num", [0, 3, 20])
def test_file_of_another_format_is_named(folder, tmp_path, num):
    link_all_but(folder, tmp_path, "t10k-images-idx3-ubyte")
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(b"x" * num)
    message = "t10k-images-idx3-ubyte .* expected the header 00000803 00002710"
    with pytest.raises(ValueError, match=message):
        load("mnist", directory=tmp_path)


def test_label_out_of_range_is_named(folder, tmp_path):
    data = bytearray(link_all_but(folder, tmp_path, "t10k-labels-idx1-ubyte"))
    data[8 + 42] = 10
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(bytes(data))
    with pytest.raises(ValueError, match="t10k-labels-idx1-ubyte .* label 42 is 10"):
        load("mnist", directory=tmp_path)


@pytest.mark.parametrize("keep", [0, 5, 30, -8])
def test_truncated_gzip_is_named(folder, tmp_path, keep):
    data = link_all_but(folder, tmp_path, "t10k-labels-idx1-ubyte")
    packed = gzip.compress(data)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(packed[:keep])
    with pytest.raises(ValueError, match="t10k-labels-idx1-ubyte.gz is damaged"):
        load("mnist", directory=tmp_path)


def test_gzip_with_flipped_bits_is_named(folder, tmp_path):
    packed = bytearray(
        gzip.compress(link_all_but(folder, tmp_path, "t10k-labels-idx1-ubyte"))
    )
    packed[len(packed) // 2] ^= 0xFF
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(bytes(packed))
    with pytest.raises(ValueError, match="t10k-labels-idx1-ubyte.gz is damaged"):
        load("mnist", directory=tmp_path)


def test_endless_gzip_is_refused(folder, tmp_path):
    link_all_but(folder, tmp_path, "t10k-labels-idx1-ubyte")
    packed = gzip.compress(bytes(65 * 2**20), 1)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(packed)
    with pytest.raises(ValueError, match="unpacks to more than 67108864 bytes"):
        load("mnist", directory=tmp_path)
