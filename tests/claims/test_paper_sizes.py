"""The runs of the paper's sizes, cut down to a few made-up images."""

import dataclasses

import jax
import numpy as np
import pytest

from tangentlab.claims import plans
from tangentlab.claims.naming import run_names
from tangentlab.claims.plans import paper_sizes
from tangentlab.experiments import EXPERIMENTS
from tangentlab.experiments.stages.sharing import open_shared
from tangentlab.store import create, open_run

RUNS = paper_sizes.RUNS["gpu"]
SHAPES = {"cifar10": (32, 32, 3), "mnist": (28, 28, 1)}
_LONG = (run for run in RUNS if run.experiment != "identities")
CUT = [run for run in _LONG if run.config.model == "mlp"]
OTHERS = [run for run in RUNS if run not in CUT]
OF_REAL_DATA = {"D5", "D7", "D8"}


def small(run, images):
    """The same run on 160 images, for two epochs, in single precision."""
    config = run.config
    changes = {
        "data": str(images[config.data]) if config.data in images else config.data,
        "precision": "float32",
        "gram_on_disk": False,
        "num_samples": 160,
        "kernel_samples": 60,
        "num_modes": 20,
        "measure_at": (1,),
        "num_permutations": 5,
        "reference_epochs": min(2, getattr(config, "reference_epochs", None) or 0),
        "cifar2_epochs": 2,
        "long_epochs": min(3, getattr(config, "long_epochs", 0)),
        "seeds": min(2, config.seeds),
        "size": 32,
        "num_average": 4,
        "num_train": 32,
        "num_test": 40 if run.experiment != "nads" else 32,
        "num_draws": 2048,
        "num_images": 64,
    }
    if getattr(config, "indices", None):
        changes["indices"] = (0, 1, 2)
    if run.experiment == "nads":
        changes["num_indices"] = 2
    if run.experiment == "sizes":
        changes["sizes"] = (40, 120)[-len(config.sizes) :]
    if hasattr(config, "recipe"):
        short = {"epochs": 2, "batch_size": 16, "learning_rate": 1e-3}
        changes["recipe"] = dataclasses.replace(config.recipe, **short)
    if run.experiment == "identities":
        changes |= {"num_samples": 100, "num_test": None}
        changes |= {"resnet_width": 8, "image_size": 16}
    known = {field.name for field in dataclasses.fields(config)}
    return dataclasses.replace(
        config, **{name: value for name, value in changes.items() if name in known}
    )


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Ten classes of made-up images in the shapes of the real ones."""
    folder = tmp_path_factory.mktemp("images")
    draws = np.random.default_rng(0)
    paths = {}
    for name, shape in SHAPES.items():
        paths[name] = folder / f"{name}.npz"
        x = draws.normal(size=(240, *shape)).astype(np.float32)
        y = np.arange(240) % 10
        np.savez(
            paths[name],
            x_train=x[:180],
            y_train=y[:180],
            x_test=x[180:],
            y_test=y[180:],
        )
    return paths


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Where all of these runs share their work, as in a verification."""
    root = tmp_path_factory.mktemp("runs")
    open_shared(root)
    return root


def reported(run, images, root):
    experiment, config = EXPERIMENTS[run.experiment], small(run, images)
    with create(root, run.experiment, config) as folder:
        with jax.numpy_dtype_promotion("standard"):  # optax's Adam counts in integers
            experiment.run(config, folder, progress=False)
    made = open_run(folder.final, {run.experiment: type(config)})
    return [claim.id for claim in experiment.report(made).claims]


def test_all_of_it_is_planned_once_with_an_estimate():
    planned = plans.planned("gpu")
    assert planned[: len(RUNS)] == RUNS
    assert all(run.seconds > 0 for run in RUNS)
    assert len(set(run_names(RUNS))) == len(RUNS)
    assert len(paper_sizes.TWENTY) == len(set(paper_sizes.TWENTY)) == 20


def test_permutations_of_one_seed_can_confirm_all_runs_together():
    runs = [run for run in plans.planned("gpu") if "D11" in run.claims]
    numbers = sum(len(run.config.train_on) for run in runs)
    assert numbers > 5
    for run in runs:
        assert numbers / (1 + run.config.num_permutations) <= 0.025


def test_later_runs_find_the_tasks_of_earlier_ones():
    learned = {}
    for run in RUNS:
        if run.experiment == "eigenfunctions":
            learned.setdefault((run.config.model, run.config.data), run.config.indices)
        if run.experiment in ("rotation", "pretrained", "self_reference"):
            there = learned[run.config.model, run.config.data]
            assert set(run.config.indices) <= set(there)


@pytest.mark.slow
@pytest.mark.parametrize("run", CUT, ids=lambda run: run.experiment)
def test_a_cut_down_run_of_the_mlp_reports_its_claims(run, images, root):
    assert set(run.claims) - OF_REAL_DATA <= set(reported(run, images, root))


@pytest.mark.slow
@pytest.mark.parametrize(
    "run", OTHERS, ids=lambda run: f"{run.experiment}-{run.config.model}"
)
def test_a_cut_down_run_of_the_others_reports_its_claims(run, images, root):
    assert set(run.claims) - OF_REAL_DATA <= set(reported(run, images, root))
