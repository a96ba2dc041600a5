import dataclasses
import inspect
import re
from pathlib import Path

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.experiments import (
    DEMO,
    EXPERIMENTS,
    draw,
    perform,
)
from tangentlab.experiments.eigenfunctions import EXPERIMENT, Eigenfunctions, computing
from tangentlab.experiments.eigenfunctions.rates import best
from tangentlab.experiments.stages import opening
from tangentlab.experiments.stages.training import is_dual

TOY = Eigenfunctions(
    num_samples=240,
    num_test=60,
    indices=(0, 3, 50),
    recipe=tl.Recipe(epochs=2, batch_size=64),
)


def compute(config: Eigenfunctions, root: Path) -> store.Run:
    """The run alone, without figures and page, which take longer."""
    with store.create(root, "eigenfunctions", config) as folder:
        computing.run(config, folder, progress=False)
    return store.open_run(folder.final, {"eigenfunctions": Eigenfunctions})


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    return perform(EXPERIMENTS, "eigenfunctions", TOY, root)


def test_every_field_of_the_config_is_read():
    source = "".join(map(inspect.getsource, (computing, opening)))
    for field in dataclasses.fields(Eigenfunctions):
        assert re.search(rf"config\.{field.name}\b", source), field.name


def test_run_folder_holds_all_that_was_computed(outcome):
    run = outcome.run
    tasks = run.arrays("tasks-42")
    assert tasks["index"].tolist() == [0, 3, 50]
    for name in ("network-42", "linearized-42"):
        assert run.arrays(name)["test_accuracy"].shape == (3, 2)
        assert run.arrays(name)["test_outputs"].shape == (3, 60)
        assert np.isfinite(run.arrays(name)["cosine"]).all()
    spectrum = run.arrays("spectrum-42")
    assert spectrum["eigenvalues"].shape == spectrum["overlap"].shape == (240,)
    labels = tasks["labels"]
    np.testing.assert_allclose(labels.mean(axis=1), tasks["balance"], atol=1e-6)
    assert tasks["lowest"].shape == tasks["highest"].shape == (3, 5)
    for name, label in (("lowest", False), ("highest", True)):
        ends = np.take_along_axis(labels[1:], tasks[name][1:], axis=1)
        assert (ends == label).all()
    np.testing.assert_allclose(tasks["energy"].sum(axis=0), 1, rtol=1e-5)
    costs = (tasks["energy"] / spectrum["eigenvalues"][:, None])[:40].sum(axis=0)
    assert (240 * costs < tasks["least_complexity"]).all()
    facts, *lines = run.metrics()
    assert (facts["num_train"], facts["num_test"], facts["seeds"]) == (180, 60, [42])
    assert [line["index"] for line in lines] == [0, 3, 50]
    accuracy = run.arrays("network-42")["test_accuracy"][:, -1]
    assert [line["network_test_accuracy"] for line in lines] == accuracy.tolist()
    assert not (run.path / "work").exists()


def test_function_space_and_weight_space_train_the_same_linearization(
    outcome, tmp_path
):
    config = dataclasses.replace(TOY, linearized_in="weights", gram_on_disk=False)
    other = compute(config, tmp_path)
    ours, theirs = (run.arrays("linearized-42") for run in (outcome.run, other))
    for name in ("train_loss", "distance", "cosine"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=2e-3)
    same = outcome.run.arrays("network-42")["test_loss"]
    np.testing.assert_array_equal(other.arrays("network-42")["test_loss"], same)


@pytest.mark.parametrize("on_disk", [False, True])
def test_weight_space_warns_of_a_rate_that_is_too_large(tmp_path, on_disk):
    options = {"linearized_in": "weights", "gram_on_disk": on_disk, "indices": (3,)}
    recipe = dataclasses.replace(TOY.recipe, learning_rate=1e3, epochs=1)
    config = dataclasses.replace(TOY, recipe=recipe, **options)
    with pytest.warns(
        UserWarning, match="rate of 1000 is likely to diverge on the lin"
    ):
        compute(config, tmp_path)


@pytest.mark.parametrize("on_disk", [False, True])
def test_labels_of_another_activation_at_the_same_parameters(tmp_path, on_disk):
    """Against Gram matrices and training outside of the experiment."""
    config = dataclasses.replace(TOY, label_activation="tanh", gram_on_disk=on_disk)
    run = compute(config, tmp_path)
    dataset = opening.open_samples(config).dataset
    relu, tanh = (
        tl.models.build("mlp", dataset.shape, activation=name)
        for name in ("relu", "tanh")
    )
    keys, x = opening.make_keys(42), dataset.x
    params = relu.init(keys.init)
    lam, vectors = np.linalg.eigh(np.asarray(tl.gram(tanh.apply, params, x)))
    tasks = run.arrays("tasks-42")
    assert str(tasks["source"]) == "tanh at the same parameters"
    np.testing.assert_allclose(tasks["eigenvalue"][:2], lam[[-1, -4]], rtol=1e-4)
    same = np.mean(tasks["labels"][1] == (vectors[:, -4] > 0))
    assert abs(same - 0.5) == 0.5  # up to sign
    task = tl.tasks.from_labels(dataset, tasks["labels"][1])
    K, f_0 = tl.gram(relu.apply, params, x), relu.apply(params, x)
    options = {"recipe": config.recipe, "key": keys.batches}
    linear = tl.train_dual(K, f_0, task, **options)
    got = run.arrays("linearized-42")["train_loss"][1]
    np.testing.assert_allclose(got, linear.train_loss[0], rtol=1e-4)
    assert "kernel with tanh" in EXPERIMENT.report(run).summary


def test_seeds_share_samples_and_differ_in_initialization(tmp_path):
    config = dataclasses.replace(
        TOY, seed=7, seeds=2, reference_epochs=1, gram_on_disk=False
    )
    run = compute(config, tmp_path)
    first, second = (run.arrays(f"spectrum-{seed}")["eigenvalues"] for seed in (7, 8))
    assert not np.allclose(first, second)
    *tasks, reference, _ = run.metrics()[1:]
    assert [line["seed"] for line in tasks] == [7] * 3 + [8] * 3
    saved = run.arrays("linearized-7")["test_accuracy"]
    assert tasks[1]["linearized_test_accuracy_after"] == pytest.approx(saved[1])
    assert reference["task"] == "cifar2" and reference["epochs"] == [1]
    curve = run.arrays("network-reference-7")["test_accuracy"][0]
    assert reference["network_best"] == reference["network_test_accuracy"] == curve[0]
    assert run.arrays("network-reference-8")["test_accuracy"].shape == (1, 1)
    table = EXPERIMENT.report(run).console_table
    mean = np.mean(
        [run.arrays(f"network-{seed}")["test_accuracy"][1, -1] for seed in (7, 8)]
    )
    assert table.rows[1].cells[4] == pytest.approx(mean)
    assert "mean over 2 seeds" in table.caption and "For reference" in table.caption


def test_divergence_is_flagged_and_left_out(tmp_path):
    recipe = tl.Recipe(epochs=1, batch_size=64, learning_rate=1e30)
    config = dataclasses.replace(TOY, indices=(3, 50), recipe=recipe)
    with pytest.warns(UserWarning, match="likely to diverge"):
        run = compute(config, tmp_path)
    assert run.arrays("network-42")["diverged"].any()
    report = EXPERIMENT.report(run)
    assert "training diverged" in [row.flag for row in report.console_table.rows]
    assert report.summary.startswith("No task can be used")


def test_the_test_split_does_not_move_with_the_training_size():
    small = dataclasses.replace(TOY, num_samples=200)
    parts = [opening.open_samples(config).dataset for config in (TOY, small)]
    tests = [part.x[part.num_train :] for part in parts]
    assert len(parts[0].x) != len(parts[1].x)
    np.testing.assert_array_equal(tests[0], tests[1])


def test_report_is_rebuilt_from_the_folder_alone(outcome):
    page = outcome.files.page
    figures = {path.stem for path in outcome.files.figures}
    assert figures == {
        "accuracy",
        "lead",
        "approximation",
        "spectrum",
        "energy",
        "growth",
        "training",
        "gallery",
    }
    page.unlink()
    for path in outcome.files.figures:
        path.unlink()
    drawn = draw(EXPERIMENTS, outcome.run.path)
    assert drawn.files.page == page and page.stat().st_size > 10_000
    assert all(path.stat().st_size > 5_000 for path in drawn.files.figures)
    (grows,) = (claim for claim in drawn.report.claims if claim.id == "D9")
    assert grows.findings[6].name == "network, steps to a batch loss of 0.01"


def test_what_both_models_answer_apart_is_among_the_details(outcome):
    run, report = outcome.run, outcome.report
    of_tasks = [each for each in report.details if "index" in each]
    network, linearized = (
        run.arrays(f"{name}-42")["test_outputs"] for name in ("network", "linearized")
    )
    apart = ((network > 0) != (linearized > 0)).mean(axis=1)
    assert [each["disagreement"] for each in of_tasks] == apart.tolist()
    assert [each["index"] for each in of_tasks] == [0, 3, 50]
    (kept,) = (each for each in report.details if "overlap" in each)
    assert kept["seed"] == 42 and 0.6 < kept["overlap"] < 0.9


def test_table_has_a_row_for_each_task_and_flags_the_degenerate_one(outcome):
    table = outcome.report.console_table
    titles = [column.title for column in table.columns]
    assert titles == [
        "index",
        "eigenvalue",
        "complexity",
        "class balance",
        "network",
        "linearized",
        "advantage",
    ]
    assert [row.cells[0] for row in table.rows] == [0, 3, 50]
    for row in table.rows:
        _, lam, cost, balance, network, linearized, advantage = row.cells
        assert cost > 1 / lam
        assert advantage == pytest.approx(network - linearized)
        assert ("degenerate" in row.flag) == (max(balance, 1 - balance) > 0.95)


def test_demo_is_a_config_of_the_experiment():
    assert isinstance(DEMO, Eigenfunctions) and DEMO.data == "digits"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": (0, 240)}, r"0\.\.239"),
        ({"indices": (0, 1), "num_indices": 3}, "not both"),
        ({"num_samples": 5000}, r"num_samples must lie in 2\.\.1797"),
        ({"num_test": 240}, r"num_test must lie in 1\.\.239"),
        ({"num_pairs": 50}, r"num_pairs must lie in 51\.\.240"),
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
        ({"reference_epochs": -1}, "reference_epochs must be at least 0"),
        ({"rates": (0.1,)}, "at least two learning rates above 0, got"),
        (
            {"rates": (0.1, 0.01), "recipe": tl.Recipe(batch_size=170)},
            "A batch of 170 does not fit 162",
        ),
        ({"recipe": tl.Recipe(batch_size=200)}, "A batch of 200 does not fit 180"),
        (
            {"recipe": tl.Recipe(optimizer="adam"), "linearized_in": "function"},
            "'adam' depends on the coordinates",
        ),
        ({"data": "imagenet"}, "cifar10, digits"),
    ],
)
def test_impossible_configs_raise_before_any_work(change, message, tmp_path):
    config = dataclasses.replace(TOY, **change)
    with pytest.raises(ValueError, match=message):
        perform(EXPERIMENTS, "eigenfunctions", config, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_function_space_is_for_all_that_it_can_do():
    adam = tl.Recipe(optimizer="adam")
    assert is_dual("auto", tl.Recipe()) and is_dual("function", tl.Recipe())
    assert not is_dual("weights", tl.Recipe()) and not is_dual("auto", adam)


@pytest.mark.slow
def test_each_model_gets_the_rate_that_was_best_on_samples_kept_back(tmp_path):
    rates = (1e-6, 0.05)
    config = dataclasses.replace(
        TOY, indices=(1, 3), seeds=2, rates=rates, gram_on_disk=False
    )
    run = compute(config, tmp_path)
    tried = run.arrays("rates-42")
    assert tried["rates"].tolist() == [*rates] and tried["index"].tolist() == [1, 3]
    for model in ("network", "linearized"):
        assert tried[model][1].mean() > tried[model][0].mean()
        # 162 samples are left, and 18 kept back; none is a test sample.
        assert run.arrays(f"{model}-rate0-42")["test_outputs"].shape == (2, 18)
        assert run.arrays(f"{model}-43")["train_loss"][:, -1].max() < 0.7
    told = [line for line in run.metrics() if "learning_rate" in line]
    assert [line["learning_rate"] for line in told] == [*rates]
    assert [line["network_kept_back"] for line in told] == pytest.approx(
        tried["network"].mean(axis=1)
    )
    report = EXPERIMENT.report(run)
    (shown,) = (s.table for s in report.sections if s.title.startswith("How both fit"))
    assert shown is not None
    assert [row.cells[0] for row in shown.rows] == [*rates]
    assert ["✓" in row.cells[1] for row in shown.rows] == [False, True]


def test_a_rate_that_diverged_comes_last():
    accuracy = np.array([[0.9, np.nan], [0.6, 0.6], [0.5, 0.9], [0.7, 0.7]])
    assert best(accuracy) == 2
    assert best(np.full((3, 2), np.nan)) == 0


@pytest.mark.slow
def test_adam_is_trained_in_weight_space(tmp_path):
    recipe = tl.Recipe(epochs=1, batch_size=64, optimizer="adam", learning_rate=1e-3)
    config = dataclasses.replace(TOY, indices=(3,), recipe=recipe, num_pairs=10)
    with jax.numpy_dtype_promotion("standard"):  # optax's Adam counts in integers
        run = compute(config, tmp_path)
    assert run.arrays("spectrum-42")["eigenvalues"].shape == (10,)
    assert np.isfinite(run.arrays("linearized-42")["train_loss"]).all()


@pytest.mark.parametrize(
    "model", ["lenet", pytest.param("resnet18", marks=pytest.mark.slow)]
)
def test_it_runs_on_real_cifar10(model, real_data, tmp_path):
    config = Eigenfunctions(
        data="cifar10",
        directory=real_data,
        model=model,
        num_samples=40,
        indices=(1, 5),
        recipe=tl.Recipe(epochs=1, batch_size=16),
    )
    run = compute(config, tmp_path)
    facts = run.metrics()[0]
    assert (facts["num_train"], facts["num_test"]) == (33, 7)
    assert np.isfinite(run.arrays("linearized-42")["test_loss"]).all()


@pytest.mark.parametrize(
    "options, epochs",
    [
        ({"data": "cifar10"}, 200),
        ({"data": "cifar10", "recipe": tl.Recipe(epochs=7)}, 14),
        ({"data": "cifar10", "reference_epochs": 0}, 0),
        ({"data": "mnist"}, 0),
        ({"data": "digits", "reference_epochs": 3}, 3),
    ],
    ids=str,
)
def test_cifar2_is_the_reference_on_cifar10(options, epochs):
    assert Eigenfunctions(**options).epochs_of_reference == epochs
