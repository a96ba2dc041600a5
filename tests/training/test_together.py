"""Many tasks and seeds in one program, against the plain loop, one run at a time."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import tangentlab as tl
from tangentlab.training import course
from tangentlab.training.classroom import is_faster_together
from tangentlab.training.groups import group_tasks
from tangentlab.training.learner import make_lesson
from tests.networks import dense_apply, dense_params
from tests.training.problems import binary_tasks, in_float64, network, normalized

FIELDS = ["train_loss", "train_accuracy", "test_loss", "test_accuracy"]
FIELDS += ["distance", "cosine", "outputs", "iterations_by_batch"]
FIELDS += ["iterations_by_epoch", "diverged"]
KEY = jax.random.key(3)
RECIPE = tl.Recipe(epochs=3, batch_size=6, learning_rate=0.05)


def assert_same(got, wanted, tolerance=1e-10):
    for field in FIELDS:
        a, b = getattr(got, field), getattr(wanted, field)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=field)
    for a, b in zip(
        jax.tree.leaves((got.params, got.states)),
        jax.tree.leaves((wanted.params, wanted.states)),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("name", "linear"),
    [
        ("mlp", False),
        ("mlp", True),
        ("lenet", False),
        ("normalized", False),
        pytest.param("resnet18", False, marks=pytest.mark.slow),
        pytest.param("lenet", True, marks=pytest.mark.slow),
        pytest.param("resnet18", True, marks=pytest.mark.slow),
    ],
)
def test_tasks_together_are_tasks_alone(name, linear):
    model, params = network(name)
    tasks = binary_tasks(2, shape=(8, 8, 1))
    model = tl.linearize(model.apply, params) if linear else model
    together, alone = (
        tl.train(model, params, tasks, RECIPE, key=KEY, together=together)
        for together in (True, False)
    )
    assert_same(together, alone)
    assert (together.outputs[0] != together.outputs[1]).any()


@pytest.mark.parametrize(
    ("side", "name", "expected"),
    [(8, "lenet", True), (32, "lenet", False), (8, "mlp", True)],
)
def test_on_a_cpu_large_networks_learn_one_by_one(side, name, expected):
    model = tl.models.build(name, (side, side, 1))
    params = model.init(jax.random.key(0))
    task = binary_tasks(1, n=160, num_train=130, shape=(side, side, 1))[0]
    task = tl.Task(np.asarray(task.x, np.float32), task.y, 130)
    recipe = tl.Recipe()
    lesson = make_lesson(lambda start: model, recipe, recipe.make_optimizer(130))
    (group,) = group_tasks([task], "cross_entropy")
    assert is_faster_together(lesson, params, group, recipe) is expected


def _dense(seed=0):
    return dense_params(jax.random.key(seed), (3, 5, 1))


def test_steps_inside_a_scan_are_steps_in_a_loop(monkeypatch):
    outside = tl.train(dense_apply, _dense(), binary_tasks(), RECIPE, key=KEY)
    monkeypatch.setattr("tangentlab.training.classroom.backend", lambda: "gpu")
    inside = tl.train(dense_apply, _dense(), binary_tasks(), RECIPE, key=KEY)
    assert_same(inside, outside)


@pytest.mark.parametrize("memory", [1, 40_000])
def test_tasks_are_cut_into_groups_that_fit(memory, monkeypatch):
    sizes = []
    original = course.run_course

    def watched(course, start, group, *args, **options):
        sizes.append(len(group.rows))
        return original(course, start, group, *args, **options)

    monkeypatch.setattr("tangentlab.training.classroom.run_course", watched)
    tasks = binary_tasks(7)
    cut = tl.train(dense_apply, _dense(), tasks, RECIPE, key=KEY, memory=memory)
    assert len(sizes) > 1 and sum(sizes) == 7
    whole = tl.train(dense_apply, _dense(), tasks, RECIPE, key=KEY)
    assert sizes[-1] == 7
    assert_same(cut, whole)


def test_tasks_on_other_samples_form_other_groups_and_keep_their_places():
    first, second = binary_tasks(2), binary_tasks(2, seed=21)
    mixed = [first[0], second[0], first[1], second[1]]
    together = tl.train(dense_apply, _dense(), mixed, RECIPE, key=KEY)
    each = [tl.train(dense_apply, _dense(), t, RECIPE, key=KEY) for t in mixed]
    for row, alone in enumerate(each):
        np.testing.assert_allclose(together.outputs[row], alone.outputs[0], rtol=1e-10)


def test_tasks_of_unequal_size_are_refused():
    tasks = [*binary_tasks(1), *binary_tasks(1, n=40, num_train=30)]
    with pytest.raises(ValueError, match="got 22 of 30 and 30 of 40 for training"):
        tl.train(dense_apply, _dense(), tasks, RECIPE, key=KEY)


@pytest.mark.parametrize("linearized", [False, True])
def test_seeds_together_are_seeds_alone(linearized):
    model = tl.models.mlp((3,), widths=(4,))
    keys = jax.random.split(jax.random.key(5), 3)
    each = [in_float64(model, key) for key in keys]
    params = jax.tree.map(lambda *leaves: jnp.stack(leaves), *each)
    tasks = binary_tasks(2)
    histories = tl.train_seeds(
        model, params, tasks, RECIPE, keys=keys, linearized=linearized
    )
    assert len(histories) == 3
    for history, own, key in zip(histories, each, keys, strict=True):
        one = tl.linearize(model.apply, own) if linearized else model
        assert_same(history, tl.train(one, own, tasks, RECIPE, key=key))
    assert (histories[0].outputs != histories[1].outputs).all()


def test_seeds_of_a_network_with_batch_statistics():
    model = normalized()
    keys = jax.random.split(jax.random.key(5), 2)
    tasks = binary_tasks(2, shape=(8, 8, 1))
    params = jax.vmap(model.init)(keys)
    histories = tl.train_seeds(model, params, tasks, RECIPE, keys=keys)
    for history, key in zip(histories, keys, strict=True):
        own = model.init(key)
        assert_same(history, tl.train(model, own, tasks, RECIPE, key=key))
    states = [jax.tree.leaves(history.states) for history in histories]
    assert all((a != b).any() for a, b in zip(*states, strict=True))


def test_parameters_of_other_seeds_are_refused():
    model = tl.models.mlp((3,))
    keys = jax.random.split(jax.random.key(5), 3)
    with pytest.raises(ValueError, match=r"`keys` has shape \(3,\).*jax.vmap"):
        params = model.init(keys[0])
        tl.train_seeds(model, params, binary_tasks(), RECIPE, keys=keys)


@pytest.mark.parametrize("together", [True, False])
def test_a_diverged_task_does_not_touch_the_others(together):
    calm, wild = binary_tasks(2)
    y = np.asarray(wild.y, np.float64) * 1e200
    wild = tl.Task(wild.x, y, wild.num_train, kind="regression")
    recipe = tl.Recipe(epochs=3, batch_size=6, learning_rate=0.05, loss="square")
    options = {"key": KEY, "together": together}
    both = tl.train(dense_apply, _dense(), [wild, calm], recipe, **options)
    alone = tl.train(dense_apply, _dense(), calm, recipe, **options)
    assert both.diverged.tolist() == [True, False]
    np.testing.assert_allclose(both.outputs[1:], alone.outputs, rtol=1e-10)


@pytest.mark.parametrize("together", [True, False])
def test_each_epoch_is_told_for_each_task(together):
    tasks, told = binary_tasks(2), {}

    def on_epoch(task, done, params, state):
        told[task, done] = dense_apply(params, jnp.asarray(tasks[task].x))[:, 0]

    options = {"key": KEY, "together": together, "on_epoch": on_epoch}
    history = tl.train(dense_apply, _dense(), tasks, RECIPE, **options)
    assert sorted(told) == [(t, e) for t in range(2) for e in (1, 2, 3)]
    for task in range(2):
        np.testing.assert_allclose(told[task, 3], history.outputs[task], rtol=1e-12)
        assert (told[task, 1] != told[task, 2]).any()


def test_iterations_to_a_small_loss_are_counted():
    """A network that gets it right at once, and one that never does."""
    tasks = binary_tasks(2)
    recipe = tl.Recipe(epochs=3, batch_size=6, learning_rate=1e-9, momentum=0.0)
    easy = tl.Task(tasks[0].x, np.ones(30), 22)

    def sure(params, x):
        return 20.0 + 0.0 * dense_apply(params, x)

    history = tl.train(sure, _dense(), [easy, tasks[1]], recipe, key=KEY)
    assert history.iterations_by_batch.tolist() == [0.0, np.inf]
    assert history.iterations_by_epoch.tolist() == [3.0, np.inf]


def test_iterations_are_those_of_the_losses_on_the_way():
    recipe = tl.Recipe(epochs=60, batch_size=11, learning_rate=2.0, schedule="constant")
    task = binary_tasks(1)[0]
    history = tl.train(dense_apply, _dense(), task, recipe, key=KEY)
    below = np.flatnonzero(np.asarray(history.train_loss[0]) <= 0.01)
    assert below.size and below[0] > 0
    assert float(history.iterations_by_epoch[0]) == 2 * (below[0] + 1)
    assert 0 < history.iterations_by_batch[0] <= history.iterations_by_epoch[0]


def test_any_optax_optimizer_can_be_used():
    params, tasks = _dense(), binary_tasks(1)
    rule = optax.sgd(0.05)
    own = tl.train(dense_apply, params, tasks, RECIPE, key=KEY, optimizer=rule)
    recipe = tl.Recipe(3, 6, 0.05, momentum=0.0, schedule="constant")
    plain = tl.train(dense_apply, params, tasks, recipe, key=KEY)
    assert_same(own, plain)
    lion = optax.lion(1e-2)
    other = tl.train(dense_apply, params, tasks, RECIPE, key=KEY, optimizer=lion)
    assert (other.outputs != own.outputs).any()
