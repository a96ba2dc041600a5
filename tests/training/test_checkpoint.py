"""A killed process goes on where it was, to the last bit."""

import shutil
import signal
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab._hashing import hash_traced
from tests.networks import dense_apply
from tests.training import killed_worker

DEADLY = {"alone": 6, "together": 3, "seeds": 4, "dual": 3}  # the write that kills


def _work(*jobs):
    command = [sys.executable, "-m", "tests.training.killed_worker"]
    arguments = ["|".join(map(str, job)) for job in jobs]
    return subprocess.run([*command, *arguments], capture_output=True)


@pytest.mark.parametrize("kinds", [("together", "dual"), ("alone", "seeds")])
def test_a_killed_training_ends_as_if_nothing_had_happened(kinds, tmp_path):
    """Each process ends what the one before could not, and is killed at the next."""
    broken = [tmp_path / f"{kind}-broken" for kind in kinds]
    whole = [tmp_path / f"{kind}-whole" for kind in kinds]
    fatal = [(k, b, DEADLY[k]) for k, b in zip(kinds, broken, strict=True)]
    assert _work(fatal[0]).returncode == -signal.SIGKILL
    for i, kind in enumerate(kinds):
        assert list(broken[i].glob("*.npz")) and list(broken[i].glob(".*"))
        rest = [(kind, broken[i], 0), (kind, whole[i], 0), *fatal[i + 1 : i + 2]]
        ended = _work(*rest)
        assert ended.returncode == (-signal.SIGKILL if fatal[i + 1 :] else 0)
        assert not list(broken[i].glob(".*"))  # what was half-written is gone
        got, wanted = (np.load(f"{f}.result.npz") for f in (broken[i], whole[i]))
        for field in ("outputs", "train_loss", "distance"):
            np.testing.assert_array_equal(got[field], wanted[field])
        # It went on from the state that was there, and did not begin anew.
        assert got["writes"] == wanted["writes"] - (DEADLY[kind] - 1)


@pytest.fixture(scope="module", params=["together", "seeds", "dual"])
def finished(request, tmp_path_factory):
    """A kind of training, its folder and its history; tasks in more than one group."""
    folder = tmp_path_factory.mktemp(request.param)
    history = killed_worker.train(request.param, folder, memory=3000)
    return request.param, folder, history


def test_a_finished_training_is_read_and_not_repeated(finished, monkeypatch):
    """Whatever memory is free then: the groups stay as they were."""
    kind, folder, first = finished
    for name in ("program.epoch_batches", "dual_run.epoch_batches"):
        monkeypatch.delattr(f"tangentlab.training.{name}")
    again = killed_worker.train(kind, folder)
    for field in ("outputs", "train_loss", "distance", "iterations_by_batch"):
        np.testing.assert_array_equal(getattr(first, field), getattr(again, field))
    ends = jax.tree.leaves(first.params), jax.tree.leaves(again.params)
    for a, b in zip(*ends, strict=True):
        np.testing.assert_array_equal(a, b)


def test_states_that_lack_the_loss_of_the_first_batch_are_read(finished, tmp_path):
    """As those of earlier versions do, in which it was not kept."""
    kind, folder, first = finished
    shutil.copytree(folder, tmp_path / "old")
    for path in (tmp_path / "old").glob("*.npz"):
        with np.load(path) as saved:
            arrays = dict(saved)
        del arrays[str(len(arrays) - 2)]  # the last, beside the fingerprint
        np.savez(path, **arrays)
    again = killed_worker.train(kind, tmp_path / "old")
    for field in ("outputs", "train_loss", "diverged"):
        np.testing.assert_array_equal(getattr(first, field), getattr(again, field))


def test_the_state_of_another_training_is_refused(finished):
    kind, folder, _ = finished
    with pytest.raises(ValueError, match="is the state of another training"):
        killed_worker.train(kind, folder, epochs=6)


def test_states_hold_no_pickle_and_are_those_of_the_last_epoch(finished):
    kind, folder, _ = finished
    assert len(list(folder.glob("*.npz"))) > 1
    for path in folder.glob("*.npz"):
        with np.load(path, allow_pickle=False) as saved:
            shapes = [saved[name].shape for name in saved.files]
        metrics = [s for s in shapes if len(s) > 1 and s[0] == 5 and s[-1] == 4]
        assert metrics  # of five epochs, four numbers for each run


def test_another_network_is_refused(tmp_path):
    params, task = killed_worker.start(), killed_worker.tasks()[0]
    options = {"key": jax.random.key(1), "checkpoint": tmp_path}
    recipe = tl.Recipe(epochs=1, batch_size=8)
    tl.train(dense_apply, params, task, recipe, **options)

    def other(params, x):
        return dense_apply(params, x) ** 2

    with pytest.raises(ValueError, match="is the state of another training"):
        tl.train(other, params, task, recipe, **options)


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b"?", lambda b: b[:-90]])
def test_a_damaged_state_is_named(damage, tmp_path):
    params, task = killed_worker.start(), killed_worker.tasks()[0]
    options = {"key": jax.random.key(1), "checkpoint": tmp_path}
    recipe = tl.Recipe(epochs=1, batch_size=8)
    tl.train(dense_apply, params, task, recipe, **options)
    (path,) = tmp_path.glob("*.npz")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"0\.npz is damaged .*: remove it"):
        tl.train(dense_apply, params, task, recipe, **options)


def test_another_kernel_with_the_same_diagonal_is_refused(tmp_path):
    """As two kernels are that were both divided by the norms of their gradients."""
    task, n = killed_worker.tasks()[0], len(killed_worker.tasks()[0].x)
    recipe = tl.Recipe(epochs=1, batch_size=8, learning_rate=0.01)
    options = {"key": jax.random.key(1), "checkpoint": tmp_path}
    tl.train_dual(np.eye(n), np.zeros(n), task, recipe, **options)
    with pytest.raises(ValueError, match="is the state of another training"):
        tl.train_dual((np.eye(n) + 1) / 2, np.zeros(n), task, recipe, **options)


def test_states_of_any_type_are_read_as_they_were(tmp_path, monkeypatch):
    """Half-precision weights, and a random key among the parameters."""
    task = killed_worker.tasks()[0]
    weights = jnp.ones((3, 1), jnp.bfloat16)
    params = {"w": weights, "key": jax.random.key(3)}

    def apply(p, x):
        shift = jax.random.uniform(p["key"], (1, 3)).astype(jnp.bfloat16)
        return (x.astype(jnp.bfloat16) + shift) @ p["w"]

    recipe = tl.Recipe(epochs=2, batch_size=8)
    options = {"key": jax.random.key(1), "checkpoint": tmp_path}
    first = tl.train(apply, params, task, recipe, **options)
    monkeypatch.delattr("tangentlab.training.program.epoch_batches")
    again = tl.train(apply, params, task, recipe, **options)
    (end,), (start_again,) = first.params, again.params
    assert start_again["w"].dtype == jnp.bfloat16
    assert not np.array_equal(end["w"], weights)
    np.testing.assert_array_equal(end["w"], start_again["w"])
    keys = [jax.random.key_data(p["key"]) for p in (params, end, start_again)]
    np.testing.assert_array_equal(keys[0], keys[1])
    np.testing.assert_array_equal(keys[0], keys[2])


def test_a_network_is_known_by_its_equations_and_what_it_closes_over():
    params, x = killed_worker.start(), jnp.ones((2, 3), jnp.float32)

    def known(offset):
        def network(params, x):
            return dense_apply(params, x) + jnp.full((1, 1), 1.0, jnp.float32) * offset

        return hash_traced(jax.make_jaxpr(jax.jit(network))(params, x))

    offsets = [jnp.full((1, 1), value, jnp.float32) for value in (1.0, 1.0, 2.0)]
    first, same, other = map(known, offsets)
    assert first == same != other


@pytest.mark.parametrize("every", [0, 1.5])
def test_the_interval_must_be_a_number_of_epochs(every, no_type_checks):
    params, task = killed_worker.start(), killed_worker.tasks()[0]
    recipe, key = tl.Recipe(batch_size=8), jax.random.key(0)
    with pytest.raises(ValueError, match="`checkpoint_every` must be a positive"):
        tl.train(dense_apply, params, task, recipe, key=key, checkpoint_every=every)


def test_a_file_is_no_folder_for_states(tmp_path):
    (tmp_path / "states").write_text("")
    with pytest.raises(ValueError, match="states is a file, not a folder"):
        killed_worker.train("together", tmp_path / "states")


def test_a_damaged_number_of_runs_is_told_of(tmp_path):
    (tmp_path / "runs-at-once.txt").write_text("")
    with pytest.raises(ValueError, match="runs-at-once.txt is damaged"):
        killed_worker.train("together", tmp_path)
