import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.models import from_function
from tangentlab.training.batches import epoch_batches as batches
from tests.networks import dense_apply, dense_params

RECIPE = tl.Recipe(epochs=3, batch_size=4, learning_rate=0.1)


def _tasks(num=2, n=15, num_train=10):
    x = jax.random.normal(jax.random.key(7), (n, 3))
    weights = jax.random.normal(jax.random.key(8), (3, num))
    dataset = tl.Dataset(x, np.zeros(n, int), ("only",), num_train)
    labels = np.asarray(x @ weights > 0)
    return [tl.tasks.from_labels(dataset, labels[:, i]) for i in range(num)]


def _cross_entropy(logits, y):
    p = 1 / (1 + np.exp(-logits))
    return -(y * np.log(p) + (1 - y) * np.log(1 - p))


def _by_hand(apply, params, task, recipe, key):
    """The paper's recipe written out: heavy ball, rate falling linearly to zero."""
    flat, rebuild = jax.flatten_util.ravel_pytree(params)
    x, y = jnp.asarray(task.x), jnp.asarray(task.y, flat.dtype)
    velocity, k, rows = jnp.zeros_like(flat), 0, []
    steps = task.num_train // recipe.batch_size
    total = recipe.epochs * steps
    for epoch in range(recipe.epochs):
        seen_loss, seen_right = [], []
        for batch in batches(key, epoch, task.num_train, recipe):

            def loss(flat, batch=batch):
                f = apply(rebuild(flat), x[batch])[:, 0]
                return jnp.mean(jax.nn.softplus(f) - y[batch] * f)

            f = np.asarray(apply(rebuild(flat), x[batch])[:, 0])
            seen_loss.append(_cross_entropy(f, np.asarray(y[batch])))
            seen_right.append((f > 0) == (np.asarray(y[batch]) > 0))
            velocity = recipe.momentum * velocity + jax.grad(loss)(flat)
            flat = flat - recipe.learning_rate * (1 - k / total) * velocity
            k += 1
        f = np.asarray(apply(rebuild(flat), x[task.num_train :])[:, 0])
        y_test = np.asarray(y[task.num_train :])
        test = [_cross_entropy(f, y_test).mean(), ((f > 0) == (y_test > 0)).mean()]
        rows.append([np.mean(seen_loss), np.mean(seen_right), *test])
    return np.array(rows), flat


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("seed", [0, 1])
def test_training_follows_the_recipe_step_by_step(seed, linear):
    params = dense_params(jax.random.key(seed), (3, 5, 1))
    apply = tl.linearize(dense_apply, params) if linear else dense_apply
    tasks, key = _tasks(), jax.random.key(3)
    history = tl.train(apply, params, tasks, RECIPE, key=key)
    for row, task in enumerate(tasks):
        rows, flat = _by_hand(apply, params, task, RECIPE, key)
        got = np.stack(
            [
                history.train_loss[row],
                history.train_accuracy[row],
                history.test_loss[row],
                history.test_accuracy[row],
            ],
            axis=1,
        )
        np.testing.assert_allclose(got, rows, rtol=1e-10, atol=1e-12)
        final, _ = jax.flatten_util.ravel_pytree(history.params[row])
        np.testing.assert_allclose(final, flat, rtol=1e-10, atol=1e-12)
        start, _ = jax.flatten_util.ravel_pytree(params)
        np.testing.assert_allclose(history.distance[row], np.linalg.norm(flat - start))


def test_batches_are_fresh_permutations_without_the_remainder():
    recipe, key = tl.Recipe(batch_size=4), jax.random.key(0)
    first, second = (np.asarray(batches(key, epoch, 10, recipe)) for epoch in (0, 1))
    assert first.shape == (2, 4)
    assert len(set(first.ravel())) == 8 and set(first.ravel()) <= set(range(10))
    assert (first != second).any()
    np.testing.assert_array_equal(first, batches(key, 0, 10, recipe))


def test_equal_keys_give_equal_histories_and_tasks_do_not_touch_each_other():
    params, tasks = dense_params(jax.random.key(0), (3, 5, 1)), _tasks()
    together = tl.train(dense_apply, params, tasks, RECIPE, key=jax.random.key(1))
    alone = tl.train(dense_apply, params, tasks[1], RECIPE, key=jax.random.key(1))
    np.testing.assert_allclose(together.test_loss[1:], alone.test_loss, rtol=1e-12)
    other = tl.train(dense_apply, params, tasks[1], RECIPE, key=jax.random.key(2))
    assert (other.test_loss != alone.test_loss).any()


def test_every_test_sample_counts(monkeypatch):
    params, tasks = dense_params(jax.random.key(0), (3, 5, 1)), _tasks()
    whole = tl.train(dense_apply, params, tasks, RECIPE, key=jax.random.key(1))
    monkeypatch.setattr("tangentlab.training.course._EVALUATE", 2)
    blocks = tl.train(dense_apply, params, tasks, RECIPE, key=jax.random.key(1))
    np.testing.assert_allclose(blocks.test_loss, whole.test_loss, rtol=1e-12)
    np.testing.assert_allclose(blocks.test_accuracy, whole.test_accuracy, rtol=1e-12)


def test_divergence_of_one_task_is_recorded():
    params = dense_params(jax.random.key(0), (3, 5, 1))

    recipe = tl.Recipe(epochs=3, batch_size=4, learning_rate=1e6)

    def explosive(params, x):
        return jnp.exp(dense_apply(params, x) ** 2)

    wild = tl.train(explosive, params, _tasks(1), recipe, key=jax.random.key(1))
    calm = tl.train(dense_apply, params, _tasks(1), RECIPE, key=jax.random.key(1))
    assert wild.diverged.tolist() == [True] and calm.diverged.tolist() == [False]


def test_buffers_stay_and_parameters_move():
    params = {"net": dense_params(jax.random.key(0), (3, 5, 1)), "order": jnp.arange(3)}

    def apply(params, x):
        return dense_apply(params["net"], x[:, params["order"]])

    history = tl.train(apply, params, _tasks(1), RECIPE, key=jax.random.key(1))
    assert history.params[0]["order"].tolist() == [0, 1, 2]
    assert history.distance[0] > 0


def test_a_network_with_batch_norm_trains_and_is_tested_with_running_averages():
    model = tl.models.resnet18((4, 4, 1), width=2)
    params = model.init(jax.random.key(0))
    x = np.asarray(jax.random.normal(jax.random.key(1), (12, 4, 4, 1)), np.float32)
    dataset = tl.Dataset(x, np.arange(12) % 2, ("even", "odd"), 8)
    task = tl.tasks.from_labels(dataset, dataset.y)
    history = tl.train(model, params, task, RECIPE, key=jax.random.key(2))
    (state,), (trained,) = history.states, history.params
    start = jax.tree.leaves(model.init_state())
    moved = [
        bool((a != b).any()) for a, b in zip(jax.tree.leaves(state), start, strict=True)
    ]
    assert all(moved)
    logits = np.asarray(model.freeze(state)(trained, x[8:])[:, 0], np.float64)
    expected = _cross_entropy(logits, np.asarray(task.y[8:], np.float64)).mean()
    np.testing.assert_allclose(history.test_loss[0, -1], expected, rtol=1e-5)


def test_something_else_than_a_task_is_refused(no_type_checks):
    params = dense_params(jax.random.key(0), (3, 5, 1))
    dataset = tl.Dataset(np.ones((4, 3)), np.zeros(4, int), ("a",), 2)
    with pytest.raises(TypeError, match="must hold `Task` records, got Dataset"):
        tl.train(
            dense_apply,
            params,
            [dataset],  # pyright: ignore[reportArgumentType]
            RECIPE,
            key=jax.random.key(0),
        )


def test_batch_statistics_are_used_in_training_and_frozen_in_tests():
    """The state counts steps; the test output shows it."""
    params = {"w": jnp.zeros((3, 1)), "b": jnp.zeros((1,))}

    def affine(params, x):
        return x @ params["w"] + params["b"][None]

    model = from_function(lambda key: params, affine)._replace(
        init_state=lambda: jnp.zeros(()),
        apply_train=lambda params, state, x: (affine(params, x), state + 1),
        freeze=lambda state: lambda params, x: affine(params, x) * 0 - state,
    )
    history = tl.train(model, params, _tasks(1), RECIPE, key=jax.random.key(1))
    assert history.states[0] == 3 * 2
    y = np.asarray(_tasks(1)[0].y[10:])
    expected = _cross_entropy(np.full(len(y), -6.0), y).mean()
    np.testing.assert_allclose(history.test_loss[0, -1], expected)


@pytest.mark.parametrize(
    ("tasks", "recipe", "message"),
    [
        ([], RECIPE, "`tasks` is empty"),
        (_tasks(), tl.Recipe(batch_size=11), "A batch of 11 does not fit 10"),
    ],
)
def test_impossible_training_raises(tasks, recipe, message):
    params = dense_params(jax.random.key(0), (3, 5, 1))
    with pytest.raises(ValueError, match=message):
        tl.train(dense_apply, params, tasks, recipe, key=jax.random.key(1))


def test_several_logits_are_refused():
    params = dense_params(jax.random.key(0), (3, 5, 2))
    with pytest.raises(ValueError, match="one output, this one has 2"):
        tl.train(dense_apply, params, _tasks(), RECIPE, key=jax.random.key(1))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("epochs", 0),
        ("epochs", 1.5),
        ("batch_size", -1),
        ("batch_size", True),
        ("learning_rate", 0.0),
        ("learning_rate", float("inf")),
        ("momentum", 1.0),
    ],
)
def test_impossible_recipes_raise(field, value, no_type_checks):
    with pytest.raises(ValueError, match=f"`{field}`"):
        tl.Recipe(**{field: value})
