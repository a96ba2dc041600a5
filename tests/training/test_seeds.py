"""Several initializations in one program, against each of them alone."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

import tangentlab as tl
from tangentlab.training import runs
from tests.training.problems import assert_same, binary_tasks, normalized

RECIPE = tl.Recipe(epochs=2, batch_size=6, learning_rate=0.05)
KEYS = jax.random.split(jax.random.key(5), 3)
TASKS = binary_tasks(2)
MODEL = normalized()
PARAMS = jax.vmap(MODEL.init)(KEYS)


def _train(**options):
    return tl.train_seeds(MODEL, PARAMS, TASKS, RECIPE, keys=KEYS, **options)


@pytest.fixture(scope="module")
def networks():
    return _train()


def test_seeds_together_are_seeds_alone(networks):
    params = MODEL.init(KEYS[1])
    assert_same(networks[1], tl.train(MODEL, params, TASKS, RECIPE, key=KEYS[1]))
    assert len(networks) == 3
    assert (networks[0].outputs != networks[1].outputs).all()
    states = [jax.tree.leaves(history.states) for history in networks]
    assert all((a != b).any() for a, b in zip(*states[:2], strict=True))


def test_linearizations_are_expanded_at_their_own_start():
    histories = _train(linearized=True)
    params = MODEL.init(KEYS[2])
    linear = tl.linearize(MODEL.apply, params)
    assert_same(histories[2], tl.train(linear, params, TASKS, RECIPE, key=KEYS[2]))


def test_seeds_are_cut_into_groups_that_fit(networks, monkeypatch):
    sizes, original = [], runs.run_program

    def watched(program, start, group, recipe, keys, **options):
        sizes.append((len(keys), len(group.rows)))
        return original(program, start, group, recipe, keys, **options)

    monkeypatch.setattr("tangentlab.training.runs.run_program", watched)
    for got, wanted in zip(_train(memory=26_000), networks, strict=True):
        assert_same(got, wanted)
    assert sizes == [(2, 1), (2, 1), (1, 2)]


def test_parameters_of_other_seeds_are_refused():
    params = MODEL.init(KEYS[0])
    with pytest.raises(ValueError, match=r"`keys` has shape \(3,\).*jax.vmap"):
        tl.train_seeds(MODEL, params, TASKS, RECIPE, keys=KEYS)


@pytest.mark.parametrize(
    ("keys", "got"), [(jnp.arange(3), "int64 of shape"), (KEYS[0], "shape")]
)
def test_seeds_need_random_keys(keys, got, no_type_checks):
    with pytest.raises(ValueError, match=f"random keys along one axis, got .*{got}"):
        tl.train_seeds(MODEL, PARAMS, TASKS, RECIPE, keys=keys)


def test_a_function_alone_is_refused(no_type_checks):
    with pytest.raises(TypeError, match="got function: .*`tl.models.from_function"):
        function: Any = MODEL.apply
        tl.train_seeds(function, PARAMS, TASKS, RECIPE, keys=KEYS)
