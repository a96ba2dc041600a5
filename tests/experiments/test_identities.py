"""Identities hold on real networks, and their claims can come out either way."""

import dataclasses
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab import store
from tangentlab.experiments.identities import EXPERIMENT, Identities, computing
from tangentlab.experiments.identities.activity import (
    _active,
    _by_layer,
    count_active,
    part_of,
)
from tangentlab.experiments.identities.batch_norm import second_difference
from tangentlab.experiments.identities.claims import claims, in_standard_errors
from tangentlab.experiments.identities.lemma import check_lemma
from tangentlab.experiments.identities.results import (
    Active,
    Frozen,
    Lemma,
    Results,
    Theorem,
)
from tangentlab.experiments.identities.theorem import check_theorem, smooth_directions
from tangentlab.experiments.stages.opening import make_keys, open_samples, open_seeds

TOY = Identities(
    num_samples=40,
    num_modes=6,
    num_draws=256,
    resnet_width=2,
    image_size=16,
    num_images=3,
)


@pytest.fixture(scope="module")
def seed(tmp_path_factory):
    """One initialization on few digits, with a folder that stays open."""
    with store.create(tmp_path_factory.mktemp("runs"), "identities", TOY) as folder:
        samples = open_samples(TOY).dataset
        yield next(iter(open_seeds(TOY, samples, folder, progress=False)))


def test_every_field_of_the_config_is_read():
    source = Path(computing.__file__).read_text()
    shared = {"data", "directory", "num_test", "model", "activation", "last_scale"}
    for field in dataclasses.fields(Identities):
        read = re.search(rf"config\.{field.name}\b|\"{field.name}\"", source)
        assert read or field.name in shared, field.name


def test_lemma_holds_on_a_network(seed):
    check_lemma(seed, 6, key=make_keys(1).subset)
    found = seed.load("lemma")
    slack = found["squared"] / found["bound"] - 1
    equal = found["kind"] == "eigenvector"
    assert equal.sum() == 6
    assert np.abs(slack[equal]).max() < 1e-10
    assert slack[~equal].min() > 1e-3
    np.testing.assert_allclose(found["by_gradients"], found["by_gram"], rtol=1e-10)
    assert found["outside"].max() < 1e-10
    check_lemma(seed, 6, key=make_keys(1).subset)  # is there, and is not done again


def test_theorem_is_measured_along_smooth_directions(seed):
    check_theorem(seed, 256, key=make_keys(1).subset)
    found = seed.load("theorem")
    assert found["alignment"].shape == (2,)
    assert (found["derivative"] > 0).all()
    distances = np.abs(found["difference"]) / found["difference_error"]
    assert (distances < 5).all()


@pytest.mark.parametrize("shape", [(8, 6, 3), (5, 7, 1), (9,)])
def test_smooth_directions_are_unit_and_orthogonal(shape):
    both = smooth_directions(shape)
    flat = both.reshape(2, -1)
    np.testing.assert_allclose(flat @ flat.T, np.eye(2), atol=1e-6)
    assert both.shape == (2, *shape)


def test_second_difference_tells_affine_from_bent():
    x = jnp.array([[1.0, 2.0]])
    start, steps = jnp.array([[1.0], [0.5]]), (jnp.ones((2, 1)), jnp.eye(2)[:, :1])

    def affine(w, x):
        return 3.0 + x @ w

    def bent(w, x):
        return (x @ w) ** 2

    assert second_difference(affine, start, steps, x) < 1e-15
    assert second_difference(bent, start, steps, x) == pytest.approx(6 / 32)


def test_activity_counts_what_is_outside_of_the_branches():
    x = np.random.default_rng(0).normal(size=(2, 16, 16, 3)).astype(np.float32)
    params = tl.models.resnet18(x.shape[1:], width=2).init(jax.random.key(0))
    found = _by_layer(_active(params, x, "gelu", width=2))
    inside = {name for name in found if part_of(name) == "inside the branches"}
    assert len(inside) == 24
    for name, (active, total) in found.items():
        assert active == (0 if name in inside else total), name


@pytest.mark.slow
def test_published_resnet18_has_as_many_active_parameters_as_was_counted(seed):
    x = np.random.default_rng(0).normal(size=(64, 16, 16, 3)).astype(np.float32)
    count_active(seed, x)
    found = seed.load("active")
    assert found["gelu"].sum() == 180_033
    assert found["relu"].sum() < 180_033
    assert found["total"].sum() == 11_169_345


@pytest.mark.slow
def test_a_whole_run_and_its_report(tmp_path):
    with store.create(tmp_path, "identities", TOY) as folder:
        computing.run(TOY, folder, progress=False)
    run = store.open_run(folder.final, {"identities": Identities})
    report = EXPERIMENT.report(run)
    verdicts = {claim.id: claim.verdict for claim in report.claims}
    assert verdicts["D15"] == verdicts["D16"] == verdicts["D22"] == "confirmed"
    assert verdicts["D17"] == verdicts["D23"] == "inconclusive"  # few draws, inputs
    figures = [name for section in report.sections for name in section.figures]
    assert figures == ["errors", "lemma", "theorem", "active", "overlap"]
    frozen = run.arrays("frozen-42")
    assert frozen["network"] > 1e-3 and frozen["network_beside"] > 1e-3
    assert run.metrics()[1]["active"] == 180_033


def made_up(**changes) -> Results:
    """Results of two seeds in which everything holds, but for the changes."""
    kind = np.array(["eigenvector"] * 3 + ["random signs"] * 2)
    bound = np.tile(np.arange(1.0, 6.0), (2, 1))
    numbers = {
        "equality": 1e-13,
        "slack": 0.5,
        "outside": 0.0,
        "routes": 1e-13,
        "shift": 0.5,
        "error": 0.01,
        "second": 1e-14,
        "beside": 0.0,
        "active": 180_033,
        "num_images": 64,
    } | changes
    squared = bound * (1 + np.array([numbers["equality"]] * 3 + [numbers["slack"]] * 2))
    sides = np.full((2, 2), 4.0)
    return Results(
        data="digits",
        model="mlp",
        num_samples=5,
        num_draws=100,
        num_images=numbers["num_images"],
        seeds=(0, 1),
        lemma=Lemma(
            kind=kind,
            squared=squared,
            bound=bound,
            outside=np.full((2, 5), numbers["outside"]),
            by_gradients=bound * (1 + numbers["routes"]),
            by_gram=bound,
            overlap=np.full((2, 5), 0.8),
        ),
        theorem=Theorem(
            alignment=sides,
            alignment_error=numbers["error"] * sides,
            derivative=sides,
            derivative_error=0.1 * numbers["error"] * sides,
            difference=numbers["shift"] * numbers["error"] * sides,
            difference_error=numbers["error"] * sides,
        ),
        frozen=Frozen(
            linearized=np.full(2, numbers["second"]),
            network=np.full(2, 0.9),
            linearized_beside=np.full(2, numbers["beside"]),
            network_beside=np.full(2, 0.5),
        ),
        active=Active(
            layer=np.array(["stem"]),
            gelu=np.array([[180_033], [numbers["active"]]]),
            relu=np.array([[170_000], [171_000]]),
            total=np.array([11_169_345]),
        ),
    )


def test_all_hold_where_they_should():
    assert {claim.verdict for claim in claims(made_up())} == {"confirmed"}


@pytest.mark.parametrize(
    ("changes", "name", "verdict"),
    [
        ({"equality": 1e-8}, "D15", "refuted"),
        ({"slack": -1e-6}, "D15", "refuted"),
        ({"outside": 0.1}, "D15", "inconclusive"),
        ({"routes": 1e-6}, "D16", "refuted"),
        ({"shift": 4.0}, "D17", "refuted"),
        ({"error": 0.05}, "D17", "inconclusive"),
        ({"second": 1e-3}, "D22", "refuted"),
        ({"beside": 0.1}, "D22", "refuted"),
        ({"active": 180_034}, "D23", "refuted"),
        ({"num_images": 8}, "D23", "inconclusive"),
    ],
)
def test_claims_can_come_out_either_way(changes, name, verdict):
    found = {claim.id: claim.verdict for claim in claims(made_up(**changes))}
    assert found[name] == verdict
    assert {found[other] for other in found if other != name} == {"confirmed"}


def test_seeds_of_the_theorem_are_taken_together():
    theorem = made_up(shift=3.0).theorem
    np.testing.assert_allclose(in_standard_errors(theorem), 3 * 2**0.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"image_size": 8}, "image_size must be at least 16"),
        ({"num_modes": 0}, "num_modes must be at least 1, got 0"),
        ({"num_modes": 41}, "There are 40 eigenvectors"),
        ({"seeds": 0}, "seeds must be at least 1, got 0"),
    ],
)
def test_messages(change, message, tmp_path):
    config = dataclasses.replace(TOY, **change)
    with (
        pytest.raises(ValueError, match=message),
        store.create(tmp_path, "identities", config) as folder,
    ):
        computing.run(config, folder, progress=False)
