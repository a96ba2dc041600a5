"""Directions are found, drawn and learned; claims can come out either way."""

import dataclasses
import re
from pathlib import Path

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.claims.plans.nads import RUNS
from tangentlab.experiments.nads import EXPERIMENT, NadStudy, computing
from tangentlab.experiments.nads.claims import claims, rank_of
from tangentlab.experiments.nads.finding import active_arrays
from tangentlab.experiments.nads.pictures import fourier_magnitude
from tangentlab.experiments.nads.results import Found, Learned, Results
from tangentlab.experiments.stages.opening import make_keys
from tests.helpers import last_scales

TOY = NadStudy(
    model="mlp",
    size=4,
    num_average=8,
    indices=(0, 5, 15),
    num_train=96,
    num_test=40,
    seed=3,
    recipe=tl.Recipe(epochs=2, batch_size=32),
)


def compute(config: NadStudy, root: Path) -> store.Run:
    with store.create(root, "nads", config) as folder:
        computing.run(config, folder, progress=False)
    return store.open_run(folder.final, {"nads": NadStudy})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return compute(TOY, tmp_path_factory.mktemp("runs"))


def test_every_field_of_the_config_is_read():
    source = Path(computing.__file__).read_text()
    for field in dataclasses.fields(NadStudy):
        assert re.search(rf"config\.{field.name}\b", source), field.name


def test_the_last_scale_of_a_resnet18_is_that_of_the_config(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(computing, "find_directions", started.append)
    monkeypatch.setattr(computing, "_log", lambda *of: None)
    change = {"model": "resnet18", "last_scale": 0.5, "only_pictures": True}
    compute(dataclasses.replace(TOY, **change), tmp_path)
    (seed,) = started
    assert last_scales(seed.params) == {0.5}


def test_directions_are_those_of_the_network(run):
    model = tl.models.mlp((4, 4, 1), activation="gelu")
    params = model.init(jax.random.key(3))
    exact = tl.analysis.nads(model.apply, params, (4, 4, 1), precision="float64")
    saved = run.arrays("nads-3")
    np.testing.assert_allclose(saved["energies"], exact.energies, rtol=1e-10)
    np.testing.assert_allclose(
        np.abs((saved["directions"] * exact.directions).sum((1, 2, 3))), 1, rtol=1e-5
    )
    assert saved["overlap"] == pytest.approx(saved["squared_cosines"].mean())


def test_both_models_learn_the_same_samples_along_the_directions(run):
    index = run.arrays("along-3")["index"]
    assert index.tolist() == [0, 5, 15]
    for name in ("network-3", "linearized-3"):
        assert run.arrays(name)["test_accuracy"].shape == (3, 2)
    facts, *lines = run.metrics()
    assert facts["shape"] == [4, 4, 1] and facts["learned"]
    accuracy = run.arrays("linearized-3")["test_accuracy"][:, -1]
    assert [line["linearized_test_accuracy"] for line in lines[1:]] == accuracy.tolist()
    # By hand: the task of one direction, in the space of weights.
    u = run.arrays("nads-3")["directions"][5]
    key = jax.random.fold_in(make_keys(3).subset, 1)
    task = tl.tasks.direction(u, 96, 40, key=key, index=5)
    model = tl.models.mlp((4, 4, 1), activation="gelu")
    params = model.init(jax.random.key(3))
    linear = tl.linearize(model.apply, params)
    by_hand = tl.train(linear, params, task, TOY.recipe, key=make_keys(3).batches)
    ours = run.arrays("linearized-3")["train_loss"][1]
    np.testing.assert_allclose(ours, by_hand.train_loss[0], rtol=1e-4)


def test_what_is_there_is_not_computed_again(run, tmp_path, monkeypatch):
    with store.create(tmp_path, "nads", TOY) as folder:
        for path in run.path.glob("*.npz"):
            (folder.path / path.name).write_bytes(path.read_bytes())

        def never(*args, **options):
            raise AssertionError("computed again")

        for module in ("finding.nads", "learning.learn_dual"):
            monkeypatch.setattr(f"tangentlab.experiments.nads.{module}", never)
        computing.run(TOY, folder, progress=False)
    resumed = store.open_run(folder.final, {"nads": NadStudy})
    assert resumed.metrics() == run.metrics()


def test_report_shows_pictures_accuracies_and_verdicts(run):
    report = EXPERIMENT.report(run)
    figures = [name for section in report.sections for name in section.figures]
    assert figures == ["accuracy", "alignment", "leading", "later", "energy"]
    assert [claim.id for claim in report.claims] == ["D18", "D19"]
    assert [row.cells[0] for row in report.console_table.rows] == [0, 5, 15]
    assert report.claims[1].remark.startswith("3 tasks of use, at least 16")


def test_only_pictures_of_a_data_set(tmp_path):
    config = dataclasses.replace(TOY, data="digits", only_pictures=True, num_average=5)
    found = compute(config, tmp_path)
    assert found.metrics()[0]["shape"] == [8, 8, 1]
    assert not (found.path / "network-3.npz").exists()
    report = EXPERIMENT.report(found)
    assert report.summary.endswith("Nothing was trained.")
    assert [claim.id for claim in report.claims] == ["D18"]
    assert len(report.console_table.rows) == 10


def test_parameters_without_a_gradient_are_left_out():
    def apply(params, x):
        hidden = jax.nn.gelu(x @ params["seen"])
        return hidden @ params["out"] + params["off"] * (x @ params["dead"])

    keys = iter(jax.random.split(jax.random.key(0), 3))
    params = {
        "seen": jax.random.normal(next(keys), (3, 4), np.float32),
        "out": jax.random.normal(next(keys), (4, 1), np.float32),
        "off": np.zeros((1, 1), np.float32),
        "dead": jax.random.normal(next(keys), (3, 1), np.float32),
    }
    mask = active_arrays(apply, params, (3,))
    assert mask == {"seen": True, "out": True, "off": True, "dead": False}


def test_fourier_magnitudes_have_frequency_zero_in_the_middle():
    wave = np.cos(2 * np.pi * 2 * np.arange(8) / 8)
    u = np.broadcast_to(wave[None, :, None], (8, 8, 3))
    magnitude = fourier_magnitude(u)
    assert set(zip(*np.nonzero(magnitude > 1e-9), strict=True)) == {(4, 2), (4, 6)}
    assert magnitude[4, 2] == pytest.approx(32)


def made_up(fall: float, overlap: float, seeds: int = 5, resolved: int = 64) -> Results:
    """Accuracies that fall by `fall` in all, with a little noise."""
    rng = np.random.default_rng(0)
    index = np.arange(0, 64, 4)
    energies = np.tile(np.geomspace(1, 1e-6, 64), (seeds, 1))
    noise = 0.002 * rng.normal(size=(2, seeds, len(index)))
    accuracy = 0.95 - fall * index / 64 + noise
    found = Found(
        energies=energies,
        resolution=np.full(seeds, 1e-9),
        num_resolved=np.full(seeds, resolved),
        mean_energies=energies,
        squared_cosines=np.full((seeds, 10), overlap),
        overlap=overlap + 0.01 * rng.normal(size=seeds),
        directions=np.zeros((64, 8, 8, 1)),
    )
    learned = Learned(
        index=index,
        energy=energies[:, index],
        resolved=np.tile(index < resolved, (seeds, 1)),
        network=accuracy[0],
        linearized=accuracy[1],
        diverged=np.zeros((seeds, len(index)), bool),
    )
    return Results(
        data="gaussian",
        model="lenet",
        num_average=8,
        num_test=100,
        seeds=tuple(range(seeds)),
        found=found,
        learned=learned,
    )


@pytest.mark.parametrize(
    ("results", "verdicts"),
    [
        (made_up(0.4, 0.9), ("confirmed", "confirmed")),
        (made_up(0.0, 0.2), ("refuted", "refuted")),
        (made_up(-0.4, 0.5), ("inconclusive", "refuted")),
        (made_up(0.4, 0.9, seeds=3), ("confirmed", "confirmed")),
        (made_up(0.4, 0.9, seeds=1), ("inconclusive", "confirmed")),
    ],
)
def test_claims_can_come_out_either_way(results, verdicts):
    assert tuple(claim.verdict for claim in claims(results)) == verdicts


def test_directions_below_rounding_share_their_rank():
    results = made_up(0.4, 0.9, resolved=40)
    assert results.learned is not None
    rank = rank_of(results, results.learned)
    assert rank[0].tolist() == [*range(0, 40, 4), *[40] * 6]
    assert "30 of 80 directions" in claims(results)[1].remark


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": (0, 16)}, r"different numbers in 0\.\.15 \(images have 16"),
        ({"indices": (0, 0)}, "different numbers"),
        ({"size": 0}, "size must be at least 1, got 0"),
        ({"num_average": 0}, "num_average must be at least 1, got 0"),
        ({"num_train": 8}, "A batch of 32 does not fit 8"),
        ({"num_test": 0}, "Both splits need samples"),
        ({"epsilon": 0.0}, "`epsilon` must be above 0"),
        ({"activation": "relu"}, 'use activation="gelu"'),
    ],
)
def test_messages(change, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        compute(dataclasses.replace(TOY, **change), tmp_path)


def test_planned_runs_measure_what_they_say():
    for scale, runs in RUNS.items():
        measured = {claim for run in runs for claim in run.claims}
        assert {"D18", "D19"} <= measured, scale
        for each in runs:
            if "D19" in each.claims:
                assert not each.config.only_pictures
                assert each.config.num_indices >= 16
