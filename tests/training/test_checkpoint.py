"""A killed process goes on where it was, to the last bit."""

import signal
import subprocess
import sys

import jax
import numpy as np
import pytest

import tangentlab as tl
from tests.networks import dense_apply
from tests.training import killed_worker

KINDS = ["alone", "together", "dual"]


def _work(kind, deadly, *folders):
    command = [sys.executable, "-m", "tests.training.killed_worker", kind, str(deadly)]
    return subprocess.run([*command, *folders], capture_output=True).returncode


@pytest.mark.parametrize(
    ("kind", "deadly"), [("alone", 8), ("together", 3), ("dual", 3)]
)
def test_a_killed_training_ends_as_if_nothing_had_happened(kind, deadly, tmp_path):
    broken, whole = tmp_path / "broken", tmp_path / "whole"
    assert _work(kind, deadly, broken) == -signal.SIGKILL
    assert list(broken.glob("*.npz")) and list(broken.glob(".*"))
    assert _work(kind, 0, broken, whole) == 0
    assert not list(broken.glob(".*"))  # what was half-written is gone
    got, wanted = (np.load(f"{folder}.result.npz") for folder in (broken, whole))
    np.testing.assert_array_equal(got["outputs"], wanted["outputs"])
    np.testing.assert_array_equal(got["train_loss"], wanted["train_loss"])
    assert got["writes"] == wanted["writes"] - (deadly - 1)  # it did go on, not anew


@pytest.mark.parametrize("kind", KINDS)
def test_a_finished_training_is_read_and_not_repeated(kind, tmp_path, monkeypatch):
    first = killed_worker.train(kind, tmp_path)
    for name in ("course.epoch_batches", "dual_run.epoch_batches"):
        monkeypatch.delattr(f"tangentlab.training.{name}")
    again = killed_worker.train(kind, tmp_path)
    for field in ("outputs", "train_loss", "distance", "iterations_by_batch"):
        np.testing.assert_array_equal(getattr(first, field), getattr(again, field))
    for a, b in zip(
        jax.tree.leaves(first.params), jax.tree.leaves(again.params), strict=True
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", KINDS)
def test_the_state_of_another_training_is_refused(kind, tmp_path):
    killed_worker.train(kind, tmp_path, epochs=2)
    with pytest.raises(ValueError, match="is the state of another training"):
        killed_worker.train(kind, tmp_path, epochs=3)


def test_another_network_is_refused(tmp_path):
    params, task = killed_worker.start(), killed_worker.tasks()[0]
    options = {"key": jax.random.key(1), "checkpoint": tmp_path}
    recipe = tl.Recipe(epochs=1, batch_size=8)
    tl.train(dense_apply, params, task, recipe, **options)

    def other(params, x):
        return dense_apply(params, x) ** 2

    with pytest.raises(ValueError, match="is the state of another training"):
        tl.train(other, params, task, recipe, **options)


def test_states_hold_no_pickle_and_are_those_of_the_last_epoch(tmp_path):
    killed_worker.train("together", tmp_path, epochs=5)
    (path,) = tmp_path.glob("*.npz")
    with np.load(path, allow_pickle=False) as saved:
        shapes = [saved[name].shape for name in saved.files]
    assert (5, 3, 4) in shapes  # epochs, tasks, metrics


@pytest.mark.parametrize("every", [0, 1.5])
def test_the_interval_must_be_a_number_of_epochs(every, no_type_checks):
    params, task = killed_worker.start(), killed_worker.tasks()[0]
    recipe, key = tl.Recipe(batch_size=8), jax.random.key(0)
    with pytest.raises(ValueError, match="`checkpoint_every` must be a positive"):
        tl.train(dense_apply, params, task, recipe, key=key, checkpoint_every=every)
