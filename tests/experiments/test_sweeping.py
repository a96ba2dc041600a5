"""Tasks shared out, and experiments that have none to share."""

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import cli
from tangentlab.experiments import EXPERIMENTS, perform
from tangentlab.experiments.stages.sweeping import join_histories
from tests.toy_experiment import EXPERIMENTS as TOYS
from tests.toy_experiment import Walk


def _learned(tasks):
    x = tasks[0].x
    K, start = x @ x.T, np.zeros(len(x))
    recipe = tl.Recipe(epochs=2, batch_size=5)
    return tl.train_dual(K, start, tasks, recipe, key=jax.random.key(0))


def test_groups_of_tasks_make_one_history():
    x = np.random.default_rng(0).normal(size=(12, 3))
    labels = [(x[:, i] > 0).astype(np.float64) for i in range(3)]
    tasks = [tl.tasks.Task(x, y, num_train=10) for y in labels]
    joined = join_histories([_learned(tasks[:2]), _learned(tasks[2:])])
    whole = _learned(tasks)
    assert joined.cosine is None and joined.params == ()
    for name in ("train_loss", "test_accuracy", "outputs", "distance", "coefficients"):
        np.testing.assert_allclose(getattr(joined, name), getattr(whole, name))


def test_what_has_nothing_to_share_says_so(tmp_path):
    with pytest.raises(ValueError, match="walk has nothing .* These have: none"):
        perform(TOYS, "walk", Walk(), tmp_path / "runs", cluster="local:2")
    assert not (tmp_path / "runs").exists()


def test_the_command_line_names_those_that_share(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["run", "kernel_limit", "--cluster", "local:2"]) == 1
    told = capsys.readouterr().err
    able = [name for name, one in EXPERIMENTS.items() if one.shares]
    assert f"without `cluster`. These have: {', '.join(able)}." in told
    assert "eigenfunctions" in able and not list(tmp_path.iterdir())


def test_a_cluster_that_means_nothing_is_refused_before_the_run(tmp_path):
    config = EXPERIMENTS["eigenfunctions"].config()
    with pytest.raises(ValueError, match="`cluster` must be a scheduler's address"):
        perform(EXPERIMENTS, "eigenfunctions", config, tmp_path, cluster="nowhere")
    assert not list(tmp_path.iterdir())
