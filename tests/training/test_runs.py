"""Which runs share a program, decided from shapes alone."""

import jax
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.training.groups import Group
from tangentlab.training.runs import is_faster_together, runs_that_fit
from tangentlab.training.trainer import make_trainer

RECIPE = tl.Recipe()


def _problem(name, shape):
    model = tl.models.build(name, shape)
    start = jax.eval_shape(model.init, jax.random.key(0))
    rule = RECIPE.make_optimizer(130)
    trainer = make_trainer(lambda start: model, RECIPE, rule)
    x = np.zeros((160, *shape), np.float32)
    return trainer, start, Group((0,), x, np.zeros((1, 160)), 130), RECIPE


@pytest.mark.parametrize(
    ("name", "shape", "expected"),
    [
        ("mlp", (8, 8, 1), True),
        ("lenet", (8, 8, 1), True),
        ("mlp", (32, 32, 3), False),
        ("lenet", (32, 32, 3), False),
    ],
)
def test_on_a_cpu_large_networks_train_one_by_one(name, shape, expected, monkeypatch):
    made = _problem(name, shape)
    assert is_faster_together(*made) is expected
    monkeypatch.setattr("tangentlab.training.runs.backend", lambda: "gpu")
    assert is_faster_together(*made)


def test_on_an_accelerator_a_resnet18_trains_alone(monkeypatch):
    monkeypatch.setattr("tangentlab.training.runs.backend", lambda: "gpu")
    assert not is_faster_together(*_problem("resnet18", (32, 32, 3)))


def test_as_many_runs_as_fit_and_at_least_one():
    made = _problem("mlp", (8, 8, 1))
    few, many = (runs_that_fit(*made, memory) for memory in (2**24, 2**26))
    assert few > 1 and 3.9 < many / few < 4.3
    assert runs_that_fit(*made, 1) == 1
