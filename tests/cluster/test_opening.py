"""What is made sure of before workers write anything."""

from contextlib import ExitStack

import jax
import numpy as np
import pytest

from tangentlab._hashing import hash_parts
from tangentlab.cluster.fitness import versions
from tangentlab.cluster.published import publish
from tangentlab.cluster.references import refer
from tangentlab.cluster.units import Unfit
from tangentlab.cluster.work import State
from tangentlab.kernels import host_side
from tangentlab.kernels.planning import backend
from tangentlab.kernels.request import Request
from tangentlab.kernels.tiled.gram_subject import GramSubject
from tangentlab.kernels.tiled.on_cluster import FolderWork
from tangentlab.kernels.tiled.remote import FolderRecipe, Greeting, OpenFolder
from tangentlab.kernels.tiled.shared_features import ROOM
from tangentlab.kernels.tiled.storing import GramMaker
from tests.networks import dense_apply, dense_params


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(300, 3))


@pytest.fixture
def subject(tmp_path, getkey, x):
    arrays = publish((dense_params(getkey(), (3, 4, 1)), x, None, None), tmp_path)
    return GramSubject(refer("apply", dense_apply), "mean", None, "float32", arrays)


def _recipe(subject, folder, hashes):
    return FolderRecipe(
        str(folder), subject, hashes, versions(), backend(), 2**30, wide=True
    )


def test_published_samples_are_hashed_once(subject, tmp_path, x):
    """By their name, which is the hash that a plain run computes of them."""
    found = subject.fingerprint(subject.prepare(tmp_path))
    assert found["x_1"] == hash_parts(x) == subject.arrays.arrays[-1].name
    assert found["x_2"] == ""


def test_another_network_is_refused_before_anything_is_written(subject, tmp_path):
    hashes = subject.fingerprint(subject.prepare(tmp_path)) | {"network": "other"}
    before = set(tmp_path.rglob("*"))
    with pytest.raises(Unfit, match="`network` is not the same there as for the cli"):
        _recipe(subject, tmp_path, hashes).open()
    assert set(tmp_path.rglob("*")) == before


def test_other_samples_are_refused_before_anything_is_written(subject, tmp_path):
    hashes = subject.fingerprint(subject.prepare(tmp_path))
    path = subject.arrays.arrays[-1].path(tmp_path)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    before = set(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match="is damaged: it is not what was published"):
        _recipe(subject, tmp_path, hashes).open()
    assert set(tmp_path.rglob("*")) == before


def test_a_folder_that_lost_its_inputs_is_unfit(subject, tmp_path):
    hashes = subject.fingerprint(subject.prepare(tmp_path))
    subject.arrays.arrays[-1].path(tmp_path).unlink()
    with pytest.raises(Unfit, match="it cannot read what is computed: There is no "):
        _recipe(subject, tmp_path, hashes).open()


def test_a_folder_that_a_worker_may_not_write_to_is_unfit(
    subject, tmp_path, monkeypatch
):
    hashes = subject.fingerprint(subject.prepare(tmp_path))
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(Unfit, match="it may not write to .*: mount the folder for wri"):
        _recipe(subject, tmp_path, hashes).open()


def test_no_unit_is_handed_out_before_the_network_is_verified(subject, tmp_path):
    def verified():
        raise RuntimeError("The structured kernel differs")

    with ExitStack() as bar:
        task = FolderWork(subject, {}, Request(), tmp_path, bar, verified)
        with pytest.raises(RuntimeError, match="structured kernel differs"):
            task.units(Greeting(1, 0), 1)


@pytest.mark.parametrize("feature_bytes", [0, 10**6, 10**10])
def test_several_workers_share_small_features(subject, tmp_path, feature_bytes):
    prepared = subject.prepare(tmp_path)
    subject.maker(prepared, subject.fingerprint(prepared), 2**30, tmp_path)
    with ExitStack() as bar:
        task = FolderWork(subject, {}, Request(), tmp_path, bar, lambda: None)
        task.units(Greeting(1, feature_bytes), 1)
        task.tell(State(1, 0, ""))
        assert not (tmp_path / ROOM).exists()
        task.tell(State(2, 0, ""))
        assert (tmp_path / ROOM).exists() == (feature_bytes == 10**6)


@pytest.mark.parametrize("ready", [False, True])
def test_a_worker_compiles_before_its_first_unit(subject, tmp_path, caplog, ready):
    host_side._compiled.cache_clear()  # of tests before
    maker = GramMaker(subject.prepare(tmp_path), Request(), tmp_path)
    if ready:
        maker.compile()
    with jax.log_compiles(), caplog.at_level("WARNING"):
        OpenFolder(maker, tmp_path, wide=True).do(((0, 0, False),))
    compiled = [text for text in caplog.messages if text.startswith("Compiling jit")]
    assert any("jit(compute)" in text for text in compiled) is not ready
