import dataclasses
import inspect
import re
from pathlib import Path

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.analysis import (
    Tracker,
    centered_alignment,
    energy_concentration,
    kernel_distance,
)
from tangentlab.claims.joining import join
from tangentlab.experiments import EXPERIMENTS, perform
from tangentlab.experiments.alignment import Alignment, computing, snapshots
from tangentlab.experiments.alignment.claims import choose_reading, claims
from tangentlab.experiments.alignment.results import (
    TABLE_1,
    Measured,
    Results,
    read_results,
)
from tangentlab.experiments.stages import opening

TOY = Alignment(
    num_samples=200,
    num_test=50,
    kernel_samples=60,
    num_modes=5,
    num_permutations=20,
    measure_at=(2,),
    recipe=tl.Recipe(epochs=4, batch_size=32),
)


def compute(root: Path) -> store.Run:
    """The run alone, without figures and page, which take longer."""
    with store.create(root, "alignment", TOY, resume=True) as folder:
        computing.run(TOY, folder, progress=False)
    return store.open_run(folder.final, {"alignment": type(TOY)})


class Interrupted(Exception):
    """As if somebody had pressed Ctrl-C."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that was interrupted while it measured, and went on from its snapshots."""
    root, whole = tmp_path_factory.mktemp("runs"), computing.Tracker.__call__
    steps = []

    def interrupted(tracker, step, params):
        steps.append(step)
        if len(steps) == 5:
            raise Interrupted
        return whole(tracker, step, params)

    def not_again(*_):
        raise AssertionError("a snapshot is written again")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(computing.Tracker, "__call__", interrupted)
        with pytest.raises(Interrupted):
            compute(root)
        patch.setattr(snapshots, "write_aside", not_again)
        ended = compute(root)
    assert steps == [0, 2, 4, 0, 2, 0, 2, 4]  # all samples, then the subset twice
    return ended


def test_every_field_of_the_config_is_read():
    sources = map(inspect.getsource, (computing, opening))
    source = "".join(sources)
    for field in dataclasses.fields(Alignment):
        assert re.search(rf"config\.{field.name}\b", source), field.name


def test_numbers_are_those_of_the_kernel_at_the_end(run):
    """Against a network trained, and a kernel measured, outside of the experiment."""
    dataset = opening.open_samples(TOY).dataset
    keys = opening.make_keys(42)
    model = tl.models.build("mlp", dataset.shape)
    params = model.init(keys.init)
    subset = tl.data.subset(dataset, 60, key=keys.subset)
    task = tl.tasks.cifar2(subset)
    labels = 2 * np.asarray(task.y[:60], np.float64) - 1
    history = tl.train(model, params, task, TOY.recipe, key=keys.batches)
    first, last = (
        np.asarray(tl.gram(model.apply, at, subset.x[:60]))
        for at in (params, history.params[0])
    )
    found = read_results(run).measured["subset"]
    wanted = [energy_concentration(K, labels, 5) for K in (first, last)]
    np.testing.assert_allclose(found.concentration[0, [0, -1]], wanted, rtol=1e-3)
    wanted = [centered_alignment(K, labels) for K in (first, last)]
    np.testing.assert_allclose(found.centered[0, [0, -1]], wanted, rtol=1e-3)
    raw = labels @ last.astype(float) @ labels / 60**2
    np.testing.assert_allclose(found.alignment[0, -1], raw, rtol=1e-3)
    trace = np.trace(last.astype(float)) / 60
    np.testing.assert_allclose(found.normalized[0, -1], raw / trace, rtol=1e-3)
    moved = kernel_distance(first, last)
    np.testing.assert_allclose(found.distance[0, -1], moved, rtol=1e-2)
    assert found.accuracy[0, -1] == pytest.approx(float(history.test_accuracy[0, -1]))


def test_curves_are_among_the_metrics(run):
    results, (_, *lines) = read_results(run), run.metrics()
    assert [line["epoch"] for line in lines] == [0, 2, 4] * 2
    for reading, measured in results.measured.items():
        own = [line for line in lines if line["trained_on"] == reading]
        shares = [line["energy_concentration"] for line in own]
        np.testing.assert_allclose(shares, measured.concentration[0])
        assert [line["velocity"] is None for line in own] == [True, False, False]
        assert own[0]["cka"] == pytest.approx(1) and own[2]["cka"] < 1


def test_both_readings_share_the_beginning_and_differ_at_the_end(run):
    results = read_results(run)
    assert results.epoch.tolist() == [0, 2, 4]
    whole, subset = results.measured["all"], results.measured["subset"]
    assert (whole.num_train, subset.num_train) == (150, 60)
    np.testing.assert_array_equal(whole.concentration[:, 0], subset.concentration[:, 0])
    assert (whole.concentration[:, -1] != subset.concentration[:, -1]).all()
    assert whole.permuted.shape == (1, 3, 20)
    report = EXPERIMENTS["alignment"].report(run)
    assert [row.cells[0] for row in report.console_table.rows] == [
        "150 samples",
        "150 samples",
        "60 samples",
        "60 samples",
    ]
    assert [claim.id for claim in report.claims] == ["D11"]
    names = [name for section in report.sections for name in section.figures]
    assert names == ["alignment", "motion", "rise"]


def measured(num_train, *, end, rise, accuracy, seeds=5, begin=0.26, noise=0.003):
    rng = np.random.default_rng(num_train)

    def around(value, size=(seeds, 1)):
        return value * (1 + noise * rng.normal(size=size))

    centered = np.hstack([around(0.02), around(0.02 * rise)])
    permuted = np.full((seeds, 2, 200), 0.01) * np.exp(
        0.1 * rng.normal(size=(seeds, 2, 200))
    )
    ones = np.ones((seeds, 2))
    return Measured(
        num_train=num_train,
        kernel_samples=12_000,
        accuracy=np.hstack([around(0.5), around(accuracy)]),
        trace=ones,
        participation_ratio=ones,
        alignment=centered,
        centered=centered,
        permuted=permuted,
        concentration=np.hstack([around(begin), around(end)]),
        distance=ones,
        velocity=ones,
    )


def results(
    *, end=0.64, rise=3.0, accuracy=0.68, begin=0.26, seeds=5, **changes
) -> Results:
    """Trained on the subset it is as given, trained on all samples all is higher."""
    same = {"rise": rise, "seeds": seeds, "begin": begin}
    values = {
        "data": "cifar10",
        "model": "mlp",
        "num_test": 10_000,
        "kernel_samples": 12_000,
        "num_modes": 50,
        "seeds": tuple(range(seeds)),
        "epoch": np.array([0, 200]),
        "measured": {
            "all": measured(50_000, end=0.9, accuracy=0.78, **same),
            "subset": measured(12_000, end=end, accuracy=accuracy, **same),
        },
    }
    return Results(**values | changes)


def verdicts(found: Results) -> dict[str, str]:
    return {claim.id: claim.verdict for claim in claims(found)}


def test_all_hold_where_all_is_true():
    assert verdicts(results()) == dict.fromkeys(("D7", "D8", "D11"), "confirmed")


def test_the_reading_is_chosen_by_the_beginning_and_the_accuracies():
    published = TABLE_1["mlp"]
    assert choose_reading(results(), published) == (False, "subset")
    rooted = results(begin=0.26**0.5, accuracy=0.9)
    assert choose_reading(rooted, published) == (True, "all")
    assert "12,000 samples, by the accuracies" in claims(results())[0].remark
    assert "its square" in claims(rooted)[0].remark


def test_networks_must_be_read_alike():
    small, again = claims(results()), claims(results(end=0.65))
    other = claims(results(accuracy=0.9))  # closest when trained on all samples
    for place in (0, 1):
        joined = join([small[place], again[place]], ["MLP", "LeNet"])
        assert joined.verdict == "confirmed"
        joined = join([small[place], other[place]], ["MLP", "LeNet"])
        assert joined.verdict == "inconclusive"
        assert "runs chose different readings (MLP: " in joined.remark
    rooted = claims(results(begin=0.26**0.5, end=0.64**0.5))
    joined = join([small[0], rooted[0]], ["MLP", "LeNet"])
    assert joined.verdict == "inconclusive"
    assert "LeNet: end, trained on 12,000, share of energy)" in joined.remark


@pytest.mark.parametrize(
    ("change", "claim"),
    [({"end": 0.8}, "D7"), ({"accuracy": 0.62}, "D8"), ({"rise": 0.7}, "D11")],
)
def test_each_is_refuted_where_it_is_false(change, claim):
    found = verdicts(results(**change))
    assert found.pop(claim) == "refuted"
    assert set(found.values()) == {"confirmed"}


def test_a_published_value_within_the_spread_over_seeds_is_met():
    spread = results()
    wide = dataclasses.replace(spread.measured["subset"])
    wide.concentration[:, -1] = [0.45, 0.6, 0.75, 0.9, 0.7]  # mean 0.68, sd 0.17
    found = dataclasses.replace(spread, measured=spread.measured | {"subset": wide})
    claim = claims(found)[0]
    assert claim.verdict == "confirmed"
    threshold = claim.findings[0].threshold
    assert threshold is not None and threshold.value > 0.4


def test_too_few_seeds_leave_it_open_and_the_permutation_test_needs_one():
    assert verdicts(results(seeds=3)) == dict.fromkeys(
        ("D7", "D8", "D11"), "inconclusive"
    )
    one = claims(results(seeds=1))
    assert {claim.verdict for claim in one} == {"inconclusive"}
    assert one[0].remark.startswith("one seed, a verdict takes 5; read as ")
    assert one[2].remark.endswith("the numbers alone would have it confirmed")
    assert verdicts(results(seeds=1, data="digits"))["D11"] == "confirmed"
    still = results(seeds=1, data="digits", rise=1.0)
    assert verdicts(still)["D11"] == "inconclusive"
    few = results(seeds=3, model="resnet18", end=0.96, begin=0.23, accuracy=0.8)
    assert verdicts(few) == dict.fromkeys(("D7", "D8", "D11"), "confirmed")


@pytest.mark.parametrize(
    "change", [{"data": "digits"}, {"kernel_samples": 2000}, {"num_modes": 10}]
)
def test_published_numbers_are_compared_with_the_same_measurement_only(change):
    assert list(verdicts(results(**change))) == ["D11"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernel_samples": 151}, r"kernel_samples must lie in 5\.\.150"),
        ({"num_modes": 61}, r"kernel_samples must lie in 61\.\.150"),
        ({"num_permutations": 0}, "num_permutations must be at least 1, got 0"),
        ({"train_on": ()}, "train_on must name all, subset or both"),
        ({"train_on": ("all", "all")}, "train_on must name all, subset or both"),
        ({"measure_at": (5,)}, r"measure_at must lie in 0\.\.4"),
        ({"recipe": tl.Recipe(batch_size=100)}, "A batch of 100 does not fit 60"),
    ],
)
def test_impossible_configs_raise_before_any_work(change, message, tmp_path):
    config = dataclasses.replace(TOY, **change)
    with pytest.raises(ValueError, match=message):
        perform(EXPERIMENTS, "alignment", config, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_all_samples_are_trained_on_once(tmp_path):
    config = dataclasses.replace(TOY, kernel_samples=None)
    dataset = opening.open_samples(config).dataset
    assert list(computing._plan(config, dataset).sets) == ["all"]
    assert computing._epochs(Alignment()) == (0, 1, 2, 5, 10, 20, 50, 100, 200)


@pytest.mark.slow
def test_a_training_that_diverges_is_refused(tmp_path):
    recipe = tl.Recipe(epochs=1, batch_size=32, learning_rate=1e30)
    config = dataclasses.replace(TOY, measure_at=None, train_on=("all",), recipe=recipe)
    with pytest.raises(ValueError, match="diverged for seed 42.*lower recipe.learning"):
        with store.create(tmp_path, "alignment", config) as folder:
            computing.run(config, folder, progress=False)


@pytest.mark.slow
def test_batch_statistics_of_the_kernel_are_a_choice(tmp_path, monkeypatch):
    config = dataclasses.replace(
        TOY,
        model="resnet18",
        num_samples=60,
        num_test=12,
        kernel_samples=20,
        measure_at=None,
        train_on=("all",),
        recipe=tl.Recipe(epochs=1, batch_size=16),
    )
    traces, parts = {}, {}
    watched, whole = Tracker.__call__, {}

    def caught(tracker, step, now):
        parts[choice, step] = now
        return watched(tracker, step, now)

    monkeypatch.setattr(Tracker, "__call__", caught)
    for choice in ("running", "initial"):
        chosen = dataclasses.replace(config, statistics=choice)
        with store.create(tmp_path, "alignment", chosen) as folder:
            computing.run(chosen, folder, progress=False)
            whole[choice] = folder.arrays("kernel-all-42")
        traces[choice] = whole[choice]["trace"]
    assert traces["running"][0] == traces["initial"][0]
    assert abs(traces["running"][1] / traces["initial"][1] - 1) > 0.01
    first, last = (parts["initial", step]["state"] for step in (0, 1))
    assert jax.tree.all(jax.tree.map(np.array_equal, first, last))
    moved = parts["running", 1]["state"]
    assert not jax.tree.all(jax.tree.map(np.array_equal, first, moved))
