"""Training in weight space, step by step and against tasks trained alone."""

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.models import from_function
from tangentlab.training import known, program, runs
from tangentlab.training.batches import epoch_batches
from tests.networks import dense_apply, dense_params
from tests.training.problems import (
    METRICS,
    assert_same,
    binary_tasks,
    dense_start,
    in_float64,
    normalized,
)

KEY = jax.random.key(3)
RECIPE = tl.Recipe(epochs=3, batch_size=6, learning_rate=0.05)
TASKS = binary_tasks(3)


def _train(network=dense_apply, params=None, tasks=TASKS, recipe=RECIPE, **options):
    params = dense_start() if params is None else params
    return tl.train(network, params, tasks, recipe, key=KEY, **options)


def _trained(together):
    """A history, and what was told on the way."""
    told = {}

    def on_epoch(task, done, params, state):
        told[task, done] = params, state

    return _train(together=together, on_epoch=on_epoch), told


@pytest.fixture(scope="module")
def together():
    return _trained(True)


@pytest.fixture(scope="module")
def alone():
    return _trained(False)


def _cross_entropy(logits, y):
    p = 1 / (1 + np.exp(-logits))
    return -(y * np.log(p) + (1 - y) * np.log(1 - p))


def _by_hand(apply, params, task):
    """The paper's recipe written out: heavy ball, rate falling linearly to zero."""
    flat, rebuild = jax.flatten_util.ravel_pytree(params)
    x, y = jnp.asarray(task.x), jnp.asarray(task.y, flat.dtype)

    @jax.jit
    def look(flat, batch):
        def loss(flat):
            f = apply(rebuild(flat), x[batch])[:, 0]
            return jnp.mean(jax.nn.softplus(f) - y[batch] * f), f

        return jax.grad(loss, has_aux=True)(flat)

    velocity, k, rows = jnp.zeros_like(flat), 0, []
    total = RECIPE.epochs * (task.num_train // RECIPE.batch_size)
    test, y_test = x[task.num_train :], np.asarray(y[task.num_train :])
    for epoch in range(RECIPE.epochs):
        losses, right = [], []
        for batch in epoch_batches(KEY, epoch, task.num_train, RECIPE):
            slope, f = look(flat, batch)
            labels = np.asarray(y[batch])
            losses.append(_cross_entropy(np.asarray(f), labels))
            right.append((np.asarray(f) > 0) == (labels > 0))
            velocity = 0.9 * velocity + slope
            flat = flat - 0.05 * (1 - k / total) * velocity
            k += 1
        f = np.asarray(apply(rebuild(flat), test)[:, 0])
        tested = _cross_entropy(f, y_test).mean(), ((f > 0) == (y_test > 0)).mean()
        rows.append([np.mean(losses), np.mean(right), *tested])
    return np.array(rows), flat


def _assert_follows(history, apply, params):
    start, _ = jax.flatten_util.ravel_pytree(params)
    for row, task in enumerate(TASKS):
        rows, flat = _by_hand(apply, params, task)
        got = np.stack([getattr(history, field)[row] for field in METRICS], axis=1)
        np.testing.assert_allclose(got, rows, rtol=1e-10, atol=1e-12)
        final, _ = jax.flatten_util.ravel_pytree(history.params[row])
        np.testing.assert_allclose(final, flat, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(history.distance[row], np.linalg.norm(flat - start))
        cosine = 1 - flat @ start / np.linalg.norm(flat) / np.linalg.norm(start)
        np.testing.assert_allclose(history.cosine_distance[row], cosine, rtol=1e-9)


def test_a_network_follows_the_recipe_step_by_step(together):
    _assert_follows(together[0], dense_apply, dense_start())


def test_a_linearization_follows_the_recipe_step_by_step():
    params = dense_start()
    linear = tl.linearize(dense_apply, params)
    _assert_follows(_train(linear, together=True), linear, params)


def test_tasks_together_are_tasks_alone(together, alone):
    assert_same(together[0], alone[0])
    assert (together[0].outputs[0] != together[0].outputs[1]).any()


@pytest.mark.slow
@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("name", ["lenet", "resnet18"])
def test_tasks_together_are_tasks_alone_in_published_networks(name, linear):
    options = {"width": 8} if name == "resnet18" else {}
    model = getattr(tl.models, name)((8, 8, 1), **options)
    params = in_float64(model.init(jax.random.key(0)))
    network = tl.linearize(model.apply, params) if linear else model
    tasks = binary_tasks(2, n=20, num_train=14, shape=(8, 8, 1))
    together, alone = (
        _train(network, params, tasks, together=t) for t in (True, False)
    )
    assert_same(together, alone)


def test_batch_statistics_together_are_those_of_tasks_alone():
    model = normalized()
    params = model.init(jax.random.key(0))
    together, alone = (_train(model, params, together=t) for t in (True, False))
    assert_same(together, alone)
    first, second = together.states[:2]
    assert (first[0] != second[0]).any() and (first[1] != second[1]).any()


def test_steps_inside_a_scan_are_steps_in_a_loop(together, monkeypatch):
    for module in ("runs", "program"):
        monkeypatch.setattr(f"tangentlab.training.{module}.backend", lambda: "gpu")
    assert_same(_train(), together[0])


def test_on_an_accelerator_tests_are_compiled_beside_the_first_epoch(monkeypatch):
    begun, original = [], program._compile_beside

    def watched(*arguments):
        begun.append(original(*arguments))
        return begun[-1]

    monkeypatch.setattr("tangentlab.training.program._compile_beside", watched)
    monkeypatch.setattr("tangentlab.training.program.backend", lambda: "gpu")
    _train()
    assert len(begun) == 1 and begun[0].exception() is None


@pytest.mark.parametrize("kind", ["together", "alone"])
def test_each_epoch_is_told_for_each_task(kind, request):
    history, told = request.getfixturevalue(kind)
    assert sorted(told) == [(t, e) for t in range(3) for e in (1, 2, 3)]
    for row in range(3):
        outputs = [
            dense_apply(told[row, e][0], jnp.asarray(TASKS[row].x))[:, 0]
            for e in (1, 2, 3)
        ]
        np.testing.assert_allclose(outputs[2], history.outputs[row], rtol=1e-12)
        assert (outputs[0] != outputs[1]).any()


def test_every_test_sample_counts(together):
    logits = np.asarray(together[0].outputs)[:, 22:]
    y = np.stack([task.y[22:] for task in TASKS])
    expected = _cross_entropy(logits, y).mean(axis=1)
    np.testing.assert_allclose(together[0].test_loss[:, -1], expected, rtol=1e-12)
    right = ((logits > 0) == (y > 0)).mean(axis=1)
    np.testing.assert_allclose(together[0].test_accuracy[:, -1], right, rtol=1e-12)


def test_tasks_and_samples_are_cut_into_groups_that_fit(together, monkeypatch):
    sizes, original = [], runs.run_program

    def watched(program, start, group, *args, **options):
        sizes.append(len(group.rows))
        return original(program, start, group, *args, **options)

    monkeypatch.setattr("tangentlab.training.runs.run_program", watched)
    monkeypatch.setattr("tangentlab.training.program._MOST_EVALUATED", 3)
    assert_same(_train(memory=16_000, together=True), together[0])
    assert sizes == [2, 1]


def test_tasks_on_other_samples_form_other_groups_and_keep_their_places(together):
    other = binary_tasks(1, seed=21)[0]
    mixed = _train(tasks=[TASKS[0], other, TASKS[2], TASKS[1]])
    first, second, third = (mixed.outputs[row] for row in (0, 3, 2))
    expected = together[0].outputs
    np.testing.assert_allclose(jnp.stack([first, second, third]), expected, rtol=1e-10)
    final, _ = jax.flatten_util.ravel_pytree(mixed.params[1])
    _, wanted = _by_hand(dense_apply, dense_start(), other)
    np.testing.assert_allclose(final, wanted, rtol=1e-10, atol=1e-12)


def test_a_diverged_task_does_not_touch_the_others():
    """The squares of such targets, and of no others, are beyond the largest float."""
    calm, wild = TASKS[:2]
    y = np.asarray(wild.y, np.float64) * 1e200
    wild = tl.Task(wild.x, y, wild.num_train, kind="regression")
    recipe = tl.Recipe(epochs=3, batch_size=6, learning_rate=0.05, loss="square")
    both = _train(tasks=[wild, calm], recipe=recipe)
    single = _train(tasks=calm, recipe=recipe)
    assert both.diverged.tolist() == [True, False]
    np.testing.assert_allclose(both.outputs[1:], single.outputs, rtol=1e-10)


def test_iterations_are_those_of_the_losses_on_the_way():
    recipe = tl.Recipe(epochs=60, batch_size=11, learning_rate=2.0, schedule="constant")
    history = _train(tasks=TASKS[0], recipe=recipe)
    below = np.flatnonzero(np.asarray(history.train_loss[0]) <= 0.01)
    assert below.size and below[0] > 0
    assert float(history.iterations_by_epoch[0]) == 2 * (below[0] + 1)
    assert 0 < history.iterations_by_batch[0] <= history.iterations_by_epoch[0]


def test_statistics_are_used_in_training_and_frozen_in_tests_and_buffers_stay():
    """The state counts steps; the test output shows it."""
    params = {"w": jnp.zeros((3, 1)), "order": jnp.arange(3)}

    def linear(params, x):
        return x[:, params["order"]] @ params["w"]

    model = from_function(lambda key: params, linear)._replace(
        init_state=lambda: jnp.zeros(()),
        apply_train=lambda params, state, x: (linear(params, x), state + 1),
        freeze=lambda state: lambda params, x: linear(params, x) * 0 - state,
    )
    history = _train(model, params, TASKS[0])
    assert history.states[0] == 3 * 3
    y = np.asarray(TASKS[0].y[22:])
    expected = _cross_entropy(np.full(len(y), -9.0), y).mean()
    np.testing.assert_allclose(history.test_loss[0, -1], expected)
    assert history.params[0]["order"].tolist() == [0, 1, 2]
    assert history.distance[0] > 0


@pytest.mark.slow
def test_a_network_with_batch_norm_trains_and_is_tested_with_running_averages():
    model = tl.models.resnet18((4, 4, 1), width=2)
    params = model.init(jax.random.key(0))
    x = np.asarray(jax.random.normal(jax.random.key(1), (12, 4, 4, 1)), np.float32)
    dataset = tl.Dataset(x, np.arange(12) % 2, ("even", "odd"), 8)
    task = tl.tasks.from_labels(dataset, dataset.y)
    history = _train(model, params, task)
    (state,), (trained,) = history.states, history.params
    states = jax.tree.leaves(state), jax.tree.leaves(model.init_state())
    assert all((a != b).any() for a, b in zip(*states, strict=True))
    logits = np.asarray(model.freeze(state)(trained, x[8:])[:, 0], np.float64)
    expected = _cross_entropy(logits, np.asarray(task.y[8:], np.float64)).mean()
    np.testing.assert_allclose(history.test_loss[0, -1], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("tasks", "recipe", "message"),
    [
        ([], RECIPE, "`tasks` is empty"),
        (TASKS, tl.Recipe(batch_size=23), "A batch of 23 does not fit 22 training"),
        (
            [TASKS[0], *binary_tasks(1, n=40, num_train=30)],
            RECIPE,
            "got 22 of 30 and 30 of 40 for training",
        ),
    ],
)
def test_impossible_training_raises(tasks, recipe, message):
    with pytest.raises(ValueError, match=message):
        _train(tasks=tasks, recipe=recipe)


def test_tasks_of_another_shape_are_refused():
    wider = binary_tasks(1, shape=(4,))
    with pytest.raises(ValueError, match=r"samples of one shape, got \(3,\) and \(4,"):
        _train(tasks=[*TASKS, *wider])


def test_something_else_than_a_task_is_refused(no_type_checks):
    dataset = tl.Dataset(np.ones((4, 3)), np.zeros(4, int), ("a",), 2)
    for wrong in (dataset, [dataset]):
        with pytest.raises(TypeError, match="must hold `Task` records, got Dataset"):
            _train(tasks=wrong)


def test_training_is_no_part_of_a_traced_function():
    for trace in (jax.jit, jax.vmap, jax.grad):
        with pytest.raises(ValueError, match="call it outside of `jit`, `vmap`"):
            trace(lambda w: _train(lambda p, x: x @ p, w).train_loss.sum())(
                jnp.ones((2, 3, 1)) if trace is jax.vmap else jnp.ones((3, 1))
            )


def test_several_logits_are_refused():
    with pytest.raises(ValueError, match="one output, this one has 2: build it with"):
        _train(params=dense_params(jax.random.key(0), (3, 5, 2)))


def test_complex_parameters_are_refused():
    """JAX's gradient by the imaginary part has the sign that leads uphill."""
    with pytest.raises(ValueError, match="holds complex numbers.* two real parameters"):
        _train(lambda w, x: (x.astype(complex) @ w).real, jnp.ones((3, 1), complex))


@pytest.mark.parametrize("together", [True, False])
def test_equal_calls_with_one_model_compile_once(together):
    model = from_function(lambda key: dense_start(), dense_apply)
    other = jax.tree.map(lambda leaf: leaf + 0.1, dense_start())
    before = known._kept.cache_info()
    first = _train(model, together=together)
    again = _train(model, together=together)
    elsewhere = _train(model, other, together=together)
    after = known._kept.cache_info()
    assert (after.hits - before.hits, after.misses - before.misses) == (2, 1)
    assert_same(again, first)
    assert_same(elsewhere, _train(dense_apply, other, together=together))
    longer = tl.Recipe(epochs=4, batch_size=6, learning_rate=0.05)
    changed = _train(model, recipe=longer, together=together)
    assert changed.train_loss.shape == (3, 4)
    assert known._kept.cache_info().misses == after.misses + 1


def test_a_model_that_reads_what_changes_is_compiled_again():
    scale = [1.0]
    model = from_function(
        lambda key: dense_start(), lambda p, x: scale[0] * dense_apply(p, x)
    )
    first = _train(model)
    scale[0] = 2.0
    doubled = _train(model)
    assert_same(doubled, _train(lambda p, x: 2.0 * dense_apply(p, x)))
    assert not np.allclose(doubled.train_loss, first.train_loss)


def test_a_model_of_callables_without_a_hash_is_trained_all_the_same():
    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, params, state, x):
            return dense_apply(params, x), state

    model = from_function(lambda key: dense_start(), dense_apply)
    model = model._replace(apply_train=Unhashable())
    assert_same(_train(model), _train(dense_apply))


def test_outputs_are_those_of_what_a_model_computes_now():
    scale = [1.0]
    model = from_function(lambda key: dense_start(), dense_apply)
    model = model._replace(
        freeze=lambda state: lambda p, x: scale[0] * dense_apply(p, x)
    )
    first = _train(model)
    scale[0] = 3.0
    tripled = _train(model)
    np.testing.assert_array_equal(tripled.distance, first.distance)
    np.testing.assert_allclose(tripled.outputs, 3 * first.outputs, rtol=1e-6)


def test_a_model_that_calls_python_is_compiled_anew():
    scale = [1.0]

    def apply(params, x):
        shape = jax.ShapeDtypeStruct((), x.dtype)
        factor = jax.pure_callback(
            lambda s=scale[0]: np.asarray(s, x.dtype), shape, vmap_method="sequential"
        )
        return factor * dense_apply(params, x)

    model = from_function(lambda key: dense_start(), apply)
    _train(model)
    scale[0] = 2.0
    assert_same(_train(model), _train(lambda p, x: 2.0 * dense_apply(p, x)))


def test_a_model_that_takes_whole_batches_alone():
    """Batch norm in pairs; a single sample has no statistics."""

    def apply_train(params, state, x):
        pairs = x.reshape(-1, 2, x.shape[-1])
        shifted = pairs - pairs.mean(axis=1, keepdims=True)
        return dense_apply(params, shifted.reshape(x.shape)), state

    model = from_function(lambda key: dense_start(), dense_apply)
    history = _train(model._replace(apply_train=apply_train))
    assert np.isfinite(history.train_loss).all()
