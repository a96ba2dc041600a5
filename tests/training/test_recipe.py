import dataclasses
import json
from typing import Any

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import tangentlab as tl
from tangentlab.training.batches import epoch_batches
from tests.networks import dense_apply
from tests.training.problems import binary_tasks, dense_start

KEY = jax.random.key(3)


def test_the_default_is_the_papers_recipe():
    recipe = tl.Recipe()
    assert (recipe.epochs, recipe.batch_size, recipe.momentum) == (100, 128, 0.9)
    assert (recipe.loss, recipe.optimizer) == ("cross_entropy", "sgd")
    assert not (recipe.nesterov or recipe.weight_decay or recipe.start_decay)
    rates = recipe.rates(50_000)
    assert rates.shape == (39_000,)
    np.testing.assert_allclose(rates, 0.05 * (1 - np.arange(39_000) / 39_000))


def test_a_recipe_is_plain_data():
    recipe = tl.Recipe(schedule="one_cycle", nesterov=True, weight_decay=0.1)
    stored = json.loads(json.dumps(dataclasses.asdict(recipe)))
    assert tl.Recipe(**stored) == recipe and hash(tl.Recipe(**stored)) == hash(recipe)


def test_schedules():
    def rates(schedule):
        recipe = tl.Recipe(10, 2, 1.0, schedule=schedule)
        return np.asarray(recipe.rates(20))

    np.testing.assert_array_equal(rates("constant"), np.ones(100))
    cycle = rates("one_cycle")
    assert cycle[0] == 0.04 and cycle.argmax() == 30 and cycle[30] == 1.0
    assert (np.diff(cycle[:31]) > 0).all() and (np.diff(cycle[30:]) < 0).all()
    assert 0 < cycle[-1] < 1e-3


def _by_hand(params, task, recipe, rule):
    """Gradients of the whole objective, decays included, by the rule given."""
    flat, rebuild = jax.flatten_util.ravel_pytree(params)
    start, memory = flat, rule.init(flat)
    x, y = jnp.asarray(task.x), jnp.asarray(task.y, flat.dtype)

    def objective(flat, batch):
        f = dense_apply(rebuild(flat), x[batch])[:, 0]
        if recipe.loss == "square":
            loss = jnp.mean((f - (2 * y[batch] - 1)) ** 2) / 2
        else:
            loss = jnp.mean(jax.nn.softplus(f) - y[batch] * f)
        loss += recipe.weight_decay / 2 * jnp.sum(flat**2)
        return loss + recipe.start_decay / 2 * jnp.sum((flat - start) ** 2)

    @jax.jit
    def step(flat, memory, batch):
        update, memory = rule.update(jax.grad(objective)(flat, batch), memory, flat)
        return flat + update, memory

    for epoch in range(recipe.epochs):
        for batch in epoch_batches(KEY, epoch, task.num_train, recipe):
            flat, memory = step(flat, memory, batch)
    return flat


def _adam(recipe):
    own = {"b2": 0.999, "eps": 1e-8, "nesterov": recipe.nesterov}
    return optax.adam(0.05, b1=recipe.momentum, **own)


def _sgd(recipe):
    return optax.sgd(0.05, momentum=recipe.momentum, nesterov=recipe.nesterov)


@pytest.mark.parametrize(
    ("rule", "options"),
    [
        (_sgd, {"nesterov": True, "weight_decay": 0.3}),
        (_sgd, {"start_decay": 0.4, "loss": "square"}),
        (_adam, {"optimizer": "adam", "weight_decay": 0.1, "momentum": 0.7}),
        (lambda recipe: optax.lion(0.01), {"start_decay": 0.1}),
    ],
)
def test_every_option_is_followed(rule, options):
    recipe = tl.Recipe(2, 6, 0.05, schedule="constant", **options)
    params, task = dense_start(), binary_tasks(1)[0]
    made = rule(recipe)
    own = None if rule in (_sgd, _adam) else made  # any optax optimizer
    promotion = "strict" if rule is _sgd else "standard"  # as others in optax do
    with jax.numpy_dtype_promotion(promotion):
        history = tl.train(dense_apply, params, task, recipe, key=KEY, optimizer=own)
        wanted = _by_hand(params, task, recipe, made)
    got, _ = jax.flatten_util.ravel_pytree(history.params[0])
    np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("epochs", 0, "`epochs` must be a positive integer, got 0"),
        ("epochs", 1.5, "`epochs` must be a positive integer, got 1.5"),
        ("batch_size", -1, "`batch_size` must be a positive integer, got -1"),
        ("batch_size", np.int64(4), r"positive integer, got np.int64\(4\)"),
        ("batch_size", True, "`batch_size` must be a positive integer, got True"),
        ("learning_rate", 0.0, "`learning_rate` must be positive, got 0.0"),
        ("learning_rate", float("inf"), "`learning_rate` must be positive, got inf"),
        ("learning_rate", "0.1", "`learning_rate` must be a number, got '0.1'"),
        ("weight_decay", None, "`weight_decay` must be a number, got None"),
        ("momentum", [0.9], r"`momentum` must be a number, got \[0.9\]"),
        ("momentum", 1.0, r"`momentum` must lie in \[0, 1\), got 1.0"),
        ("weight_decay", -0.1, "`weight_decay` must be at least 0, got -0.1"),
        ("start_decay", float("inf"), "`start_decay` must be at least 0"),
        ("schedule", "cosine", "Unknown schedule 'cosine'. Known: constant, linear"),
        ("optimizer", "lion", "Unknown optimizer 'lion'. Known: adam, sgd"),
        ("loss", "hinge", "Unknown loss 'hinge'. Known: cross_entropy, square"),
    ],
)
def test_impossible_options_are_refused(field, value, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.Recipe(**{field: value})


def test_each_optimizer_has_its_own_default_rate():
    assert tl.Recipe().largest_rate == 0.05
    assert tl.Recipe(optimizer="adam").largest_rate == 1e-3
    assert tl.Recipe(optimizer="adam", learning_rate=0.2).largest_rate == 0.2
    sgd = tl.Recipe(epochs=2, batch_size=2)
    assert dataclasses.replace(sgd, optimizer="adam").rate(0, 2) == 1e-3


def test_a_dictionary_is_no_recipe(no_type_checks):
    task = tl.Task(np.eye(4), np.array([0.0, 1.0, 1.0, 0.0]), num_train=3)
    options: Any = {"epochs": 1, "batch_size": 3}
    message = r"`recipe` must be a `Recipe`, got dict: pass `tl.Recipe\(\*\*recipe\)`"
    key = jax.random.key(0)
    with pytest.raises(TypeError, match=message):
        tl.train(lambda w, x: x @ w, np.zeros((4, 1)), task, options, key=key)
    with pytest.raises(TypeError, match=message):
        tl.train_dual(np.eye(4), np.zeros(4), task, options, key=key)
