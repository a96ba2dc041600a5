"""Rooms of the second lecture: each runs at toy size, and refuses what it cannot do."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.experiments import (
    bounds,
    landscapes,
    learning_curves,
    random_labels,
    separation,
    universality,
)
from tangentlab.experiments.base import draw, perform
from tangentlab.experiments.separation.results import Needs, needed
from tangentlab.experiments.stages.panels import curve_with_spread, new_figure

ROOMS = {
    "bounds": bounds,
    "landscapes": landscapes,
    "learning_curves": learning_curves,
    "random_labels": random_labels,
    "separation": separation,
    "universality": universality,
}
EXPERIMENTS = {name: room.EXPERIMENT for name, room in ROOMS.items()}
TOYS = {
    "bounds": bounds.Bounds(
        sizes=(20, 40), corruptions=(0.0, 1.0), num_test=20, draws=2, permutations=10
    ),
    "landscapes": landscapes.Landscapes(
        num_starts=30,
        units=(1, 2),
        num_draws=400,
        student_widths=(2, 8),
        student_starts=20,
        student_steps=500,
        depths=(2, 3),
        network_starts=4,
        network_steps=3000,
        chain_depths=(2, 3),
        chain_starts=(0.4,),
        sgd_steps=(20, 100),
        sgd_runs=3,
    ),
    "learning_curves": learning_curves.LearningCurves(
        dim=12,
        degrees=(1, 2),
        sphere_sizes=(20, 60, 200),
        num_images=200,
        modes=(1,),
        image_sizes=(20, 40),
        network_width=32,
        network_steps=20,
        network_seeds=2,
        num_train=30,
        widths=(10, 30, 300),
        draws=3,
    ),
    "random_labels": random_labels.RandomLabels(
        num_train=60,
        num_test=40,
        corruptions=(0.0, 1.0),
        recipe=tl.Recipe(epochs=3, batch_size=20, schedule="constant"),
        seeds=2,
    ),
    "separation": separation.Separation(
        dims=(12,),
        samples_per_dim=(2.0, 6.0),
        num_test=50,
        width=16,
        recipe=tl.Recipe(epochs=2, batch_size=16, schedule="constant"),
        seeds=1,
    ),
    "universality": universality.Universality(
        num_train=200, num_test=60, num_line=12, powers=(1, 2), sizes=(50, 100), draws=2
    ),
}
DRAWN = ("landscapes",)
"""The other reports are drawn in the slow tests: drawing takes longest."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Toy runs, each made when it is first asked for."""
    made, root = {}, tmp_path_factory.mktemp("runs")

    def get(name: str) -> store.Run:
        if name not in made:
            config = TOYS[name]
            with store.create(root, name, config) as folder:
                EXPERIMENTS[name].run(config, folder, progress=False)
            made[name] = store.open_run(folder.final, {name: type(config)})
        return made[name]

    return get


@pytest.mark.parametrize("name", ROOMS)
def test_every_field_of_the_config_is_read(name):
    folder = Path(str(ROOMS[name].__file__)).parent
    source = "\n".join(path.read_text() for path in folder.glob("*.py"))
    for field in dataclasses.fields(TOYS[name]):
        read = re.search(rf"config\.{field.name}\b|\"{field.name}\"", source)
        assert read, field.name


@pytest.mark.parametrize(
    "name",
    [n if n in DRAWN else pytest.param(n, marks=pytest.mark.slow) for n in ROOMS],
)
def test_report_is_drawn_from_the_folder_alone(name, runs):
    run = runs(name)
    outcome = draw(EXPERIMENTS, run.path)
    assert outcome.files.page.is_file() and outcome.files.figures
    assert outcome.report.console_table.rows and outcome.report.summary


def test_bounds_grow_with_random_labels(runs):
    saved = runs("bounds").arrays("case-0")
    true, random = saved["by_share"][:, 0], saved["by_share"][:, -1]
    assert (random[:, 0] > true[:, 0]).all()
    assert (saved["true_labels"] < saved["shuffled_labels"].min(axis=-1)).all()
    np.testing.assert_allclose(saved["by_size"][:, -1], true)


def test_exact_claims_hold_at_any_size(runs):
    report = landscapes.EXPERIMENT.report(runs("landscapes"))
    assert [c.verdict for c in report.claims] == ["confirmed", "confirmed"]
    line = runs("universality").arrays("draw-0")["line"]
    assert line[0, 2] < 1e-12 < line[1, 2]


def test_wider_students_end_lower(runs):
    narrow, wide = runs("landscapes").arrays("students")["losses"]
    assert np.median(wide) < np.median(narrow) and (narrow > 0).all()


@pytest.mark.slow
def test_learning_curves_are_predicted(runs):
    saved = runs("learning_curves").arrays("sphere")
    ratio = saved["measured"].mean(axis=0) / saved["predicted"]
    assert np.median(np.abs(ratio - 1)) < 0.2
    network = runs("learning_curves").arrays("images")["network"]
    assert network.shape == (2, 2, 2) and np.isfinite(network).all()
    width = runs("learning_curves").arrays("widths")["errors"][..., 1]
    assert np.median(width, axis=0).argmax() == 1  # as many units as samples


def test_random_labels_leave_true_labels_in_the_test(runs):
    saved = runs("random_labels").arrays("labels")
    assert saved["train_loss"].shape == (2, 2, 3)
    true, random = saved["test_accuracy"][:, :, -1].mean(axis=0)
    assert true > random
    assert runs("random_labels").arrays("decay")["train_error"].shape == (2, 2)


def test_an_interrupted_run_goes_on(tmp_path):
    config = TOYS["universality"]
    computed = EXPERIMENTS["universality"].run
    with pytest.raises(KeyboardInterrupt):
        with store.create(tmp_path, "universality", config) as folder:
            computed(config, folder, progress=False)
            (folder.path / "draw-1.npz").unlink()
            raise KeyboardInterrupt
    (kept,) = tmp_path.glob(".*/draw-0.npz")
    before = kept.stat().st_mtime_ns
    with store.create(tmp_path, "universality", config, resume=True) as again:
        computed(config, again, progress=False)
        assert (again.path / "draw-0.npz").stat().st_mtime_ns == before
    assert (again.final / "draw-1.npz").is_file()


def test_intervals_end_where_values_do():
    ax = new_figure().subplots()
    values = np.array([[0.0, 0.9], [1.0, 1.0], [1.0, 1.0]])
    curve_with_spread(ax, [0, 1], values, (0, 1))
    (band,) = ax.collections
    heights = np.asarray(band.get_paths()[0].vertices)[:, 1]
    assert heights.min() == 0 and heights.max() == 1


def test_samples_needed_are_interpolated():
    sizes, accuracies = np.array([100, 400]), np.array([0.8, 1.0])
    assert needed(sizes, accuracies, 0.9) == pytest.approx(200.0)
    assert needed(sizes, accuracies, 0.7) == 100
    assert needed(sizes, np.array([0.5, 0.6]), 0.9) == np.inf
    samples = np.array([[10.0, 20.0, 40.0], [10.0, 40.0, np.inf]])
    network, kernel = Needs((10, 20, 40), samples).exponents
    assert network == pytest.approx(1.0) and kernel == pytest.approx(2.0)
    assert Needs((10, 20), np.full((2, 2), np.inf)).exponents == (None, None)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("bounds", {"draws": 0}, "draws must be at least 1, got 0"),
        ("bounds", {"sizes": ()}, "must not be empty"),
        ("bounds", {"corruptions": (2.0,)}, r"shares in 0\.\.1"),
        ("bounds", {"sizes": (5000,), "cases": ("digits",)}, "has 1437 samples"),
        ("bounds", {"cases": ("digits:1",)}, "two of its classes, as in mnist:0,1"),
        ("landscapes", {"width": 0}, "width must be at least 1, got 0"),
        ("landscapes", {"sgd_variance": 0.0}, "sgd_variance must be above 0"),
        ("landscapes", {"units": (0, 1)}, "units and sgd_steps must hold numbers"),
        ("landscapes", {"student_widths": (1, 2)}, "nor below teacher_units = 2"),
        ("landscapes", {"network_steps": 150}, "a multiple of 100, got 150"),
        ("landscapes", {"depths": (1,)}, "numbers from 2 on"),
        ("landscapes", {"chain_starts": (0.9,)}, "between 0 and 0.7"),
        ("learning_curves", {"widths": (3, 2)}, "widths must be rising numbers"),
        ("learning_curves", {"network_seeds": 0}, "must be at least 1, got 20 and 0"),
        ("learning_curves", {"dim": 2}, "dim must be at least 3"),
        ("learning_curves", {"num_images": 30}, "at least twice as many"),
        ("random_labels", {"corruptions": (1.0, 0.0)}, "rise from 0 to 1"),
        ("random_labels", {"seeds": 0}, "seeds must be at least 1, got 0"),
        ("separation", {"dims": (4,)}, "dims must be at least 12"),
        ("separation", {"samples_per_dim": (2.0,)}, "at least two rising numbers"),
        ("separation", {"level": 0.4}, "between 0.5 and 1"),
        ("universality", {"powers": (3,)}, "must be 1 or even, got 3"),
        ("universality", {"draws": 0}, "draws must be at least 1"),
        ("universality", {"sizes": (50, 70)}, "each twice the one before"),
        ("universality", {"num_line": 2}, "to tell a rank of 2, got 2"),
    ],
)
def test_impossible_configs_raise_before_any_work(name, change, message, tmp_path):
    config = dataclasses.replace(TOYS[name], **change)
    with pytest.raises(ValueError, match=message):
        perform(EXPERIMENTS, name, config, tmp_path)
    assert list(tmp_path.iterdir()) == []
