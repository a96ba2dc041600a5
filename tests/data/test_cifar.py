import io
import pickle
import tarfile

import numpy as np
import pytest

from tangentlab.data import load
from tests.data import official


@pytest.fixture(scope="module")
def from_bin(cifar_layouts):
    return load("cifar10", directory=cifar_layouts["bin"])


def test_images_are_red_green_blue_planes_in_order(from_bin):
    assert from_bin.x.shape == (60_000, 32, 32, 3)
    assert from_bin.x.dtype == np.float32
    assert (from_bin.num_train, from_bin.num_test) == (50_000, 10_000)
    assert from_bin.names[3] == "cat"
    for batch, record in [(0, 0), (3, 1234), (5, 9_999)]:
        labels, planes = official.cifar_batch(batch)
        n = batch * 10_000 + record
        assert from_bin.y[n] == labels[record]
        for color in range(3):
            plane = planes[record, color * 1024 : (color + 1) * 1024].reshape(32, 32)
            expected = plane.astype(np.float32) / np.float32(255)
            np.testing.assert_array_equal(from_bin.x[n, :, :, color], expected)


@pytest.mark.parametrize("layout", ["py", "bin-tar", "py-tar"])
def test_every_layout_gives_the_same_arrays(cifar_layouts, from_bin, layout):
    dataset = load("cifar10", directory=cifar_layouts[layout])
    assert np.array_equal(dataset.x, from_bin.x)
    assert np.array_equal(dataset.y, from_bin.y)
    assert dataset.names == from_bin.names


def test_directory_may_be_the_folder_of_the_batches(cifar_layouts, from_bin):
    inside = cifar_layouts["bin"] / "cifar-10-batches-bin"
    assert np.array_equal(load("cifar10", directory=inside).y, from_bin.y)


@pytest.fixture
def broken_bin(cifar_layouts, tmp_path):
    """Path of a binary batch yet to be written; the other five are in order."""
    source = cifar_layouts["bin"] / "cifar-10-batches-bin"
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    for path in source.iterdir():
        if path.name != "data_batch_1.bin":
            (folder / path.name).symlink_to(path)
    return folder / "data_batch_1.bin"


def test_truncated_batch_is_named(broken_bin, tmp_path):
    broken_bin.write_bytes(bytes(30_729_999))
    message = "data_batch_1.bin is damaged .* expected 30730000 bytes, got 30729999"
    with pytest.raises(ValueError, match=message):
        load("cifar10", directory=tmp_path)


def test_label_out_of_range_is_named(broken_bin, tmp_path):
    records = np.zeros((10_000, 3073), np.uint8)
    records[[77, 99], 0] = 10
    broken_bin.write_bytes(records.tobytes())
    message = r"data_batch_1.bin .* 0\.\.9, but that of record 77 does not .2 records"
    with pytest.raises(ValueError, match=message):
        load("cifar10", directory=tmp_path)


class _Touch:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


PLANES = np.zeros((10_000, 3072), np.uint8)


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        ({"labels": [0] * 10_000}, r"expected an array `data` .* of type NoneType"),
        ({"data": PLANES[:9], "labels": [0] * 9}, r"`data` .* got shape \(9, 3072\)"),
        ({"data": PLANES, "labels": [0]}, "10000 integers `labels`, got a list of len"),
        ({"data": PLANES, "labels": ["0"] * 10_000}, "10000 integers `labels`"),
        ({"data": PLANES, "labels": [2**70] * 10_000}, "that of record 0 does not"),
        ({"data": PLANES, "labels": [-1] * 10_000}, "that of record 0 does not"),
        ([PLANES], "a pickled dict was expected"),
    ],
)
def test_wrong_pickled_batch_is_named(cifar_layouts, tmp_path, batch, message):
    _write_broken_py(cifar_layouts, tmp_path, pickle.dumps(batch))
    with pytest.raises(ValueError, match=f"data_batch_1 is damaged .*{message}"):
        load("cifar10", directory=tmp_path)


def test_malicious_batch_is_refused_and_runs_nothing(cifar_layouts, tmp_path):
    witness = tmp_path / "witness"
    batch = {"data": PLANES, "labels": _Touch(witness)}
    _write_broken_py(cifar_layouts, tmp_path, pickle.dumps(batch))
    with pytest.raises(ValueError, match="data_batch_1 is damaged .*refused to import"):
        load("cifar10", directory=tmp_path)
    assert not witness.exists()


def test_truncated_pickle_is_named(cifar_layouts, tmp_path):
    whole = (cifar_layouts["py"] / "cifar-10-batches-py" / "data_batch_1").read_bytes()
    _write_broken_py(cifar_layouts, tmp_path, whole[:-1000])
    with pytest.raises(ValueError, match="data_batch_1 is damaged"):
        load("cifar10", directory=tmp_path)


def _write_broken_py(cifar_layouts, folder, first_batch):
    inside = folder / "cifar-10-batches-py"
    inside.mkdir()
    for path in (cifar_layouts["py"] / inside.name).iterdir():
        if path.name != "data_batch_1":
            (inside / path.name).symlink_to(path)
    (inside / "data_batch_1").write_bytes(first_batch)


@pytest.mark.parametrize("fraction", [0.0, 0.001, 0.5, 0.999])
def test_truncated_archive_is_named(cifar_layouts, tmp_path, fraction):
    data = (cifar_layouts["bin-tar"] / "cifar-10-binary.tar.gz").read_bytes()
    broken = tmp_path / "cifar-10-binary.tar.gz"
    broken.write_bytes(data[: int(fraction * len(data))])
    with pytest.raises(ValueError, match="cifar-10-binary.tar.gz.* is damaged"):
        load("cifar10", directory=tmp_path)


def test_archive_that_lacks_a_batch_is_named(tmp_path):
    archive = tmp_path / "cifar-10-binary.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        for name in official.CIFAR_BATCHES[:-1]:
            item = tarfile.TarInfo(f"cifar-10-batches-bin/{name}.bin")
            item.size = 30_730_000
            tar.addfile(item, io.BytesIO(bytes(item.size)))
    with pytest.raises(ValueError, match="the archive lacks test_batch.bin"):
        load("cifar10", directory=tmp_path)


def test_oversized_member_is_refused_before_it_is_read(tmp_path):
    archive = tmp_path / "cifar-10-binary.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        item = tarfile.TarInfo("cifar-10-batches-bin/data_batch_1.bin")
        item.size = 2**26 + 1
        tar.addfile(item, io.BytesIO(bytes(item.size)))
    with pytest.raises(
        ValueError, match="data_batch_1.bin is damaged .* 67108865 bytes"
    ):
        load("cifar10", directory=tmp_path)
