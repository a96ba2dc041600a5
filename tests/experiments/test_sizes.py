import dataclasses
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.claims.joining import join
from tangentlab.experiments import EXPERIMENTS, perform
from tangentlab.experiments.sizes import EXPERIMENT, Sizes, computing
from tangentlab.experiments.sizes.claims import claims, heterogeneity
from tangentlab.experiments.sizes.results import Results, read_results
from tests.helpers import last_scales

TOY = Sizes(
    sizes=(64, 100),
    num_test=40,
    indices=(3,),
    recipe=tl.Recipe(epochs=2, batch_size=64),
    cifar2_epochs=2,
    long_epochs=3,
    gram_on_disk=False,
)


def compute(config: Sizes, root: Path, *, resume: bool = False) -> store.Run:
    with store.create(root, "sizes", config, resume=resume) as folder:
        computing.run(config, folder, progress=False)
    return store.open_run(folder.final, {"sizes": Sizes})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return compute(TOY, tmp_path_factory.mktemp("runs"))


def test_every_field_of_the_config_is_read():
    source = inspect.getsource(computing)
    for field in dataclasses.fields(Sizes):
        assert re.search(rf"config\.{field.name}\b", source), field.name


def test_the_last_scale_of_a_resnet18_is_that_of_the_config(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(computing, "_compute", lambda *of: started.append(of[-1]))
    monkeypatch.setattr(computing, "_log", lambda *of: None)
    config = dataclasses.replace(TOY, model="resnet18", last_scale=0.5)
    compute(config, tmp_path)
    (seed,) = started
    assert last_scales(seed.params) == {0.5}


def test_all_sizes_and_tasks_are_there(run):
    results = read_results(run)
    assert results.network.shape == results.linearized.shape == (1, 2, 2)
    assert results.tasks == ("halved classes", "eigenfunction 4")
    assert results.sizes == (64, 100) and results.num_test == 40
    assert results.long is not None and results.long.shape == (1,)
    assert (results.best >= results.linearized).all()
    assert run.arrays("linearized-long-42")["test_accuracy"].shape == (1, 3)


def test_the_block_of_the_gram_matrix_trains_as_its_own_samples_would(run, tmp_path):
    """A smaller size, from scratch, by the network's linearization in weight space."""
    whole = tl.data.normalize(tl.data.load("digits"))
    pool_key, _ = computing._draw_keys(42)
    pool = tl.data.subset(whole, 100, num_test=40, key=pool_key)
    keys = computing.make_keys(42)
    model = tl.models.build("mlp", pool.shape)
    folder = store.RunFolder(tmp_path, tmp_path)
    params = model.init(keys.init)
    seed = computing.Seed(42, model, params, pool, keys.batches, folder)
    part, rows = computing._part(seed, 64)
    assert rows[64:].tolist() == list(range(100, 140))  # all test samples
    np.testing.assert_array_equal(part.dataset.x, pool.x[rows])
    task = tl.tasks.cifar2(part.dataset)
    linear = tl.linearize(model.apply, seed.params)
    history = tl.train(linear, seed.params, task, TOY.recipe, key=seed.key)
    ours = run.arrays("linearized-tasks-64-42")
    np.testing.assert_allclose(ours["train_loss"][:1], history.train_loss, rtol=2e-3)
    np.testing.assert_allclose(ours["distance"][:1], history.distance, rtol=2e-3)
    longer = dataclasses.replace(TOY, cifar2_epochs=5)
    jobs = computing.jobs_of(longer, part, 64, [task])
    assert [(job.name, job.recipe.epochs) for job in jobs] == [
        ("cifar2-64", 5),
        ("eigenfunctions-64", 2),
    ]


def test_report_shows_every_task_and_size(run):
    report = EXPERIMENT.report(run)
    assert [row.cells[:2] for row in report.console_table.rows] == [
        ("halved classes", 64),
        ("halved classes", 100),
        ("eigenfunction 4", 64),
        ("eigenfunction 4", 100),
    ]
    assert [claim.id for claim in report.claims] == ["D6", "D14"]
    figures = [name for section in report.sections for name in section.figures]
    assert figures == ["gap", "sizes"]


@pytest.mark.slow
def test_an_interrupted_run_goes_on(run, tmp_path, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(computing, "learn_network", stop)
        with pytest.raises(KeyboardInterrupt):
            compute(TOY, tmp_path)
    monkeypatch.setattr(computing, "compute_gram", stop)  # it is not needed again
    again = compute(TOY, tmp_path, resume=True)
    for name in ("network-tasks-64-42", "linearized-tasks-100-42"):
        ours, theirs = again.arrays(name), run.arrays(name)
        np.testing.assert_array_equal(ours["train_loss"], theirs["train_loss"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": (100, 2000)}, "different numbers up to 1437"),
        ({"sizes": (100, 100)}, "different numbers up to 1437"),
        ({"sizes": (50, 100)}, "A batch of 64 does not fit 50"),
        ({"num_test": 0}, r"num_test must lie in 1\.\.360, got 0"),
        ({"indices": (3, 140)}, r"indices must lie in 0\.\.139"),
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
        ({"cifar2_epochs": 0}, "cifar2_epochs must be at least 1"),
        ({"long_epochs": -1}, "long_epochs must be at least 0"),
        ({"recipe": tl.Recipe(optimizer="adam")}, "'adam' depends on the coordinates"),
    ],
)
def test_impossible_configs_raise_before_any_work(change, message, tmp_path):
    config = dataclasses.replace(TOY, **change)
    with pytest.raises(ValueError, match=message):
        perform(EXPERIMENTS, "sizes", config, tmp_path)
    assert list(tmp_path.iterdir()) == []


def results(leads=(-0.02, 0.0, 0.06), noise=0.002, num=5, **changes) -> Results:
    """The network leads by `leads`, one for each size, on CIFAR2."""
    rng = np.random.default_rng(0)
    shape = (num, len(leads), 2)
    linearized = 0.7 + 0.02 * rng.normal(size=(num, 1, 1)) + np.zeros(shape)
    lead = np.stack([np.array(leads), np.zeros(len(leads))], axis=-1)
    values = {
        "data": "cifar10",
        "model": "mlp",
        "seeds": tuple(range(num)),
        "sizes": (500, 1000, 2000)[: len(leads)],
        "num_test": 1000,
        "tasks": ("CIFAR2", "eigenfunction 10"),
        "network": linearized + lead + noise * rng.normal(size=shape),
        "linearized": linearized,
        "best": linearized + 0.01,
        "diverged": np.zeros(shape, bool),
        "usable": np.ones(shape, bool),
        "long": linearized[:, -1, 0] + 0.02,
        "epochs": (200, 1000),
    }
    return Results(**values | changes)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "confirmed"),
        ({"leads": (0.0, 0.0, -0.05)}, "refuted"),
        ({"leads": (0.0, 0.0, 0.015)}, "refuted"),  # the longer run overtakes it
        ({"noise": 0.3}, "inconclusive"),
        ({"num": 3}, "inconclusive"),
        ({"num": 1}, "inconclusive"),
        ({"long": None}, "inconclusive"),
        ({"num": 3, "model": "resnet18"}, "confirmed"),
    ],
)
def test_the_network_must_beat_all_three(change, verdict):
    (ahead, _) = claims(results(**change))
    assert (ahead.id, ahead.verdict) == ("D6", verdict)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "confirmed"),
        ({"leads": (0.05, 0.05, 0.05)}, "refuted"),
        ({"leads": (0.05, 0.05, 0.05), "noise": 0.05}, "inconclusive"),
        ({"num": 3, "model": "resnet18"}, "inconclusive"),
        ({"leads": (0.05,)}, "inconclusive"),
    ],
    ids=["depends", "constant", "noisy", "few draws", "one size"],
)
def test_the_gap_depends_on_the_size(change, verdict):
    (_, depends) = claims(results(**change))
    assert (depends.id, depends.verdict) == ("D14", verdict)
    for finding in depends.findings:
        assert (finding.threshold is None) == (finding.verdict is None)


@pytest.mark.parametrize(
    ("p", "verdict"),
    [((0.009, 0.008), "inconclusive"), ((0.009, 0.004), "confirmed")],
)
def test_two_networks_are_not_two_chances(p, verdict, monkeypatch):
    given = iter([p[0], 1.0, p[1], 1.0])  # CIFAR2 and an eigenfunction of each
    monkeypatch.setattr(
        "tangentlab.experiments.sizes.claims.heterogeneity", lambda gap: next(given)
    )
    found = [claims(results())[1] for _ in p]
    assert [claim.verdict for claim in found] == ["confirmed"] * 2
    assert join(found, ["MLP", "LeNet"]).verdict == verdict


def test_p_values_are_uniform_where_nothing_depends_on_the_size():
    rng = np.random.default_rng(1)
    draws = rng.normal(size=(5, 1)) + rng.normal(size=(200, 5, 4))
    p = np.array([heterogeneity(gap) for gap in draws[:60]])
    assert 0.3 < np.median(p) < 0.7 and (p < 0.05).mean() < 0.15
    assert heterogeneity(np.ones((5, 4))) == 1.0


def test_a_diverged_draw_is_left_out():
    usable = np.ones((6, 3, 2), bool)
    usable[0] = False
    found = results(num=6, usable=usable)
    wild = found.network.copy()
    wild[0] = 0.0
    ahead, depends = claims(dataclasses.replace(found, network=wild))
    assert ahead.verdict == depends.verdict == "confirmed"


def test_trainings_that_diverged_are_counted_and_left_out():
    shape = results().usable.shape
    diverged = np.zeros(shape, bool)
    diverged[0, 0, 1] = diverged[1, 0, 0] = True
    for claim in claims(results(diverged=diverged)):
        told = f"training of 2 of {diverged.size} diverged, left out"
        assert claim.remark.endswith(told)
