"""Unfinished runs are gone on with, by one process at a time."""

import json
import os
import time

import numpy as np
import pytest

from tangentlab import store
from tests.toy_experiment import CONFIGS, Walk


class Stop(Exception):
    """Ends a run early."""


def break_off(root, *, value=1.0):
    with (
        pytest.raises(Stop),
        store.create(root, "walk", Walk(), command="first") as folder,
    ):
        folder.save_arrays("early", a=np.array(value))
        folder.work.mkdir()
        (folder.work / "state").write_text("half-way")
        folder.log(epoch=0)
        (folder.path / ".late.npz.77.partial").write_bytes(b"half")
        raise Stop
    return folder


def test_a_resumed_run_finds_what_it_wrote_and_ends_as_one_run(tmp_path):
    before = break_off(tmp_path)
    with store.create(tmp_path, "walk", Walk(), command="x", resume=True) as folder:
        assert folder.path == before.path
        assert folder.has_arrays("early") and not folder.has_arrays("late")
        assert folder.arrays("early")["a"] == 1.0
        assert (folder.work / "state").read_text() == "half-way"
        folder.save_arrays("late", a=np.array(2.0))
        folder.log(epoch=1)
    assert [path.name for path in tmp_path.iterdir()] == [before.final.name]
    run = store.open_run(before.final, CONFIGS)
    assert run.metrics() == [{"epoch": 1}]  # metrics are logged from the start again
    assert run.manifest["command"] == "first" and len(run.manifest["resumed"]) == 1
    kept = {path.name for path in run.path.iterdir()}
    assert kept == {
        "config.json",
        "manifest.json",
        "metrics.jsonl",
        "early.npz",
        "late.npz",
    }


def test_an_unfinished_run_is_told_and_left_alone(tmp_path):
    assert store.unfinished_path(tmp_path / "nowhere", "walk", Walk()) is None
    path = break_off(tmp_path).path
    before = {each: each.read_bytes() for each in path.rglob("*") if each.is_file()}
    assert store.unfinished_path(tmp_path, "walk", Walk()) == path
    assert store.unfinished_path(tmp_path, "walk", Walk(seed=1)) is None
    after = {each: each.read_bytes() for each in path.rglob("*") if each.is_file()}
    assert after == before
    with store.create(tmp_path, "walk", Walk(), resume=True):
        assert store.unfinished_path(tmp_path, "walk", Walk()) is None


def test_the_time_of_a_resumed_run_is_that_of_all_its_attempts(tmp_path):
    folder = break_off(tmp_path)
    for _ in range(2):  # interrupted twice, each time an hour after it began
        later = time.time() + 3600
        os.utime(folder.path / "early.npz", (later, later))
        with (
            pytest.raises(Stop),
            store.create(tmp_path, "walk", Walk(), resume=True) as folder,
        ):
            folder.save_arrays("early", a=np.array(2.0))
            raise Stop
    with store.create(tmp_path, "walk", Walk(), resume=True) as folder:
        pass
    spent = store.open_run(folder.final, CONFIGS).manifest["wall_seconds"]
    assert 7199 <= spent < 7300


def test_what_was_saved_before_an_interruption_may_be_saved_again(tmp_path):
    break_off(tmp_path)
    with store.create(tmp_path, "walk", Walk(), resume=True) as folder:
        folder.save_arrays("early", a=np.array(3.0))
        with pytest.raises(FileExistsError, match="'early' were already saved"):
            folder.save_arrays("early", a=np.array(4.0))
    assert store.open_run(folder.final, CONFIGS).arrays("early")["a"] == 3.0


def test_without_resume_and_for_other_options_a_new_run_begins(tmp_path):
    before = break_off(tmp_path)
    for config, resume in ((Walk(), False), (Walk(seed=1), True)):
        with store.create(tmp_path, "walk", config, resume=resume) as folder:
            assert folder.path != before.path and not folder.has_arrays("early")
    assert before.path.is_dir()


def test_a_run_that_is_being_written_is_left_alone(tmp_path):
    with store.create(tmp_path, "walk", Walk()) as first:
        with store.create(tmp_path, "walk", Walk(), resume=True) as second:
            assert second.path != first.path


def test_the_last_of_several_is_gone_on_with(tmp_path):
    folders = [break_off(tmp_path, value=value) for value in (1.0, 2.0)]
    assert folders[0].path != folders[1].path
    with store.create(tmp_path, "walk", Walk(), resume=True) as folder:
        assert folder.arrays("early")["a"] == 2.0


@pytest.mark.parametrize("text", ["{", json.dumps({"experiment": "walk"})])
def test_a_folder_whose_config_was_not_written_is_left_alone(tmp_path, text):
    before = break_off(tmp_path)
    (before.path / "config.json").write_text(text)
    with store.create(tmp_path, "walk", Walk(), resume=True) as folder:
        assert folder.path != before.path
