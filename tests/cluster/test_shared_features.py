"""Features that workers share in their folder are those that each would compute."""

import os
import resource
import zlib

import numpy as np
import pytest

import tangentlab as tl
from tangentlab.kernels import engine
from tangentlab.kernels.host import Arrays
from tangentlab.kernels.pieces import Pieces
from tangentlab.kernels.preparing import prepare
from tangentlab.kernels.request import Request
from tangentlab.kernels.tiled.remote import OpenFolder
from tangentlab.kernels.tiled.shared_features import (
    ROOM,
    SharedFeatures,
    is_worth_sharing,
    open_room,
    remove_room,
)
from tangentlab.kernels.tiled.storing import GramMaker
from tests.networks import dense_apply, dense_params

PANEL = slice(6, 9)
FEATURES = [
    (np.arange(6, dtype=np.float32).reshape(3, 1, 2),),
    (np.ones((3, 1, 5)), np.full((3, 2, 1, 1, 1), 1 / 3)),
]


@pytest.fixture
def room(tmp_path):
    open_room(tmp_path)
    return tmp_path / ROOM


def _refuse():
    raise AssertionError("these features are there already")


def _make():
    return FEATURES


def _check_equal(found):
    assert [len(arrays) for arrays in found] == [1, 2]
    for arrays, known in zip(found, FEATURES, strict=True):
        for a, b in zip(arrays, known, strict=True):
            assert a.dtype == b.dtype and a.flags.aligned and a.flags.c_contiguous
            np.testing.assert_array_equal(a, b)


def test_others_take_what_one_has_computed(room):
    made = SharedFeatures(room.parent, "seal").get(0, PANEL, _make)
    assert made is FEATURES
    _check_equal(SharedFeatures(room.parent, "seal").get(0, PANEL, _refuse))
    assert [path.name for path in room.iterdir()] == ["panel-0-000000006"]


@pytest.mark.parametrize(
    "seal, side, start", [("other", 0, 6), ("seal", 1, 6), ("seal", 0, 3)]
)
def test_features_of_something_else_are_not_taken(room, seal, side, start):
    """Not even from a file of the right name."""
    SharedFeatures(room.parent, "seal").get(0, PANEL, _make)
    (path,) = room.iterdir()
    path.rename(room / f"panel-{side}-{start:09d}")
    other: list[Arrays] = [(np.zeros((3, 1, 2)),)]
    panel, shared = slice(start, start + 3), SharedFeatures(room.parent, seal)
    assert shared.get(side, panel, lambda: other) is other


@pytest.mark.parametrize("damage", ["bit", "short", "empty", "pickle", "link"])
def test_what_is_damaged_is_computed_again(room, tmp_path, damage):
    shared = SharedFeatures(tmp_path, "seal")
    shared.get(0, PANEL, _make)
    (path,) = room.iterdir()
    content = bytearray(path.read_bytes())
    if damage == "bit":
        content[len(content) // 2] ^= 8
    if damage == "link":
        path.rename(tmp_path / "outside")
        path.symlink_to(tmp_path / "outside")
    elif damage == "pickle":
        with path.open("wb") as file:
            np.save(file, np.array([object], dtype=object), allow_pickle=True)
    else:
        path.write_bytes(content[: {"short": -70, "empty": 0}.get(damage)])
    assert shared.get(0, PANEL, _make) is FEATURES
    assert not path.is_symlink()
    _check_equal(shared.get(0, PANEL, _refuse))  # it was replaced


@pytest.mark.parametrize("wrong", [b"object ", b"float16", b"nothing", b'float6"'])
def test_a_description_of_something_else_is_not_taken(room, tmp_path, wrong):
    shared = SharedFeatures(tmp_path, "seal")
    shared.get(0, PANEL, _make)
    (path,) = room.iterdir()
    content = path.read_bytes()[:-4].replace(b"float64", wrong)
    path.write_bytes(content + zlib.crc32(content).to_bytes(4, "little"))
    assert shared.get(0, PANEL, _make) is FEATURES


def test_nothing_is_written_without_a_room_nor_through_a_link(tmp_path):
    shared = SharedFeatures(tmp_path, "seal")
    assert shared.get(0, PANEL, _make) is FEATURES
    assert not list(tmp_path.iterdir())
    (tmp_path / "outside").mkdir()
    (tmp_path / ROOM).symlink_to(tmp_path / "outside")
    assert shared.get(0, PANEL, _make) is FEATURES
    remove_room(tmp_path)
    assert (tmp_path / "outside").is_dir() and not os.listdir(tmp_path / "outside")


def test_rows_that_lie_in_pieces_are_not_shared(room):
    made: list[Arrays] = [(Pieces([np.ones((3, 1, 2))]),)]
    assert SharedFeatures(room.parent, "seal").get(0, PANEL, lambda: made) is made
    assert not list(room.iterdir())


def test_a_full_disk_ends_nothing(room):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        made = SharedFeatures(room.parent, "seal").get(0, PANEL, _make)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert made is FEATURES and not list(room.iterdir())


def test_features_take_little_of_the_disk(tmp_path):
    assert is_worth_sharing(10**6, tmp_path, 0)
    assert not is_worth_sharing(0, tmp_path, 0)  # none can be shared
    assert not is_worth_sharing(2 * 10**9 + 1, tmp_path, 0)
    assert not is_worth_sharing(10**6, tmp_path, 10**18)


@pytest.fixture
def problem(getkey):
    x = np.random.default_rng(0).normal(size=(700, 3))
    return dense_apply, dense_params(getkey(), (3, 4, 1)), x


def _worker(problem, folder):
    request = Request()
    apply, params, x = problem
    prepared = prepare(apply, params, x, None, request, full=False)
    maker = GramMaker(prepared, request, folder, shared=True)
    assert 0 < maker.feature_bytes < 10**6
    return OpenFolder(maker, folder, wide=True)


def _counted(monkeypatch):
    runs, plain = [], engine._host_side

    def counting(job, features, x):
        runs.append(len(x[0]))
        return plain(job, features, x)

    monkeypatch.setattr(engine, "_host_side", counting)
    return runs


def test_workers_that_share_features_write_the_same_bits(
    problem, tmp_path, monkeypatch
):
    """Every panel goes through the network once, whoever computes a tile of it."""
    known = tl.gram(*problem, store=tmp_path / "plain")
    (tmp_path / "shared").mkdir()
    workers = [_worker(problem, tmp_path / "shared") for _ in range(2)]
    open_room(tmp_path / "shared")
    runs = _counted(monkeypatch)
    for number, (row, column) in enumerate([(2, 2), (0, 0), (1, 0), (2, 1), (2, 0)]):
        workers[number % 2].do(((row, column, False),))
    workers[0].do(((1, 1, False),))
    assert len(runs) == 3 and sum(runs) == len(known)
    for path in (tmp_path / "plain").glob("tile-*"):
        assert (tmp_path / "shared" / path.name).read_bytes() == path.read_bytes()


def test_a_plain_call_that_finishes_the_folder_removes_them(
    problem, tmp_path, monkeypatch
):
    worker = _worker(problem, tmp_path)
    open_room(tmp_path)
    worker.do(((0, 0, False),))
    assert len(list((tmp_path / ROOM).iterdir())) == 1
    status = tl.gram_status(tmp_path)
    assert (status.done, status.total) == (1, 6)
    runs = _counted(monkeypatch)
    tl.gram(*problem, store=tmp_path)
    assert len(runs) == 3 and not (tmp_path / ROOM).exists()
