"""The spectrum experiment against dense algebra in float64."""

import dataclasses
import inspect
import re
from functools import cache
from pathlib import Path

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.experiments import EXPERIMENTS, draw, perform
from tangentlab.experiments.spectrum import SpectrumStudy, computing, labels
from tangentlab.experiments.spectrum.results import read_results
from tangentlab.experiments.spectrum.tables import label_table, mode_table
from tangentlab.experiments.stages import opening
from tangentlab.experiments.stages.sharing import open_shared
from tangentlab.report.scenes import Scene

N = 120
TOY = SpectrumStudy(
    num_samples=N,
    num_test=40,
    num_random=4,
    precision="float64",
    gram_on_disk=False,
    seeds=2,
)
ONE = dataclasses.replace(TOY, seeds=1)


def compute(root: Path, config: SpectrumStudy) -> store.Run:
    """The run alone, without figures and page, which take longer."""
    with store.create(root, "spectrum", config, resume=True) as folder:
        computing.run(config, folder, progress=False)
    return store.open_run(folder.final, {"spectrum": SpectrumStudy})


class Interrupted(Exception):
    """As if somebody had pressed Ctrl-C."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that was interrupted in its second seed, and went on."""
    root, whole = tmp_path_factory.mktemp("runs"), computing._save_labels
    saved = []

    def interrupted(config, seed, found):
        saved.append(seed.number)
        if saved == [42, 43]:
            raise Interrupted
        whole(config, seed, found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(computing, "_save_labels", interrupted)
        with pytest.raises(Interrupted):
            compute(root, TOY)
        ended = compute(root, TOY)
    assert saved == [42, 43, 43]
    return ended


@cache
def dataset() -> tl.data.Dataset:
    return opening.open_samples(TOY).dataset


@cache
def dense_gram(seed: int) -> np.ndarray:
    samples = dataset()
    model = tl.models.build("mlp", samples.shape)
    params = model.init(opening.make_keys(seed).init)
    return np.asarray(tl.gram(model.apply, params, samples.x, precision="float64"))


def oracle(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and eigenvectors, the largest first."""
    lam, V = np.linalg.eigh(dense_gram(seed))
    return lam[::-1], V[:, ::-1]


def test_every_field_of_the_config_is_read():
    source = "".join(map(inspect.getsource, (computing, opening)))
    for field in dataclasses.fields(SpectrumStudy):
        assert re.search(rf"config\.{field.name}\b", source), field.name


@pytest.mark.parametrize("row", [0, 1])
def test_the_spectrum_is_that_of_the_dense_matrix(run, row):
    results = read_results(run)
    found, (lam, V) = results.found[row], oracle(results.seeds[row])
    np.testing.assert_allclose(found.eigenvalues, lam, rtol=1e-9)
    np.testing.assert_allclose(
        found.overlap, np.abs(V).sum(axis=0) / np.sqrt(N), rtol=1e-6
    )
    p = lam / lam.sum()
    assert found.effective_rank == pytest.approx(np.exp(-(p * np.log(p)).sum()))
    assert found.participation_ratio == pytest.approx(1 / (p**2).sum())
    assert found.trace == pytest.approx(lam.sum())
    assert found.captured == pytest.approx(1)
    slope = np.polyfit(np.log(np.arange(11, N // 2 + 1)), np.log(lam[10 : N // 2]), 1)
    assert found.law is not None
    assert (found.law.start, found.law.stop) == (10, N // 2)
    assert found.law.exponent == pytest.approx(-slope[0])
    assert found.mean_overlap == pytest.approx(found.overlap[1:].mean())
    counts = (found.num_negative, found.num_below_resolution, found.num_unconverged)
    assert counts == (0, 0, 0)
    assert results.is_whole and not results.is_approximate


def wanted_labels() -> tuple[list[str], np.ndarray]:
    """Half of the classes against the other, then each class against the rest."""
    samples = dataset()
    y = np.asarray(samples.y)
    columns = [y < 5, *(y == c for c in range(10))]
    return ["halved classes", *samples.names], np.where(columns, 1.0, -1.0).T


def test_energies_and_complexities_of_classes_are_those_of_a_dense_solve(run):
    results = read_results(run)
    names, signs = wanted_labels()
    assert list(results.names) == names and results.halved
    np.testing.assert_allclose(results.balance, (signs > 0).mean(axis=0))
    for row, seed in enumerate(results.seeds):
        _, V = oracle(seed)
        measured = results.classes[row]
        assert measured.energy.dtype == np.float32
        np.testing.assert_allclose(measured.energy, (V.T @ signs) ** 2 / N, atol=1e-7)
        solved = (signs * np.linalg.solve(dense_gram(seed), signs)).sum(axis=0)
        np.testing.assert_allclose(measured.complexity, solved, rtol=1e-7)
        np.testing.assert_allclose(measured.held, 1, rtol=1e-9)
    ratio = np.mean(
        [
            own.complexity[0] / drawn.complexity.mean()  # all modes are resolved
            for own, drawn in zip(results.classes, results.random, strict=True)
        ]
    )
    assert results.over_random(0) == pytest.approx(ratio)


def test_signs_of_an_eigenfunction_cost_something_else_than_the_eigenfunction(run):
    results = read_results(run)
    modes = results.modes
    assert len(modes.index) == 30 and modes.index[-1] == N - 1
    for row, seed in enumerate(results.seeds):
        (lam, V), K = oracle(seed), dense_gram(seed)
        phi = np.sqrt(N) * V[:, modes.index]
        np.testing.assert_allclose(modes.real[row], N / lam[modes.index], rtol=1e-9)
        solved = (phi * np.linalg.solve(K, phi)).sum(axis=0)
        np.testing.assert_allclose(modes.real[row], solved, rtol=1e-6)
        signs = np.where(phi > 0, 1.0, -1.0)
        solved = (signs * np.linalg.solve(K, signs)).sum(axis=0)
        np.testing.assert_allclose(modes.signs[row], solved, rtol=1e-6)
        leading = modes.index < 10
        assert (modes.signs[row] > 2 * modes.real[row])[leading].all()


def test_fewer_pairs_give_the_solve_restricted_to_them(tmp_path):
    config = dataclasses.replace(ONE, num_pairs=25)
    results = read_results(compute(tmp_path, config))
    lam, V = oracle(42)
    _, signs = wanted_labels()
    inside = (V[:, :25].T @ signs) ** 2
    measured = results.classes[0]
    wanted = (inside / lam[:25, None]).sum(axis=0)
    np.testing.assert_allclose(measured.complexity, wanted, rtol=1e-6)
    np.testing.assert_allclose(measured.held, inside.sum(axis=0) / N, rtol=1e-6)
    whole = (signs * np.linalg.solve(dense_gram(42), signs)).sum(axis=0)
    assert (measured.complexity < whole).all() and not results.is_whole
    rest = N * (1 - measured.held) / lam[24]
    np.testing.assert_allclose(measured.least, wanted + rest, rtol=1e-6)
    assert (measured.complexity < measured.least).all()
    assert (measured.least < whole).all()
    assert "lower bound" in mode_table(results).caption


def test_random_labels_hold_their_share_of_modes_and_are_the_same_for_all_seeds(run):
    results = read_results(run)
    samples = dataset()
    key = jax.random.fold_in(opening.make_keys(42).subset, 1)
    drawn = labels.random_labels(samples, 4, key=key).signs
    assert set(np.unique(drawn)) == {-1.0, 1.0}
    assert len(np.unique(drawn, axis=1).T) == 4
    for row, seed in enumerate(results.seeds):
        solved = (drawn * np.linalg.solve(dense_gram(seed), drawn)).sum(axis=0)
        np.testing.assert_allclose(results.random[row].complexity, solved, rtol=1e-6)
        half = results.random[row].within(N // 2)
        assert abs(half.mean() - 0.5) < 0.2
    assert np.isnan(results.random[0].within(N + 1)).all()


def test_an_interrupted_run_leaves_nothing_behind(run):
    assert {path.name for path in run.path.glob("*.npz")} == {
        f"{name}-{seed}.npz"
        for name in ("spectrum", "modes", "labels")
        for seed in (42, 43)
    }
    assert not (run.path / "work").exists()


def test_the_report_shows_the_numbers(run):
    outcome = draw(EXPERIMENTS, run.path)
    report, results = outcome.report, read_results(run)
    assert report.claims == ()
    shown = {k: f for section in report.sections for k, f in section.figures.items()}
    assert list(shown) == ["decay", "energy", "complexity", "overlap"]
    assert all(
        isinstance(figure, Scene) for figure in shown.values()
    )  # none is a picture
    for name in shown:
        assert (run.path / "figures" / f"{name}.png").is_file()
    rank = np.mean([each.effective_rank for each in results.found])
    assert report.highlights[0].value == f"{rank:.1f}"
    assert f"{rank:.1f}" in report.summary
    row = report.console_table.rows[2]
    assert row.cells[0] == 2
    assert row.cells[1] == pytest.approx(results.modes.eigenvalue[:, 2].mean())
    tables = [section.table for section in report.sections if section.table]
    spectra, named = tables
    assert [each.cells[0] for each in spectra.rows] == [42, 43]
    assert [each.cells[0] for each in named.rows][:2] == [
        "halved classes",
        "0 against the rest",
    ]
    assert named.rows[-1].cells[0] == "4 random, mean"
    assert named.rows[-1].cells[-1] == 1


def test_landmarks_approximate_the_leading_pairs(tmp_path):
    config = dataclasses.replace(ONE, landmarks=80, num_pairs=10, gram_on_disk=True)
    run = compute(tmp_path, config)
    results = read_results(run)
    (found,), (lam, _) = results.found, oracle(42)
    at = computing.choose_landmarks(config, N)
    assert len(set(at)) == 80 and (np.diff(at) > 0).all() and at.max() < N
    few = np.linalg.eigvalsh(dense_gram(42)[np.ix_(at, at)])[::-1][:10] * N / 80
    np.testing.assert_allclose(found.eigenvalues, few, rtol=1e-8)
    np.testing.assert_allclose(found.eigenvalues[:5], lam[:5], rtol=0.25)
    assert found.method == "nystrom" and found.orthogonality_error > 1e-6
    assert results.is_approximate and not results.is_whole
    report = EXPERIMENTS["spectrum"].report(run)
    assert "Nystrom" in report.sections[0].text
    assert "estimates" in report.console_table.caption


def test_modes_beyond_what_landmarks_resolve_are_dropped(tmp_path, monkeypatch):
    """As if the landmarks resolved the seven leading modes."""
    whole = computing.leading_pairs

    def coarse(K, num, epsilon):
        found = whole(K, num, epsilon)
        limit = float(np.mean(found.eigenvalues[6:8])) / 4
        return dataclasses.replace(found, resolution=limit)

    monkeypatch.setattr(computing, "leading_pairs", coarse)
    config = dataclasses.replace(ONE, landmarks=80)
    results = read_results(compute(tmp_path, config))
    assert len(results.found[0].eigenvalues) == 7
    assert results.modes.index.tolist() == list(range(7))


def test_pairs_are_shared_with_other_runs_of_the_folder(tmp_path):
    shared = open_shared(tmp_path)
    run = compute(tmp_path, dataclasses.replace(ONE, num_pairs=12))
    (path,) = shared.glob("spectrum-*-float64-12.npz")
    with np.load(path) as kept:
        np.testing.assert_array_equal(
            kept["eigenvalues"], run.arrays("spectrum-42")["eigenvalues"]
        )


def own_data(path: Path, num_classes: int) -> SpectrumStudy:
    """A run on the same images with this many classes."""
    x, names = np.asarray(dataset().x), np.array(list("abcdefghijk")[:num_classes])
    np.savez(path, x=x, y=np.arange(N) % num_classes, num_train=80, names=names)
    return dataclasses.replace(ONE, data=str(path), num_samples=None, num_test=None)


@pytest.mark.parametrize(
    ("num_classes", "names"), [(11, tuple("abcdefghijk")), (2, ("a",))]
)
def test_data_without_ten_classes_has_no_halves(num_classes, names, tmp_path):
    config = own_data(tmp_path / "own.npz", num_classes)
    samples = opening.open_samples(config).dataset
    made = labels.class_labels(samples)
    assert made.names == names and not made.halved
    np.testing.assert_array_equal(made.signs[:, 0] > 0, np.asarray(samples.y) == 0)


def test_data_of_a_single_class_has_a_report(tmp_path):
    run = compute(tmp_path / "runs", own_data(tmp_path / "own.npz", 1))
    results = read_results(run)
    assert results.names == () and not results.halved
    report = EXPERIMENTS["spectrum"].report(run)
    assert "times as complex" not in report.summary
    assert len(label_table(results).rows) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_pairs": 1}, r"num_pairs must lie in 2\.\.120 .*120 samples\): 1\."),
        ({"num_pairs": 121}, r"num_pairs must lie in 2\.\.120"),
        ({"landmarks": 121}, r"landmarks must lie in 4\.\.120 .*got 121"),
        ({"landmarks": 3}, r"landmarks must lie in 4\.\.120"),
        ({"landmarks": 30, "num_pairs": 31}, r"2\.\.30 \(there are 30 landmarks\): 31"),
        ({"num_random": 1}, "num_random must be at least 2.*got 1"),
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
    ],
)
def test_impossible_configs_raise_before_any_work(change, message, tmp_path):
    config = dataclasses.replace(TOY, **change)
    with pytest.raises(ValueError, match=message):
        perform(EXPERIMENTS, "spectrum", config, tmp_path)
    assert list(tmp_path.iterdir()) == []
