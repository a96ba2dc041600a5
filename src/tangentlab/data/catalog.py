"""What is known about each data set: classes, files, checksums and addresses.

Facts only; finding, reading and downloading live in the modules beside this one.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class RemoteFile:
    """One file to download.

    Attributes:
        path: Where it goes, below the data folder.
        urls: Addresses, tried in order.
        md5: Checksum of the whole file.
        size: Length in bytes; an address that sends more is refused.
    """

    path: str
    urls: tuple[str, ...]
    md5: str
    size: int


@dataclass(frozen=True)
class Layout:
    """One way in which the official files may lie below a data folder.

    Attributes:
        folder: Folder that holds them; empty for the data folder itself.
        members: Their official names, in the order of the samples.
        archive: Name of the tar file that holds the members; empty where they lie in
            the folder one by one.
        gzipped: Whether a member may also be there as `member.gz`.
        explicit_only: Search it only in a folder passed as `directory=`.
    """

    folder: str
    members: tuple[str, ...]
    archive: str = ""
    gzipped: bool = False
    explicit_only: bool = False


@dataclass(frozen=True)
class Entry:
    """A data set of official files.

    Attributes:
        name: The name to load it by.
        names: Class names.
        layouts: Where its files may lie, the fastest to read first.
        md5: Checksum of the content of each member of any layout.
        remote: The files that `fetch` downloads; they form one of the layouts.
    """

    name: str
    names: tuple[str, ...]
    layouts: tuple[Layout, ...]
    md5: Mapping[str, str]
    remote: tuple[RemoteFile, ...]


_CIFAR_BATCHES = (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch")
_CIFAR_BIN = tuple(f"{batch}.bin" for batch in _CIFAR_BATCHES)
_CIFAR_BIN_MD5 = (
    "5dd7e06a14cb22eb9f671a540d1b7c25",
    "5ea93a67294ea407fff1d09f752e9692",
    "942cd6a4bcdd0dd3c604fbe906cb4421",
    "ae636b3ba5c66a11e91e8cb52e771fcb",
    "53f37980c15c3d472c316c40844f3f0d",
    "803d5f7f4d78ea53de84dbe85f74fb6d",
)
_CIFAR_PY_MD5 = (
    "c99cafc152244af753f735de768cd75f",
    "d4bba439e000b95fd0a9bffe97cbabec",
    "54ebc095f3ab1f0389bbae665268c751",
    "634d18415352ddfa80567beed471001a",
    "482c414d41f54cd18b22e5b47cb7c3cb",
    "40351d587109b95175f43aff81a1287e",
)
_CIFAR_ARCHIVE = "cifar-10-binary.tar.gz"

CIFAR10 = Entry(
    name="cifar10",
    names=tuple(
        "airplane automobile bird cat deer dog frog horse ship truck".split(),
    ),
    layouts=(
        Layout("cifar-10-batches-bin", _CIFAR_BIN),
        Layout("", _CIFAR_BIN),
        Layout("cifar-10-batches-py", _CIFAR_BATCHES),
        Layout("", _CIFAR_BATCHES),
        Layout("", _CIFAR_BIN, archive=_CIFAR_ARCHIVE),
        Layout("", _CIFAR_BATCHES, archive="cifar-10-python.tar.gz"),
    ),
    md5=dict(
        zip(
            _CIFAR_BIN + _CIFAR_BATCHES,
            _CIFAR_BIN_MD5 + _CIFAR_PY_MD5,
            strict=True,
        )
    ),
    remote=(
        RemoteFile(
            path=_CIFAR_ARCHIVE,
            urls=(
                f"https://www.cs.toronto.edu/~kriz/{_CIFAR_ARCHIVE}",
                "https://storage.googleapis.com/s4tf-hosted-binaries/datasets/CIFAR10/"
                + _CIFAR_ARCHIVE,
            ),
            md5="c32a1d4ab5d03f1284b67883e8d87530",
            size=170_052_171,
        ),
    ),
)

IDX_FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
"""MNIST and Fashion-MNIST share these names; `FIRST_LABELS` tells them apart."""

FIRST_LABELS = {
    "mnist": (5, 0, 4, 1, 9, 2, 1, 3, 1, 4),
    "fashion_mnist": (9, 0, 0, 3, 0, 2, 7, 2, 5, 5),
}


def _gzipped_files(
    folder: str,
    addresses: tuple[str, ...],
    checksums: tuple[str, ...],
    sizes: tuple[int, ...],
) -> tuple[RemoteFile, ...]:
    return tuple(
        RemoteFile(
            path=f"{folder}/{member}.gz",
            urls=tuple(f"{address}{member}.gz" for address in addresses),
            md5=md5,
            size=size,
        )
        for member, md5, size in zip(IDX_FILES, checksums, sizes, strict=True)
    )


MNIST = Entry(
    name="mnist",
    names=tuple("0123456789"),
    layouts=(
        Layout("MNIST/raw", IDX_FILES, gzipped=True),
        Layout("mnist", IDX_FILES, gzipped=True),
        Layout("", IDX_FILES, gzipped=True),
    ),
    md5={
        "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
        "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
        "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
        "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
    },
    remote=_gzipped_files(
        "MNIST/raw",
        (
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
        ),
        (
            "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "d53e105ee54ea40749a09fcbcd1e9432",
            "9fb629c4189551a2d022fa330f9573f3",
            "ec29112dd5afa0611ce80d1b7f02629c",
        ),
        (9_912_422, 28_881, 1_648_877, 4_542),
    ),
)

FASHION_MNIST = Entry(
    name="fashion_mnist",
    names=(
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ),
    layouts=(
        Layout("FashionMNIST/raw", IDX_FILES, gzipped=True),
        Layout("fashion_mnist", IDX_FILES, gzipped=True),
        Layout("", IDX_FILES, gzipped=True, explicit_only=True),
    ),
    md5={
        "train-images-idx3-ubyte": "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "train-labels-idx1-ubyte": "9018921c3c673c538a1fc5bad174d6f9",
        "t10k-images-idx3-ubyte": "8181f5470baa50b63fa0f6fddb340f0a",
        "t10k-labels-idx1-ubyte": "15d484375f8d13e6eb1aabb0c3f46965",
    },
    remote=_gzipped_files(
        "FashionMNIST/raw",
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion/",
        ),
        (
            "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "25c81989df183df01b3e8a0aad5dffbe",
            "bef4ecab320f06d8554ea6380940ec79",
            "bb300cfdad3c16e7a12a480ee83cd310",
        ),
        (26_421_880, 29_515, 4_422_102, 5_148),
    ),
)

CATALOG = {entry.name: entry for entry in (CIFAR10, MNIST, FASHION_MNIST)}
"""The data sets made of official files, by name."""

EMBEDDED = "digits"
"""The one data set that comes with the package."""

EMBEDDED_MD5 = "d3f48f3c9cd4de8bfa52cc9dbc8ed3af"
"""Checksum of its file."""
