import dataclasses
import inspect
import re
from pathlib import Path

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.analysis import gram_alignment
from tangentlab.experiments import EXPERIMENTS, perform
from tangentlab.experiments.rotation import Rotation, computing
from tangentlab.experiments.rotation.claims import claims
from tangentlab.experiments.rotation.results import (
    Results,
    Turned,
    read_quotients,
    read_results,
)
from tangentlab.experiments.stages import modes, opening, shared_spectra
from tangentlab.kernels import active, energies, planning
from tangentlab.report.claims import findings_text

TOY = Rotation(
    num_samples=150,
    num_test=50,
    indices=(6, 12),
    recipe=tl.Recipe(epochs=3, batch_size=32),
    num_modes=40,
    gram_on_disk=False,
)


def compute(root: Path, config: Rotation = TOY) -> store.Run:
    """The run alone, without figures and page, which take longer."""
    with store.create(root, "rotation", config, resume=True) as folder:
        computing.run(config, folder, progress=False)
    return store.open_run(folder.final, {"rotation": Rotation})


class Interrupted(Exception):
    """As if somebody had pressed Ctrl-C."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that was interrupted between its tasks, and went on."""
    root, whole = tmp_path_factory.mktemp("runs"), computing._turn
    turned = []

    def interrupted(config, seed, index, *rest):
        turned.append(index)
        if turned == [6, 12]:
            raise Interrupted
        whole(config, seed, index, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(computing, "_turn", interrupted)
        with pytest.raises(Interrupted):
            compute(root)
        patch.setattr(computing, "_decompose", None)  # nothing to be done again
        ended = compute(root)
    assert turned == [6, 12, 12]
    return ended


def test_every_field_of_the_config_is_read():
    sources = map(inspect.getsource, (computing, modes, opening))
    source = "".join(sources)
    for field in dataclasses.fields(Rotation):
        assert re.search(rf"config\.{field.name}\b", source), field.name


def test_modes_of_another_activation_are_measured_with_the_own_kernel(tmp_path):
    config = dataclasses.replace(TOY, indices=(6,), label_activation="tanh")
    run = compute(tmp_path, config)
    dataset = opening.open_samples(config).dataset
    relu, tanh = (
        tl.models.build("mlp", dataset.shape, activation=name)
        for name in ("relu", "tanh")
    )
    params = relu.init(opening.make_keys(42).init)
    K, L = (np.asarray(tl.gram(m.apply, params, dataset.x)) for m in (relu, tanh))
    V = np.linalg.eigh(L.astype(np.float64))[1][:, ::-1][:, :10]
    quotients = np.einsum("ij,ik,kj->j", V, K, V)
    before = read_quotients(run, 42, 6, "all").before[:10]
    np.testing.assert_allclose(before, quotients, rtol=1e-3)


def test_quotients_are_those_of_the_kernel_before_and_after(run):
    """Against dense Gram matrices of a network trained outside of the experiment."""
    dataset = opening.open_samples(TOY).dataset
    model = tl.models.build("mlp", dataset.shape)
    keys = opening.make_keys(42)
    params, x = model.init(keys.init), dataset.x
    before = np.asarray(tl.gram(model.apply, params, x), np.float64)
    found = read_quotients(run, 42, 6, "all")
    lam, vectors = np.linalg.eigh(before)
    V = vectors[:, ::-1][:, :40]
    np.testing.assert_allclose(found.before, lam[::-1][:40], rtol=1e-4)
    labels = run.arrays("tasks-42")["labels"]
    assert abs(np.mean(labels[0] == (V[:, 6] > 0)) - 0.5) == 0.5  # up to sign
    task = tl.tasks.from_labels(dataset, labels[0])
    history = tl.train(model, params, task, TOY.recipe, key=keys.batches)
    after = np.asarray(tl.gram(model.apply, history.params[0], x), np.float64)
    for part, rows in {
        "all": slice(None),
        "train": slice(100),
        "test": slice(100, None),
    }.items():
        cut = V[rows]
        for K, name in ((before, "before"), (after, "after")):
            wanted = np.einsum("nk,nm,mk->k", cut, K[rows, rows], cut)
            got = getattr(read_quotients(run, 42, 6, part), name)
            np.testing.assert_allclose(got, wanted / (cut**2).sum(0), rtol=2e-3)


def test_on_a_gpu_gradients_meet_modes_and_there_is_no_gram_matrix(
    tmp_path, monkeypatch, run
):
    for module in (computing, energies, planning, active):
        monkeypatch.setattr(module, "backend", lambda: "gpu")
    monkeypatch.setattr(computing, "trained_gram", None)
    monkeypatch.setattr(computing, "is_cheaper", lambda *args: True)
    taken, plain = [], energies.energies

    def counted(*args):
        taken.append(args)
        return plain(*args)

    monkeypatch.setattr(energies, "energies", counted)
    streamed = compute(tmp_path)
    assert len(taken) == len(TOY.indices or ())
    for index in TOY.indices or ():
        for part in computing.PARTS:
            found = read_quotients(streamed, 42, index, part).after
            wanted = read_quotients(run, 42, index, part).after
            np.testing.assert_allclose(found, wanted, rtol=1e-4)


def test_the_report_ranks_the_learned_mode_among_its_neighbors(run):
    results = read_results(run)
    found = read_quotients(run, 42, 12, "all")
    gains = found.after / found.before
    near = [k for k in range(40) if 12 / 1.25 <= k <= 12 * 1.25 and k != 12]
    assert results.turned["all"].num_neighbors[0, 1] == len(near) == 5
    rank = 1 + int((gains[near] > gains[12]).sum())
    assert results.turned["all"].rank[0, 1] == rank
    report = EXPERIMENTS["rotation"].report(run)
    assert report.console_table.rows[1].cells[-1] == f"{rank} of 6"
    names = [name for section in report.sections for name in section.figures]
    assert names == ["growth", "alignment"]


def test_the_claim_can_be_judged_again_from_the_details(run):
    report = EXPERIMENTS["rotation"].report(run)
    assert [(each["seed"], each["index"]) for each in report.details] == [
        (42, 6),
        (42, 12),
    ]
    largest = max(each["exceeded_by_all"] for each in report.details)
    (judged, *_) = report.claims[0].findings
    assert judged.estimate.value == largest
    growth = [each["growth_test"] for each in report.details]
    assert growth == [row.cells[4] for row in report.console_table.rows]


def test_an_interrupted_run_leaves_nothing_behind(run):
    names = {path.name for path in run.path.glob("*.npz")}
    assert names == {
        f"{name}-42.npz"
        for name in ("spectrum", "tasks", "before", "network", "rotation-6")
    } | {"rotation-12-42.npz"}
    assert not (run.path / "work").exists()


def results(shares, *, model="mlp", data="digits") -> Results:
    """Results in which these shares of neighbors grew as much as what was learned."""
    shares = np.asarray(shares, float)
    s, t = shares.shape
    turned = Turned(
        score=np.full((s, t), 2.0),
        neighbor_score=np.full((s, t), 3.0),
        rank=1 + (shares * 40).astype(int),
        num_neighbors=np.full((s, t), 40),
        exceeded_by=shares,
        neighbors=np.ones((s, t, 3)),
    )
    return Results(
        data=data,
        model=model,
        num_train=100,
        num_test=50,
        seeds=tuple(range(s)),
        index=np.arange(9, 9 + t),
        accuracy=np.full((s, t), 0.7),
        loss=np.full((s, t), 0.1),
        degenerate=np.zeros((s, t), bool),
        diverged=np.zeros((s, t), bool),
        turned=dict.fromkeys(("all", "train", "test"), turned),
    )


@pytest.mark.parametrize(
    ("shares", "verdict"),
    [
        (np.zeros((1, 6)), "confirmed"),
        (np.full((5, 6), 0.05), "confirmed"),  # one of twenty is in the top 5 %
        (np.full((1, 6), 0.5), "refuted"),
        (np.pad(np.full((5, 1), 0.3), ((0, 0), (5, 0))), "refuted"),  # for every j
        ([[0, 0, 0, 0, 0, 0.3]], "inconclusive"),  # one task of six
        (np.pad([[0.0], [0.0], [0.0], [0.0], [0.4]], ((0, 0), (5, 0))), "inconclusive"),
        (np.zeros((1, 4)), "inconclusive"),
        (np.zeros((3, 6)), "confirmed"),
    ],
)
def test_the_claim_follows_from_the_shares(shares, verdict):
    (claim,) = claims(results(shares))
    assert (claim.id, claim.verdict) == ("D10", verdict)


def test_shares_of_neighbors_read_as_such():
    (claim,) = claims(results(np.full((5, 6), 0.05)))
    assert findings_text(claim) == "; ".join(
        f"largest share of neighbors, {part} samples 5 %"
        for part in ("all", "train", "test")
    )


def test_too_small_a_run_says_why():
    assert "4 tasks of use, at least 5" in claims(results(np.zeros((1, 4))))[0].remark
    (few,) = claims(results(np.zeros((3, 6)), data="cifar10"))
    assert few.verdict == "inconclusive" and "3 seeds" in few.remark
    (enough,) = claims(results(np.zeros((3, 6)), data="cifar10", model="resnet18"))
    assert enough.verdict == "confirmed"


def test_degenerate_tasks_and_those_without_neighbors_are_left_out():
    whole = results(np.pad(np.full((1, 2), 0.9), ((0, 0), (5, 0))))
    degenerate = whole.degenerate.copy()
    degenerate[0, 5] = True
    turned = dataclasses.replace(
        whole.turned["all"], num_neighbors=np.array([[4] * 6 + [0]])
    )
    clean = dataclasses.replace(
        whole, degenerate=degenerate, turned=dict.fromkeys(whole.turned, turned)
    )
    assert claims(whole)[0].verdict != "confirmed"
    assert claims(clean)[0].verdict == "confirmed"


def test_modes_that_rounding_hides_are_told_before_training_and_after(
    tmp_path, monkeypatch, run
):
    lam = run.arrays("spectrum-42")["eigenvalues"]
    monkeypatch.setattr(shared_spectra, "error_of", lambda *args: lam[9] / lam[0])
    monkeypatch.setattr(computing, "train_networks", None)
    told = "Eigenfunction 12 has an eigenvalue below .* 'float32'.* --precision float64"
    with pytest.warns(UserWarning, match=told), pytest.raises(TypeError):
        compute(tmp_path, TOY)
    monkeypatch.undo()
    found = compute(tmp_path, TOY)  # what was decomposed is there
    rows = EXPERIMENTS["rotation"].report(found).console_table.rows
    assert [row.flag for row in rows] == [
        "",
        "below what the Gram matrix resolves",
    ]
    assert [row.cells[-1] for row in rows] == ["1 of 3", "–"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_modes": 14}, r"num_modes must lie in 16\.\.150.*neighbors up to 15"),
        ({"num_samples": 16, "num_test": 4, "indices": None}, "16 samples are too few"),
        ({"indices": (150,)}, r"0\.\.149"),
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
        ({"recipe": tl.Recipe(batch_size=101)}, "A batch of 101 does not fit 100"),
    ],
)
def test_impossible_configs_raise_before_any_work(change, message, tmp_path):
    few = dataclasses.replace(TOY, recipe=tl.Recipe(batch_size=8))
    config = dataclasses.replace(few, **change)
    with pytest.raises(ValueError, match=message):
        perform(EXPERIMENTS, "rotation", config, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("statistics", ["running", "initial"])
def test_batch_statistics_of_the_trained_kernel_are_a_choice(
    statistics, tmp_path, monkeypatch
):
    config = dataclasses.replace(
        TOY,
        model="resnet18",
        num_samples=40,
        num_test=8,
        indices=(4,),
        num_modes=8,
        statistics=statistics,
        recipe=tl.Recipe(epochs=1, batch_size=16),
    )
    turned, whole = [], computing._turn

    def caught(config, seed, index, end, vectors):
        turned.append((seed, end, vectors))
        whole(config, seed, index, end, vectors)

    monkeypatch.setattr(computing, "_turn", caught)
    found = compute(tmp_path, config).arrays("rotation-4-42")["all"]
    ((seed, end, vectors),) = turned
    model, x = seed.model, seed.dataset.x
    initial = model.init_state()
    moved = not jax.tree.all(jax.tree.map(np.array_equal, end.state, initial))
    assert moved == (statistics == "running")
    frozen = model.freeze(end.state) if moved else model.apply
    K = tl.gram(frozen, end.params, x, precision="float64")
    expected = gram_alignment(K, vectors).rayleigh
    np.testing.assert_allclose(found, expected, rtol=1e-2)
    others = (
        model.apply if moved else model.freeze(jax.tree.map(lambda a: 2 * a, initial))
    )
    K = tl.gram(others, end.params, x, precision="float64")
    assert (np.abs(found / gram_alignment(K, vectors).rayleigh - 1) > 0.1).any()
