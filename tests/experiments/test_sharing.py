"""Runs of one folder share spectra and trained networks, and nothing else."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.experiments.stages import shared_networks, shared_spectra
from tangentlab.experiments.stages.opening import make_keys
from tangentlab.experiments.stages.seeds import Seed
from tangentlab.experiments.stages.shared_networks import share_networks, train_once
from tangentlab.experiments.stages.shared_spectra import find_pairs, leading_pairs
from tangentlab.experiments.stages.sharing import open_shared, shared_folder
from tangentlab.kernels.request import ERRORS

RECIPE = tl.Recipe(epochs=2, batch_size=10)


@pytest.fixture
def seed(tmp_path):
    model, keys = tl.models.build("mlp", (3,)), make_keys(0)
    x = np.asarray(jax.random.normal(keys.subset, (24, 3)), np.float32)
    dataset = tl.data.Dataset(x, np.zeros(24, np.int32), ("any",), 20)
    folder = store.RunFolder(tmp_path / "now", tmp_path / "then")
    return Seed(0, model, model.init(keys.init), dataset, keys.batches, folder)


def task(seed, number):
    labels = np.random.default_rng(number).integers(0, 2, len(seed.dataset.x))
    return tl.tasks.from_labels(seed.dataset, labels.astype(bool))


def learn(seed, *numbers, recipe=RECIPE):
    options = {"key": seed.key, "checkpoint": seed.work("states")}
    return train_once(seed, [task(seed, n) for n in numbers], recipe, options)


@pytest.fixture
def trained(monkeypatch):
    """How many tasks each training had."""
    counts, whole = [], shared_networks.train_tasks

    def counted(seed, tasks, *rest):
        counts.append(len(tasks))
        return whole(seed, tasks, *rest)

    monkeypatch.setattr(shared_networks, "train_tasks", counted)
    return counts


def test_a_task_is_trained_once_and_ends_as_if_trained_alone(seed, trained, tmp_path):
    alone = learn(seed, 1, 2, 3)
    assert not shared_folder(seed.folder) and trained == [3]
    open_shared(tmp_path)
    learn(seed, 1, 2)
    both = learn(seed, 3, 2, 1)
    assert trained == [3, 2, 1]
    for field in dataclasses.fields(alone):
        wanted, got = getattr(alone, field.name), getattr(both, field.name)
        if wanted is None:
            assert got is None
            continue
        turned = got[::-1]
        for a, b in zip(jax.tree.leaves(wanted), jax.tree.leaves(turned), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert jax.tree.structure(both.params[0]) == jax.tree.structure(seed.params)
    left = {path.suffix for path in (tmp_path / ".shared").iterdir()}
    assert left == {".npz", ".lock"}  # states of training are gone


def test_of_two_that_miss_the_same_tasks_one_trains(seed, trained, tmp_path):
    open_shared(tmp_path)
    with ThreadPoolExecutor(2) as both:  # locks are of open files, not of processes
        made = [both.submit(learn, seed, 1, 2) for _ in range(2)]
        first, second = (one.result() for one in made)
    assert trained == [2]
    np.testing.assert_array_equal(first.outputs, second.outputs)


@pytest.mark.parametrize(
    "other",
    [
        {"key": jax.random.key(7)},
        {"params": "doubled"},
        {"model": "gelu"},
        {"dataset": "moved"},
        {"recipe": tl.Recipe(epochs=3, batch_size=10)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_nothing_is_taken_for_what_it_is_not(seed, trained, tmp_path, other):
    open_shared(tmp_path)
    learn(seed, 1)
    made = {
        "doubled": lambda: jax.tree.map(lambda leaf: 2 * leaf, seed.params),
        "gelu": lambda: tl.models.build("mlp", (3,), activation="gelu"),
        "moved": lambda: dataclasses.replace(seed.dataset, x=seed.dataset.x + 1),
    }
    recipe = other.pop("recipe", RECIPE)
    fields = {
        name: made[value]() if isinstance(value, str) else value
        for name, value in other.items()
    }
    learn(dataclasses.replace(seed, **fields), 1, recipe=recipe)
    assert trained == [1, 1]


def test_networks_trained_for_more_are_there_for_others(seed, trained, tmp_path):
    history = learn(seed, 4)
    share_networks(seed, [task(seed, 4)], RECIPE, history)  # nobody shares: no effect
    open_shared(tmp_path)
    share_networks(seed, [task(seed, 4)], RECIPE, history)
    np.testing.assert_array_equal(learn(seed, 4).outputs, history.outputs)
    assert trained == [1]


def test_fewer_pairs_are_taken_from_a_spectrum_that_has_more(
    seed, tmp_path, monkeypatch
):
    K = tl.gram(seed.model.apply, seed.params, seed.dataset.x)
    open_shared(tmp_path)
    whole = find_pairs(seed, K, 24, "float32")
    monkeypatch.setattr(shared_spectra, "leading_pairs", None)
    few = find_pairs(seed, K, 6, "float32")
    np.testing.assert_array_equal(few.eigenvectors, whole.eigenvectors[:, :6])
    assert len(few.eigenvalues) == len(few.residuals) == len(few.unresolved) == 6
    assert few.trace == whole.trace and few.method == whole.method
    lam = np.asarray(whole.eigenvalues)
    assert whole.num_below_resolution == (lam < whole.resolution).sum()
    assert few.num_below_resolution == (lam[:6] < whole.resolution).sum()
    monkeypatch.setattr(shared_spectra, "leading_pairs", leading_pairs)
    find_pairs(seed, K, 6, "high")  # another precision is another matrix
    names = [path.stem for path in (tmp_path / ".shared").glob("spectrum-*")]
    ends = sorted(name.split("-", 2)[2] for name in names)
    assert ends == ["float32-24", "high-6"]


def test_what_is_resolved_follows_the_precision_of_the_gram_matrix(
    seed, tmp_path, monkeypatch
):
    """On an accelerator, and not by what a run on a CPU has left."""
    K = tl.gram(seed.model.apply, seed.params, seed.dataset.x)
    open_shared(tmp_path)
    exact = find_pairs(seed, K, 24, "fast")
    assert exact.resolution == find_pairs(seed, K, 24, "float32").resolution
    monkeypatch.setattr(shared_spectra, "backend", lambda: "gpu")
    largest = exact.eigenvalues[0]
    for _ in ("computed", "read"):
        for precision, error in ERRORS.items():
            found = find_pairs(seed, K, 24, precision)
            assert found.resolution == pytest.approx(error * largest)
            below = (exact.eigenvalues < error * largest).sum()
            assert found.num_below_resolution == below
    assert find_pairs(seed, K, 24, "float32").resolution == exact.resolution
