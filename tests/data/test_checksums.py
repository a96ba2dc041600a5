import hashlib

import pytest

from tangentlab.data import checksums, verify
from tangentlab.data.checksums import md5_of
from tests.data import official


def test_checksum_of_a_file_of_several_blocks(tmp_path):
    data = bytes(range(256)) * 10_000
    (tmp_path / "file").write_bytes(data)
    assert md5_of(tmp_path / "file") == hashlib.md5(data).hexdigest()


def test_other_pixels_are_found_out(tmp_path):
    official.write_idx(tmp_path, official.FIRST_MNIST_LABELS, gzipped=True)
    message = (
        "train-images-idx3-ubyte.gz has a wrong checksum: expected md5 "
        "6bbc9ace898e44ae57da46a324031adb, got [0-9a-f]{32}. Delete it and run "
        "`tangentlab data fetch mnist`"
    )
    with pytest.raises(ValueError, match=message):
        verify("mnist", tmp_path)


@pytest.mark.parametrize("layout", ["bin", "py", "bin-tar", "py-tar"])
def test_every_layout_is_checked(cifar_layouts, layout):
    with pytest.raises(ValueError, match="data_batch_1(.bin)? has a wrong checksum"):
        verify("cifar10", cifar_layouts[layout])


def test_embedded_digits_are_checked_too(tmp_path, monkeypatch):
    path = verify("digits")
    assert path.name == "digits.npz"
    damaged = tmp_path / "digits.npz"
    damaged.write_bytes(path.read_bytes()[:-1])
    monkeypatch.setattr(checksums, "EMBEDDED_FILE", damaged)
    message = (
        "digits.npz has a wrong checksum: expected md5 .* install tangentlab again"
    )
    with pytest.raises(ValueError, match=message):
        verify("digits")


def test_missing_and_unknown_data_sets(tmp_path):
    with pytest.raises(FileNotFoundError, match="mnist was not found"):
        verify("mnist", tmp_path)
    with pytest.raises(ValueError, match="Unknown data set 'imagenet'"):
        verify("imagenet")
