import pytest

from tangentlab.data import available, cache_directory, load
from tangentlab.data.catalog import CIFAR10, FASHION_MNIST, IDX_FILES, MNIST
from tangentlab.data.lookup import find


def touch(folder, names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(b"")


def test_missing_data_set_says_where_to_put_what(tmp_path, monkeypatch):
    monkeypatch.setenv("TANGENTLAB_DATA", str(tmp_path / "variable"))
    (tmp_path / "here").mkdir()
    with pytest.raises(FileNotFoundError, match="cifar10 was not found") as caught:
        load("cifar10", directory=tmp_path / "here")
    lines = str(caught.value).splitlines()
    assert lines[1:4] == [
        f"  {tmp_path / 'here'} (directory=)",
        f"  {tmp_path / 'variable'} ($TANGENTLAB_DATA): no such folder",
        f"  {cache_directory()} (user cache): no such folder",
    ]
    assert "tangentlab data fetch cifar10" in lines[4]
    assert lines[5] == f"  {tmp_path / 'here' / 'cifar-10-binary.tar.gz'}"
    assert lines[6].strip().startswith("from https://www.cs.toronto.edu/")
    for other in ("cifar-10-batches-bin/", "cifar-10-batches-py/", "cifar-10-python"):
        assert other in lines[8]


def test_every_place_is_searched_in_order(tmp_path, monkeypatch):
    monkeypatch.setenv("TANGENTLAB_DATA", str(tmp_path / "variable"))
    explicit, variable = tmp_path / "explicit", tmp_path / "variable"
    for place in (cache_directory(), variable, explicit):
        touch(place / "MNIST" / "raw", IDX_FILES)
        assert find(MNIST, explicit).path == place / "MNIST" / "raw"


@pytest.mark.parametrize("folder", ["MNIST/raw", "mnist", ""])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_mnist_is_found(tmp_path, folder, ending):
    touch(tmp_path / folder, [name + ending for name in IDX_FILES])
    assert find(MNIST, tmp_path).path == tmp_path / folder


def test_unpacked_files_are_preferred_to_gzipped_ones(tmp_path):
    touch(tmp_path, [*(f"{name}.gz" for name in IDX_FILES), IDX_FILES[2]])
    names = [path.name for path in find(MNIST, tmp_path).files]
    assert names == [
        "train-images-idx3-ubyte.gz",
        "train-labels-idx1-ubyte.gz",
        "t10k-images-idx3-ubyte",
        "t10k-labels-idx1-ubyte.gz",
    ]


@pytest.mark.parametrize("folder", ["FashionMNIST/raw", "fashion_mnist", ""])
def test_fashion_is_found_in_an_explicit_folder(tmp_path, folder):
    touch(tmp_path / folder, IDX_FILES)
    assert find(FASHION_MNIST, tmp_path).path == tmp_path / folder


def test_bare_files_in_the_data_folder_are_never_fashion(tmp_path, monkeypatch):
    touch(tmp_path, IDX_FILES)
    monkeypatch.setenv("TANGENTLAB_DATA", str(tmp_path))
    assert find(MNIST).path == tmp_path
    with pytest.raises(FileNotFoundError, match="fashion_mnist was not found"):
        find(FASHION_MNIST)


def test_mnist_is_not_found_in_a_folder_of_fashion(tmp_path):
    touch(tmp_path / "FashionMNIST" / "raw", IDX_FILES)
    with pytest.raises(FileNotFoundError, match="mnist was not found"):
        find(MNIST, tmp_path)


@pytest.mark.parametrize("layout", CIFAR10.layouts, ids=str)
def test_cifar10_is_found_in_every_layout(tmp_path, layout):
    names = [layout.archive] if layout.archive else layout.members
    touch(tmp_path / layout.folder, names)
    found = find(CIFAR10, tmp_path)
    assert found.layout == layout
    assert [path.name for path in found.files] == list(names)


def test_incomplete_folder_names_what_is_missing(tmp_path):
    touch(tmp_path / "cifar-10-batches-bin", CIFAR10.layouts[0].members[:-1])
    touch(cache_directory(), ["cifar-10-binary.tar.gz"])
    with pytest.raises(
        FileNotFoundError, match="batches-bin lacks test_batch.bin. Add"
    ):
        find(CIFAR10, tmp_path)


def test_complete_layout_beside_an_incomplete_one_is_taken(tmp_path):
    touch(tmp_path / "cifar-10-batches-bin", CIFAR10.layouts[0].members[:-1])
    touch(tmp_path, ["cifar-10-python.tar.gz"])
    assert find(CIFAR10, tmp_path).path == tmp_path / "cifar-10-python.tar.gz"


def test_available_says_what_is_there_and_what_is_missing(tmp_path):
    touch(tmp_path / "mnist", IDX_FILES)
    records = {record.name: record for record in available(tmp_path)}
    assert set(records) == {"digits", "cifar10", "mnist", "fashion_mnist"}
    assert records["mnist"].path == tmp_path / "mnist"
    assert records["mnist"].hint == ""
    assert records["digits"].path is not None and records["digits"].path.is_file()
    assert records["cifar10"].path is None
    assert "tangentlab data fetch cifar10" in records["cifar10"].hint
