"""Experiments on width, laziness and dynamics, at toy size."""

import dataclasses
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab import store
from tangentlab.experiments import EXPERIMENTS
from tangentlab.experiments.flow import Flow
from tangentlab.experiments.kernel_limit import KernelLimit
from tangentlab.experiments.kernel_limit.formulas import lecture_kappa
from tangentlab.experiments.lazy import Lazy
from tangentlab.experiments.linearization import Linearization
from tangentlab.experiments.losses import Losses
from tangentlab.experiments.stages.points import draw_points
from tangentlab.experiments.wide_training import WideTraining
from tangentlab.experiments.wide_training.computing import network
from tangentlab.experiments.wide_training.multipliers import multiplied_gaps
from tangentlab.experiments.wide_training.training import train_width

TOYS = {
    "linearization": Linearization(
        widths=(4, 8),
        depths=(1,),
        distances=(1.0,),
        seeds=2,
        num_samples=3,
        dim=2,
        smooth=("tanh",),
        smooth_widths=(4,),
        smooth_radii=(0.3,),
        num_starts=2,
        num_steps=10,
        relu_widths=(50, 100),
        relu_draws=3,
    ),
    "kernel_limit": KernelLimit(
        networks=("first layer",),
        widths=(4, 8),
        num_draws=3,
        num_samples=3,
        num_cosines=3,
        num_units=100,
        depths=(2,),
        deep_widths=(4,),
        num_deep_draws=200,
    ),
    "wide_training": WideTraining(
        num_train=3,
        num_test=2,
        dim=2,
        widths=(4, 8),
        activations=("tanh",),
        num_steps=5,
        num_looks=2,
        multipliers=(1.0, 0.5),
        multiplier_widths=(4,),
        seeds=2,
    ),
    "lazy": Lazy(
        scales=(8.0, 16.0),
        starts=("centered",),
        width=4,
        num_train=3,
        dim=2,
        num_steps=40,
        seeds=2,
        num_criteria=0,
    ),
    "flow": Flow(
        width=32,
        narrow_width=16,
        num_train=3,
        num_test=2,
        dim=4,
        num_steps=2000,
        num_times=4,
        seeds=1,
    ),
    "losses": Losses(
        data="sphere",
        num_train=6,
        num_test=5,
        dim=3,
        width=32,
        decades=2,
        per_decade=2,
        seeds=1,
    ),
}


def compute(name: str, config, root: Path) -> store.Run:
    """The run alone, without the files of its report."""
    with store.create(root, name, config) as folder:
        EXPERIMENTS[name].run(config, folder, progress=False)
    configs = {name: it.config for name, it in EXPERIMENTS.items()}
    return store.open_run(folder.final, configs)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs by name, each made when it is first asked for."""
    made: dict[str, store.Run] = {}
    root = tmp_path_factory.mktemp("runs")

    def of(name: str) -> store.Run:
        if name not in made:
            made[name] = compute(name, TOYS[name], root)
        return made[name]

    return of


SLOW = [pytest.param("linearization", marks=pytest.mark.slow)]  # many compilations


@pytest.mark.parametrize("name", SLOW + sorted(set(TOYS) - {"linearization"}))
def test_every_run_has_a_report_with_figures_and_claims(runs, name):
    report = EXPERIMENTS[name].report(runs(name))
    assert report.sections and all(section.figures for section in report.sections)
    assert report.claims and report.console_table.rows
    assert runs(name).metrics()


@pytest.mark.parametrize("name", TOYS)
def test_every_option_is_read_and_explained(name):
    config = type(TOYS[name])
    room = Path(__file__).parents[2] / "src/tangentlab/experiments" / name
    source = "\n".join(path.read_text() for path in room.glob("*.py"))
    for field in dataclasses.fields(config):
        assert re.search(rf"config\.{field.name}\b", source), field.name
        assert re.search(rf"    {field.name}: .*\n    \"\"\"", source), field.name


@pytest.mark.slow
def test_identities_hold_and_need_eulers_term(runs):
    found = runs("linearization").arrays("identities")
    assert found["first"] < 1e-12 and found["all"].max() < 1e-12
    assert found["without"].min() > 1e-3


def test_fluctuation_of_the_norm_follows_its_formula(runs):
    drawn = runs("kernel_limit").arrays("deep-2-4")
    relative = drawn["norm"].var() / drawn["norm"].mean() ** 2
    assert 2.0 < relative < 8.0  # (1 + 5/4)^2 - 1 = 4.06, of 200 draws
    assert (drawn["kernel"] >= drawn["norm"]).all()


def test_printed_kappa():
    ends = lecture_kappa(np.array([-1.0, 0.0, 1.0]))
    np.testing.assert_allclose(ends, [0.0, 1 / np.pi, 2.0], atol=1e-12)


def test_networks_are_trained_by_plain_descent():
    config = TOYS["wide_training"]
    points = draw_points("sphere", 3, 2, dim=2, key=jax.random.key(0))
    layer = network(config, "tanh", 4)
    keys = jax.random.split(jax.random.key(1), 2)
    trained = train_width(layer, points, keys, 0.3, 5, 2)
    model = layer.model((2,))
    x, y = jnp.asarray(points.x), jnp.asarray(points.y)
    params = model.init(keys[1])
    for _ in range(5):
        slopes = jax.grad(lambda p: jnp.mean((model.apply(p, x) - y) ** 2) / 2)(params)
        params = jax.tree.map(lambda p, g: p - 0.3 * g, params, slopes)
    outputs = model.apply(params, jnp.asarray(points.x_test))
    np.testing.assert_allclose(trained.f_T[1, 3:], outputs, rtol=1e-10)
    residual = model.apply(params, x) - y
    np.testing.assert_allclose(trained.loss[1, -1], np.mean(residual**2) / 2)
    with pytest.raises(ValueError, match="diverged: .* Leave out the smallest widths"):
        train_width(layer, points, keys, 1e200, 5, 2)


def test_multiplied_outputs_are_trained_by_plain_descent():
    points = draw_points("sphere", 3, 2, dim=2, key=jax.random.key(0))
    layer, keys = (
        network(TOYS["wide_training"], "tanh", 4),
        jax.random.split(jax.random.key(1), 2),
    )
    regression = np.array([[0.5], [-1.0]])
    found = multiplied_gaps(layer, points, (1.0, 0.5), keys, 0.3, 4, regression)
    model = layer.model((2,))
    x, y = jnp.asarray(points.x), jnp.asarray(points.y)
    params = start = model.init(keys[1])
    for _ in range(4):  # half the factor, four times the rate
        slopes = jax.grad(lambda p: jnp.mean((0.5 * model.apply(p, x) - y) ** 2) / 2)(
            params
        )
        params = jax.tree.map(lambda p, g: p - 1.2 * g, params, slopes)
    outputs = [
        0.5 * model.apply(p, jnp.asarray(points.x_test)) for p in (params, start)
    ]
    unit = np.sqrt(np.mean(points.y**2))
    gap = np.sqrt(np.mean((np.asarray(outputs[0]) - regression) ** 2)) / unit
    np.testing.assert_allclose(found["gaps"][1, 1], gap)
    before = np.sqrt(np.mean(np.asarray(outputs[1]) ** 2)) / unit
    np.testing.assert_allclose(found["starts"][1, 1], before)
    with pytest.raises(ValueError, match="diverged: the smaller they are"):
        multiplied_gaps(layer, points, (1.0,), keys, 1e200, 4, regression)


def test_weight_space_and_closed_forms_agree(runs):
    found = runs("flow").arrays("closed-0")
    names = ("interpolation", "weights", "prediction", "norm", "gaussian")
    assert max(found[f"{name}_error"] for name in names) < 1e-8
    assert found["flow_error"].max() < 1e-8
    assert found["summed_gap"].max() > 0.1 and found["growth"] > 1e3
    watched = runs("flow").arrays("network-0")
    least = np.minimum.accumulate(watched["smallest"])
    bound = watched["loss"][0] * np.exp(-2 * watched["times"] * least / 3)
    assert (watched["loss"] <= bound * (1 + 1e-9)).all()


def test_square_loss_nears_the_interpolant_of_least_norm(runs):
    found = runs("losses").arrays("flows-0")
    assert (np.diff(found["square_distance"]) < 0).all()
    assert (np.diff(found["entropy_norm"]) > 0).all()
    for name in ("square_to_least", "entropy_to_margin"):
        assert (np.abs(found[name]) <= 1 + 1e-9).all()
    assert found["margin_norm"] <= found["least_norm"] * (1 + 1e-9)


def test_a_run_goes_on_with_what_it_has(tmp_path, monkeypatch):
    config = TOYS["kernel_limit"]
    module = "tangentlab.experiments.kernel_limit.computing.draw_errors"

    def interrupt(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, interrupt)
        with pytest.raises(KeyboardInterrupt):
            compute("kernel_limit", config, tmp_path)
    formulas = "tangentlab.experiments.kernel_limit.computing.compare_formulas"
    monkeypatch.setattr(formulas, interrupt)
    with store.create(tmp_path, "kernel_limit", config, resume=True) as folder:
        EXPERIMENTS["kernel_limit"].run(config, folder, progress=False)
        assert folder.has_arrays("formulas") and folder.has_arrays("first-layer-8")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("linearization", {"widths": (4,)}, "two different widths at least"),
        ("linearization", {"failure": 1.5}, "failure lie between 0 and 1"),
        ("kernel_limit", {"widths": (4, 4)}, "two different widths and two draws"),
        ("kernel_limit", {"num_cosines": 1}, "num_cosines and num_deep_draws"),
        ("wide_training", {"widths": (4,)}, "two different widths at least"),
        ("wide_training", {"num_looks": 9}, "num_looks must lie in 1..num_steps"),
        ("wide_training", {"multipliers": (0.0,)}, "must be numbers above 0"),
        ("lazy", {"scales": (0.0, 1.0)}, "two different positive scales"),
        ("lazy", {"num_criteria": 9}, "num_criteria must lie in 0..2"),
        ("flow", {"num_times": 0}, "num_times must be at least 1, got 0"),
        ("flow", {"num_ridges": 1}, "num_ridges must be at least 2, got 1"),
        ("losses", {"decades": 1}, "two decades of two times at least"),
    ],
)
def test_what_cannot_be_run_is_refused(name, change, message, tmp_path):
    config = dataclasses.replace(TOYS[name], **change)
    with pytest.raises(ValueError, match=message):
        compute(name, config, tmp_path)
    assert not list(tmp_path.glob("*"))
