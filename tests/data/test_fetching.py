import dataclasses
import gzip
import hashlib

import numpy as np
import pytest

from tangentlab.data import catalog, fetch, load, verify
from tangentlab.data.catalog import Entry, Layout, RemoteFile
from tangentlab.data.fetching import fetch_entry
from tangentlab.data.lookup import find
from tests.data import official
from tests.data.server import CONTENT


def md5(data):
    return hashlib.md5(data).hexdigest()


MD5 = md5(CONTENT)


def small_entry(*urls):
    """A data set of two files, either unpacked in `plain` or as downloaded."""
    members = ("one", "two")
    return Entry(
        name="small",
        names=("a", "b"),
        layouts=(Layout("plain", members), Layout("fetched", members)),
        md5=dict.fromkeys(members, MD5),
        remote=tuple(
            RemoteFile(f"fetched/{member}", urls, md5=MD5, size=len(CONTENT))
            for member in members
        ),
    )


def write_plain(folder, data):
    (folder / "plain").mkdir()
    for member in ("one", "two"):
        (folder / "plain" / member).write_bytes(data)


def test_all_files_are_fetched_once(server, tmp_path):
    entry = small_entry(server.url("good"))
    for _ in range(2):
        assert fetch_entry(entry, tmp_path, progress=False) == tmp_path
    assert (tmp_path / "fetched" / "one").read_bytes() == CONTENT
    assert (tmp_path / "fetched" / "two").read_bytes() == CONTENT
    assert len(server.asked) == 2


def test_intact_files_in_another_layout_are_enough(server, tmp_path):
    write_plain(tmp_path, CONTENT)
    fetch_entry(small_entry(server.url("good")), tmp_path, progress=False)
    assert server.asked == []


def test_damaged_files_that_would_hide_the_fetched_ones_are_named(server, tmp_path):
    write_plain(tmp_path, CONTENT[:-1])
    message = r"plain.one has a wrong checksum: (?s:.)* It would be read before"
    with pytest.raises(ValueError, match=message):
        fetch_entry(small_entry(server.url("good")), tmp_path, progress=False)


def test_damaged_fetched_file_is_fetched_again(server, tmp_path):
    entry = small_entry(server.url("good"))
    fetch_entry(entry, tmp_path, progress=False)
    (tmp_path / "fetched" / "two").write_bytes(b"")
    fetch_entry(entry, tmp_path, progress=False)
    assert (tmp_path / "fetched" / "two").read_bytes() == CONTENT
    assert len(server.asked) == 3


def test_failure_says_which_files_to_put_where(server, tmp_path):
    url = server.url("missing")
    with pytest.raises(ConnectionError, match="tangentlab data fetch small") as caught:
        fetch_entry(small_entry(url), tmp_path, progress=False)
    by_hand = str(caught.value).split("put them here:\n")[1]
    assert by_hand.splitlines() == [
        f"  {tmp_path / 'fetched' / 'one'}",
        f"    from {url}",
        f"  {tmp_path / 'fetched' / 'two'}",
        f"    from {url}",
    ]


@pytest.mark.parametrize("given", [True, False])
def test_failure_repeats_the_directory_that_was_given(
    server, tmp_path, monkeypatch, given
):
    monkeypatch.setitem(catalog.CATALOG, "mnist", small_entry(server.url("missing")))
    folder = tmp_path / "my data"
    monkeypatch.setenv("TANGENTLAB_DATA", str(folder))
    with pytest.raises(ConnectionError) as caught:
        fetch("mnist", directory=folder if given else None, progress=False)
    option = f" --directory '{folder}'" if given else ""
    assert f"Run `tangentlab data fetch small{option}` again" in str(caught.value)


@pytest.fixture
def small_mnist(server, monkeypatch):
    """The name `mnist`, bound to two small files of the loopback server."""
    entry = small_entry(server.url("good"))
    monkeypatch.setitem(catalog.CATALOG, "mnist", entry)


@pytest.mark.usefixtures("small_mnist")
def test_fetch_goes_to_the_directory_then_the_variable_then_the_cache(
    tmp_path, monkeypatch
):
    cache = tmp_path / "cache" / "tangentlab" / "data"
    assert fetch("mnist", progress=False) == cache
    monkeypatch.setenv("TANGENTLAB_DATA", str(tmp_path / "variable"))
    assert fetch("mnist", progress=False) == tmp_path / "variable"
    explicit = tmp_path / "explicit"
    assert fetch("mnist", directory=explicit, progress=False) == explicit
    for folder in (cache, tmp_path / "variable", explicit):
        assert (folder / "fetched" / "one").read_bytes() == CONTENT


def test_digits_need_no_fetching():
    assert (fetch("digits") / "digits.npz").is_file()


@pytest.mark.parametrize("name", ["imagenet", "PATH.npz"])
def test_unknown_name_lists_the_known_ones(name):
    known = "cifar10, digits, fashion_mnist, mnist"
    with pytest.raises(ValueError, match=f"Unknown data set '{name}'. Known: {known}"):
        fetch(name)


@pytest.mark.parametrize("entry", catalog.CATALOG.values(), ids=lambda e: e.name)
def test_catalog_is_consistent(entry):
    for layout in entry.layouts:
        assert set(layout.members) <= set(entry.md5)
    assert all(len(file.urls) == 2 for file in entry.remote)
    checksums = [*entry.md5.values(), *(file.md5 for file in entry.remote)]
    assert all(len(checksum) == 32 for checksum in checksums)
    assert len(set(checksums)) == len(checksums)


@pytest.mark.parametrize("entry", catalog.CATALOG.values(), ids=lambda e: e.name)
def test_fetched_files_form_a_layout_that_load_finds(entry, tmp_path):
    for file in entry.remote:
        path = tmp_path / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    found = find(entry, tmp_path)
    assert set(found.files) == {tmp_path / file.path for file in entry.remote}


def test_fetched_data_set_is_verified_and_loaded(server, tmp_path, monkeypatch):
    official.write_idx(tmp_path / "made", [0])
    contents, remote = {}, []
    for record, member in zip(
        catalog.FASHION_MNIST.remote, catalog.IDX_FILES, strict=True
    ):
        contents[member] = (tmp_path / "made" / member).read_bytes()
        packed = gzip.compress(contents[member], 1)
        server.files[member] = packed
        urls = (server.url("missing", member), server.url("cut", member))
        remote.append(dataclasses.replace(record, urls=urls, md5=md5(packed)))
    checksums = {member: md5(data) for member, data in contents.items()}
    entry = dataclasses.replace(
        catalog.FASHION_MNIST, remote=tuple(remote), md5=checksums
    )
    monkeypatch.setitem(catalog.CATALOG, "fashion_mnist", entry)
    folder = fetch("fashion_mnist", directory=tmp_path / "data", progress=False)
    raw = folder / "FashionMNIST" / "raw"
    assert verify("fashion_mnist", folder) == raw
    assert sorted(path.name for path in raw.iterdir()) == sorted(
        f"{member}.gz" for member in catalog.IDX_FILES
    )
    dataset = load("fashion_mnist", directory=folder)
    assert dataset.y[-1] == 9_999 % 10
    assert dataset.x[1, 2, 3, 0] == np.float32((1 + 2 * 28 + 3) % 256) / np.float32(255)
