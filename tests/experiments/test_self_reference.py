import dataclasses
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.experiments import EXPERIMENTS, perform
from tangentlab.experiments.self_reference import (
    EXPERIMENT,
    SelfReference,
    computing,
    sources,
)
from tangentlab.experiments.self_reference.claims import claims
from tangentlab.experiments.self_reference.results import Results, read_results
from tangentlab.experiments.stages import opening
from tangentlab.experiments.stages.opening import make_keys
from tangentlab.experiments.stages.seeds import Seed
from tests.helpers import last_scales

TOY = SelfReference(
    num_samples=160,
    num_test=40,
    indices=(1, 12, 60),
    recipe=tl.Recipe(epochs=2, batch_size=60),
    gram_on_disk=False,
)


def compute(config: SelfReference, root: Path) -> store.Run:
    with store.create(root, "self_reference", config) as folder:
        computing.run(config, folder, progress=False)
    return store.open_run(folder.final, {"self_reference": SelfReference})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return compute(TOY, tmp_path_factory.mktemp("runs"))


def test_every_field_of_the_config_is_read():
    source = "".join(map(inspect.getsource, (computing, opening)))
    for field in dataclasses.fields(SelfReference):
        assert re.search(rf"config\.{field.name}\b", source), field.name


@pytest.mark.parametrize("pair", [("mlp", "resnet18"), ("resnet18", "lenet")])
def test_the_last_scale_is_that_of_the_resnet18(pair, tmp_path, monkeypatch):
    met = {}

    def meet(other, seed, *of):
        met[seed.model.name], met[other.model.name] = seed.params, other.params
        none = np.zeros((1, 1), bool)
        return sources.Labels(none, none[0], none[0])

    monkeypatch.setattr(computing, "labels_of_other", meet)
    for later in ("_compute_own", "_job", "learn_network", "_log"):
        monkeypatch.setattr(computing, later, lambda *of: None)
    model, other = pair
    change = {"model": model, "other_model": other, "last_scale": 0.5}
    compute(dataclasses.replace(TOY, **change), tmp_path)
    assert set(met) == set(pair)
    assert last_scales(met["resnet18"]) == {0.5}


@pytest.mark.slow
def test_labels_come_from_the_kernels_they_are_said_to(run):
    """Against Gram matrices of the obvious route, up to the sign of a vector."""
    dataset = opening.open_samples(TOY).dataset
    m, index = dataset.num_train, list(TOY.indices or ())

    def kernel(name: tl.models.ModelName, seed: int) -> np.ndarray:
        model = tl.models.build(name, dataset.shape)
        params = model.init(opening.make_keys(seed).init)
        J = np.asarray(tl.jacobian(model.apply, params, dataset.x), np.float64)
        J = J.reshape(len(J), -1)
        return J @ J.T

    own = kernel("mlp", 42)
    expected = {
        "own": np.linalg.eigh(own)[1][:, ::-1],
        "seed": np.linalg.eigh(kernel("mlp", 42 + sources.APART))[1][:, ::-1],
        "architecture": np.linalg.eigh(kernel("lenet", 42))[1][:, ::-1],
    }
    lam, V = np.linalg.eigh(own[:m, :m])
    expected["training"] = own[:, :m] @ (V / lam)[:, ::-1]
    for source, values in expected.items():
        labels = run.arrays(f"labels-{source}-42")["y"]
        same = (labels == (values[:, index] > 0).T).mean(axis=1)
        np.testing.assert_allclose(np.maximum(same, 1 - same), 1, atol=0.02)


@pytest.mark.slow
def test_all_sources_are_learned_from_one_start(run):
    results = read_results(run)
    assert results.network.shape == results.linearized.shape == (1, 4, 3)
    np.testing.assert_array_equal(results.agreement[:, 0], 1)
    assert (results.agreement[:, 1:] < 1).all()
    report = EXPERIMENT.report(run)
    assert len(report.console_table.rows) == 4
    assert [claim.id for claim in report.claims] == ["E12"]
    figures = [name for section in report.sections for name in section.figures]
    assert figures == ["sources", "indices"]


def test_what_rounding_hides_is_missing_and_not_learned_from(tmp_path):
    n, m = 30, 20
    V, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))
    K = ((V[:, :5] * np.array([9.0, 7, 5, 3, 1])) @ V[:, :5].T).astype(np.float32)
    x = np.zeros((n, 2), np.float32)
    dataset = tl.data.Dataset(x, np.zeros(n, np.int32), ("any",), m)
    model, keys = tl.models.build("mlp", (2,)), make_keys(0)
    folder = store.RunFolder(tmp_path / "now", tmp_path / "then")
    seed = Seed(0, model, model.init(keys.init), dataset, keys.batches, folder)
    for labels in (
        sources.labels_of(seed, K, [1, 12], "float32"),
        sources.labels_extended(K, dataset, [1, 12]),
    ):
        assert labels.missing.tolist() == [False, True]
        assert labels.y[0].any() and not labels.y[1].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": (1, 130)}, r"0\.\.119"),
        ({"other_model": "mlp"}, "another architecture than model, got 'mlp' for both"),
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
        ({"last_scale": 0.5}, "of which mlp has none"),
        ({"recipe": tl.Recipe(batch_size=121)}, "A batch of 121 does not fit 120"),
        ({"recipe": tl.Recipe(optimizer="adam")}, "'adam' depends on the coordinates"),
    ],
)
def test_impossible_configs_raise_before_any_work(change, message, tmp_path):
    config = dataclasses.replace(TOY, **change)
    with pytest.raises(ValueError, match=message):
        perform(EXPERIMENTS, "self_reference", config, tmp_path)
    assert list(tmp_path.iterdir()) == []


def results(leads=(0.1, 0.05, 0.03, 0.1), noise=0.005, num=5, **changes) -> Results:
    """The linearization leads by `leads`, one for each source."""
    rng = np.random.default_rng(0)
    index = np.array([1, 10, 50, 100, 200])
    shape = (num, 4, len(index))
    network = 0.7 + 0.05 * rng.normal(size=shape)
    lead = np.array(leads)[None, :, None] + noise * rng.normal(size=shape)
    values = {
        "data": "cifar10",
        "model": "mlp",
        "names": ("own", "seed", "architecture", "training"),
        "num_train": 1000,
        "num_test": 200,
        "seeds": tuple(range(num)),
        "index": index,
        "network": network,
        "linearized": network + lead,
        "diverged": np.zeros(shape, bool),
        "usable": np.ones(shape, bool),
        "agreement": np.full(shape, 0.6),
    }
    return Results(**values | changes)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, "confirmed"),
        ({"leads": (0.1, -0.04, 0.0, 0.1)}, "refuted"),
        ({"leads": (0.1, 0.0, 0.0, 0.1), "noise": 0.05}, "inconclusive"),
        ({"num": 3}, "inconclusive"),
        ({"num": 3, "model": "resnet18"}, "confirmed"),
        ({"num": 1}, "inconclusive"),
        ({"num": 1, "data": "digits"}, "confirmed"),
    ],
)
def test_only_labels_of_another_initialization_are_judged(change, verdict):
    (claim,) = claims(results(**change))
    assert (claim.id, claim.verdict) == ("E12", verdict)
    assert claim.findings[0].name == "labels of seed"
    for finding in claim.findings:
        assert (finding.threshold is None) == (finding.verdict is None)


def test_indices_that_one_source_lacks_are_left_out_with_all():
    usable = np.ones((5, 4, 5), bool)
    usable[:, 3, 2] = False
    found = results(usable=usable)
    wild = found.linearized.copy()
    wild[:, :, 2] = 0.0
    wild[:, :, 0] = 0.0  # below the first index that counts
    (claim,) = claims(dataclasses.replace(found, linearized=wild))
    assert claim.verdict == "confirmed"
    none = np.zeros((5, 4, 5), bool)
    (claim,) = claims(results(usable=none))
    assert claim.verdict == "inconclusive" and "0 tasks of use" in claim.remark
