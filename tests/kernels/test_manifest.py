import dataclasses
import json

import numpy as np
import pytest

import tangentlab as tl
from tangentlab.kernels.features import Outer, Rows, Whole
from tangentlab.kernels.planning import Plan
from tangentlab.kernels.reading.sites import Piece
from tangentlab.kernels.tiled.manifest import NAME, Manifest, check_same, read_manifest
from tangentlab.kernels.tiled.written_plan import plan_from_json, plan_to_json

PIECE = Piece(leaf=1, sites=(0, 2), groups=1, positions=2, fan_in=3, fan_out=4)
PASSES = (Rows(PIECE, 0, 2), Outer(PIECE)), (Rows(PIECE, 2, 4), Whole((0, 3)))
PLAN = Plan(PASSES, panel=2, chunk=3, tile=4, memory=10**9, needed=5000)
MANIFEST = Manifest(
    shape=(5, 5),
    symmetric=True,
    dtype="float64",
    precision="float32",
    backend="cpu",
    fingerprint={name: name for name in ("network", "params", "x_1")},
    made_by={"jax": "0.10.2"},
    plan=plan_to_json(PLAN),
)


def test_a_plan_comes_back_equal_but_for_the_memory_there_was():
    text = json.dumps(plan_to_json(PLAN))
    back = plan_from_json(json.loads(text))
    assert back == dataclasses.replace(PLAN, memory=PLAN.needed)
    hash(back.passes)  # compiled functions are remembered by them


def test_a_manifest_comes_back_equal(tmp_path):
    MANIFEST.write(tmp_path)
    assert read_manifest(tmp_path) == MANIFEST
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_manifest_is_never_replaced(tmp_path):
    MANIFEST.write(tmp_path)
    dataclasses.replace(MANIFEST, shape=(6, 6)).write(tmp_path)
    assert read_manifest(tmp_path) == MANIFEST


def test_every_changed_byte_is_found(tmp_path):
    MANIFEST.write(tmp_path)
    path = tmp_path / NAME
    good = path.read_bytes()
    for position in range(0, len(good), 3):
        changed = bytearray(good)
        changed[position] ^= 1
        path.write_bytes(changed)
        try:  # white space means nothing
            assert read_manifest(tmp_path) == MANIFEST
            assert good[position : position + 1].isspace()
        except ValueError as error:
            assert NAME in str(error)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b"{}", b"\xff\xfe", b'{"format": 1}']
)
def test_what_is_no_manifest_is_called_damaged(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(ValueError, match="manifest.json is damaged.*delete the folder"):
        read_manifest(tmp_path)
    with pytest.raises(ValueError, match="manifest.json is damaged"):
        tl.open_gram(tmp_path)


def test_other_versions_are_refused(tmp_path):
    MANIFEST.write(tmp_path)
    path = tmp_path / NAME
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    with pytest.raises(ValueError, match="version 2, but this tangentlab reads .* 1:"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"shape": (5, 6)}, r"its shape is \(5, 6\), asked for is \(5, 5\)"),
        ({"backend": "gpu"}, "its device is 'gpu', asked for is 'cpu'"),
        ({"precision": "fast"}, "`precision` is 'fast', asked for is 'float32'\\. "),
    ],
)
def test_what_differs_is_told(tmp_path, change, message):
    found = dataclasses.replace(MANIFEST, **change)
    with pytest.raises(ValueError, match=message):
        check_same(found, MANIFEST, tmp_path)


def _with_hashes(**hashes):
    fingerprint = {**MANIFEST.fingerprint, **hashes}
    return dataclasses.replace(MANIFEST, fingerprint=fingerprint)


def test_all_hashes_that_differ_are_told(tmp_path):
    found = _with_hashes(params="?", x_1="?")
    told = "`params` is not the same; `x_1` is not the same. Choose another folder"
    with pytest.raises(ValueError, match=told):
        check_same(found, MANIFEST, tmp_path)


def test_another_version_may_read_the_network_differently(tmp_path):
    found = _with_hashes(network="?")
    with pytest.raises(ValueError, match=r"`apply` or `outputs`\)\. Choose"):
        check_same(found, MANIFEST, tmp_path)
    found = dataclasses.replace(found, made_by={"jax": "0.9"})
    with pytest.raises(ValueError, match="reads differently: it was begun with .*0.9"):
        check_same(found, MANIFEST, tmp_path)


def test_files_have_no_say_in_where_tiles_are(tmp_path):
    """Names of tiles are made of numbers; nothing in the manifest becomes a path."""
    names = {field.name for field in dataclasses.fields(MANIFEST)}
    assert not names & {"folder", "path", "files", "tiles"}
    grid = MANIFEST.grid(tmp_path)
    assert {grid.path(place).parent for place in grid.places()} == {tmp_path}
    assert grid.dtype == np.dtype(np.float64)
