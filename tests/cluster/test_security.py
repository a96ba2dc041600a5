"""Whatever lies in a folder is data: no code in it runs, and nothing leads out."""

import json
import os

import numpy as np
import pytest

import tangentlab as tl
from tangentlab.cli import main
from tangentlab.cluster.published import ROOM, load, publish
from tangentlab.kernels.tiled.manifest import NAME
from tangentlab.kernels.tiled.progress_note import NOTE, read_note
from tests.networks import dense_apply, dense_params


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.fixture
def problem(tmp_path, getkey):
    x = np.random.default_rng(0).normal(size=(300, 3))
    params = dense_params(getkey(), (3, 4, 1))
    arguments = dense_apply, params, x
    return arguments, tl.gram(*arguments, store=tmp_path / "gram")


def test_a_pickle_in_the_place_of_a_tile_is_not_read(problem, tmp_path):
    arguments, K = problem
    path, known = K.folder / "tile-00001-00000.npy", K.to_array()
    bomb = np.array([Bomb(tmp_path / "exploded")], dtype=object)
    path.unlink()
    np.save(path, bomb, allow_pickle=True)
    with pytest.raises(ValueError, match="its size or header is wrong"):
        tl.TiledGram(K._grid).to_array()
    again = tl.gram(*arguments, store=K.folder)
    np.testing.assert_array_equal(again.to_array(), known)
    assert not (tmp_path / "exploded").exists()


def test_a_pickle_in_the_place_of_a_manifest_is_not_read(problem, tmp_path):
    import pickle

    _, K = problem
    for content in (pickle.dumps(Bomb(tmp_path / "exploded")), b"\x80\x04."):
        (K.folder / NAME).write_bytes(content)
        with pytest.raises(ValueError, match="manifest.json is damaged"):
            tl.open_gram(K.folder)
        with pytest.raises(ValueError, match="manifest.json is damaged"):
            tl.gram_status(K.folder)
    assert not (tmp_path / "exploded").exists()


def test_a_link_in_the_place_of_a_tile_is_not_followed(problem, tmp_path):
    arguments, K = problem
    path, outside = K.folder / "tile-00001-00000.npy", tmp_path / "outside.npy"
    path.rename(outside)
    content = outside.read_bytes()
    path.symlink_to(outside)
    with pytest.raises(ValueError, match="is damaged: it is a link"):
        tl.TiledGram(K._grid).to_array()
    tl.gram(*arguments, store=K.folder)
    assert not path.is_symlink() and outside.read_bytes() == content


def test_a_link_in_the_place_of_a_manifest_is_not_followed(problem, tmp_path):
    _, K = problem
    (K.folder / NAME).rename(tmp_path / "outside.json")
    (K.folder / NAME).symlink_to(tmp_path / "outside.json")
    with pytest.raises(ValueError, match="is a link to elsewhere, which is not foll"):
        tl.open_gram(K.folder)


def test_a_link_in_the_place_of_the_inputs_is_not_followed(tmp_path):
    store, outside = tmp_path / "store", tmp_path / "outside"
    published = publish(np.arange(3.0), store)
    (store / ROOM).rename(outside)
    (store / ROOM).symlink_to(outside)
    for use in (lambda: publish(np.ones(4), store), lambda: _load(published, store)):
        with pytest.raises(ValueError, match="inputs is a link to elsewhere"):
            use()
    assert len(list(outside.iterdir())) == 1


def _load(published, store):
    return load(published, store, check=True)


@pytest.mark.parametrize("change", [{"time": "soon"}, {"workers": None}, {}])
def test_a_note_of_something_else_is_not_believed(problem, change, capsys):
    _, K = problem
    fields = {"workers": 1, "retries": 0, "damaged": 0, "dashboard": "", "time": 0.0}
    (K.folder / NOTE).write_text(json.dumps({**fields, **change}))
    assert read_note(K.folder) is None
    assert main(["gram", "status", str(K.folder)]) == 0
    assert "cluster" not in capsys.readouterr().out


def test_a_link_in_the_place_of_a_note_is_not_followed(problem, tmp_path):
    _, K = problem
    fields = {"workers": 1, "retries": 0, "damaged": 0, "dashboard": "", "time": 0.0}
    (tmp_path / "note").write_text(json.dumps({**fields, "finished": True}))
    (K.folder / NOTE).symlink_to(tmp_path / "note")
    assert read_note(K.folder) is None
