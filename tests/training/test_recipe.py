import dataclasses
import json

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import tangentlab as tl
from tangentlab.training.batches import epoch_batches
from tests.networks import dense_apply, dense_params
from tests.training.problems import binary_tasks

KEY = jax.random.key(3)


def test_the_default_is_the_papers_recipe():
    recipe = tl.Recipe()
    assert (recipe.epochs, recipe.batch_size, recipe.loss) == (
        100,
        128,
        "cross_entropy",
    )
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
    start, memory, k = flat, rule.init(flat), 0
    x, y = jnp.asarray(task.x), jnp.asarray(task.y, flat.dtype)
    for epoch in range(recipe.epochs):
        for batch in epoch_batches(KEY, epoch, task.num_train, recipe):

            def objective(flat, batch=batch):
                f = dense_apply(rebuild(flat), x[batch])[:, 0]
                if recipe.loss == "square":
                    loss = jnp.mean((f - (2 * y[batch] - 1)) ** 2) / 2
                else:
                    loss = jnp.mean(jax.nn.softplus(f) - y[batch] * f)
                loss += recipe.weight_decay / 2 * jnp.sum(flat**2)
                return loss + recipe.start_decay / 2 * jnp.sum((flat - start) ** 2)

            update, memory = rule.update(jax.grad(objective)(flat), memory, flat)
            flat, k = flat + update, k + 1
    return flat


@pytest.mark.parametrize(
    "options",
    [
        {"nesterov": True},
        {"weight_decay": 0.3},
        {"start_decay": 0.4},
        {"loss": "square"},
        {"optimizer": "adam"},
        {"optimizer": "adam", "nesterov": True, "weight_decay": 0.1, "momentum": 0.7},
    ],
)
def test_every_option_is_followed(options):
    recipe = tl.Recipe(2, 6, 0.05, schedule="constant", **options)
    params, task = dense_params(jax.random.key(0), (3, 5, 1)), binary_tasks(1)[0]
    own = {"nesterov": recipe.nesterov}
    if recipe.optimizer == "adam":
        rule = optax.adam(0.05, b1=recipe.momentum, b2=0.999, eps=1e-8, **own)
    else:
        rule = optax.sgd(0.05, momentum=recipe.momentum, **own)
    with jax.numpy_dtype_promotion("standard"):  # optax's Adam mixes types
        history = tl.train(dense_apply, params, task, recipe, key=KEY)
        wanted = _by_hand(params, task, recipe, rule)
    got, _ = jax.flatten_util.ravel_pytree(history.params[0])
    np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)
    start, _ = jax.flatten_util.ravel_pytree(params)
    cosine = 1 - got @ start / np.linalg.norm(got) / np.linalg.norm(start)
    np.testing.assert_allclose(history.cosine_distance[0], cosine, rtol=1e-9)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
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
