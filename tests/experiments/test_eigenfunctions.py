import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import tangentlab as tl
from tangentlab.experiments import DEMO, EXPERIMENTS, draw, eigenfunctions, perform
from tangentlab.experiments.eigenfunctions import GRID, Eigenfunctions

TOY = Eigenfunctions(
    num_samples=240,
    num_test=60,
    indices=(0, 3, 50),
    recipe=tl.Recipe(epochs=2, batch_size=64),
)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    return perform(EXPERIMENTS, "eigenfunctions", TOY, root)


def test_every_field_of_the_config_is_read():
    source = Path(eigenfunctions.__file__).read_text()
    for field in dataclasses.fields(Eigenfunctions):
        assert re.search(rf"config\.{field.name}\b", source), field.name


def test_run_folder_holds_all_that_was_computed(outcome):
    run = outcome.run
    tasks = run.arrays("tasks")
    assert tasks["index"].tolist() == [0, 3, 50]
    for name in ("network", "linearized"):
        assert run.arrays(name)["test_accuracy"].shape == (3, 2)
    spectrum = run.arrays("spectrum")
    assert spectrum["eigenvalues"].shape == (240,)
    signs = spectrum["eigenvectors"] > 0
    np.testing.assert_allclose(signs.mean(axis=0), tasks["balance"], atol=1e-6)
    assert run.metrics()[0]["num_train"] == 180 and run.metrics()[0]["num_test"] == 60
    assert [line["index"] for line in run.metrics()[1:]] == [0, 3, 50]


def test_divergence_is_flagged_and_left_out(tmp_path):
    recipe = tl.Recipe(epochs=1, batch_size=64, learning_rate=1e30)
    config = dataclasses.replace(TOY, indices=(3, 50), recipe=recipe)
    outcome = perform(EXPERIMENTS, "eigenfunctions", config, tmp_path)
    assert outcome.run.arrays("network")["diverged"].any()
    flags = [row.flag for row in outcome.report.console_table.rows]
    assert "training diverged" in flags
    assert outcome.report.summary.startswith("No task can be used")


def test_the_test_split_does_not_move_with_the_training_size():
    key = eigenfunctions._keys(0).subset
    small = dataclasses.replace(TOY, num_samples=200)
    parts = [eigenfunctions.load(config, key)[1] for config in (TOY, small)]
    tests = [part.x[part.num_train :] for part in parts]
    assert len(parts[0].x) != len(parts[1].x)
    np.testing.assert_array_equal(tests[0], tests[1])


def test_the_same_config_gives_the_same_numbers(outcome, tmp_path):
    again = perform(EXPERIMENTS, "eigenfunctions", TOY, tmp_path)
    for name in ("network", "linearized"):
        np.testing.assert_array_equal(
            again.run.arrays(name)["test_loss"], outcome.run.arrays(name)["test_loss"]
        )


def test_report_is_rebuilt_from_the_folder_alone(outcome):
    page = outcome.files.page
    figures = {path.stem for path in outcome.files.figures}
    assert figures == {"accuracy", "spectrum", "training", "gallery"}
    page.unlink()
    for path in outcome.files.figures:
        path.unlink()
    drawn = draw(EXPERIMENTS, outcome.run.path)
    assert drawn.files.page == page and page.stat().st_size > 10_000
    assert all(path.stat().st_size > 5_000 for path in drawn.files.figures)


def test_table_has_a_row_for_each_task_and_flags_the_degenerate_one(outcome):
    table = outcome.report.console_table
    titles = [column.title for column in table.columns]
    assert titles == [
        "index",
        "eigenvalue",
        "class balance",
        "network",
        "linearized",
        "advantage",
    ]
    assert [row.cells[0] for row in table.rows] == [0, 3, 50]
    for row in table.rows:
        _, _, balance, network, linearized, advantage = row.cells
        assert advantage == pytest.approx(network - linearized)
        assert ("degenerate" in row.flag) == (max(balance, 1 - balance) > 0.95)


def test_default_indices_stay_below_half_the_samples():
    config = dataclasses.replace(TOY, indices=None)
    assert eigenfunctions._indices(config, 240) == (0, 1, 2, 4, 9, 19, 49, 99)
    assert eigenfunctions._indices(config, 60_000) == GRID


def test_demo_is_a_config_of_the_experiment():
    assert isinstance(DEMO, Eigenfunctions) and DEMO.data == "digits"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": (0, 240)}, r"0\.\.239"),
        ({"indices": (1, 1)}, "different numbers"),
        ({"indices": ()}, "different numbers"),
        ({"num_samples": 5000}, r"num_samples must lie in 2\.\.1797"),
        ({"num_test": 240}, r"num_test must lie in 1\.\.239"),
        ({"recipe": tl.Recipe(batch_size=200)}, "A batch of 200 does not fit 180"),
        ({"data": "imagenet"}, "cifar10, digits"),
    ],
)
def test_impossible_configs_raise_before_any_work(change, message, tmp_path):
    config = dataclasses.replace(TOY, **change)
    with pytest.raises(ValueError, match=message):
        perform(EXPERIMENTS, "eigenfunctions", config, tmp_path)


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
    outcome = perform(EXPERIMENTS, "eigenfunctions", config, tmp_path)
    assert (
        outcome.run.metrics()[0] | {"num_train": 33, "num_test": 7}
        == (outcome.run.metrics()[0])
    )
    assert np.isfinite(outcome.run.arrays("linearized")["test_loss"]).all()
