"""The dual trainer against weight space: same batches, same iterates, to rounding."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tests.training.problems import (
    binary_tasks,
    in_float64,
    network,
    regression_tasks,
)

RECIPES = {
    "default": {},
    "no momentum": {"momentum": 0.0},
    "nesterov": {"nesterov": True},
    "constant": {"schedule": "constant"},
    "one cycle": {"schedule": "one_cycle"},
    "start decay": {"start_decay": 0.3},
    "weight decay": {"weight_decay": 0.2},
    "both decays, nesterov": {
        "weight_decay": 0.2,
        "start_decay": 0.1,
        "nesterov": True,
    },
    "square": {"loss": "square"},
    "square, nesterov, decay": {
        "loss": "square",
        "nesterov": True,
        "weight_decay": 0.1,
    },
}
FIELDS = ["train_loss", "train_accuracy", "test_loss", "test_accuracy"]
FIELDS += ["distance", "cosine_distance", "outputs"]
KEY = jax.random.key(3)


def recipe(**options):
    return tl.Recipe(epochs=3, batch_size=6, learning_rate=0.02, **options)


@functools.cache
def problem(name):
    model, params = network(name)
    tasks = binary_tasks(shape=(8, 8, 1))
    x = jnp.asarray(tasks[0].x)
    K = tl.gram(model.apply, params, x)
    origin = tl.origin(model.apply, params, x)
    return model, params, tasks, K, model.apply(params, x), origin


def assert_same_training(dual, primal, tolerance=1e-8):
    for field in FIELDS:
        got, wanted = getattr(dual, field), getattr(primal, field)
        np.testing.assert_allclose(
            got, wanted, rtol=tolerance, atol=tolerance, err_msg=field
        )
    for field in ("iterations_by_batch", "iterations_by_epoch"):
        np.testing.assert_array_equal(getattr(dual, field), getattr(primal, field))


CORNER = "square, nesterov, decay"
QUICK = [("mlp", name) for name in RECIPES]
QUICK += [("lenet", "default"), ("lenet", CORNER), ("resnet18", CORNER)]
SLOW = [(name, each) for name in ("lenet", "resnet18") for each in RECIPES]
SLOW = [
    pytest.param(*each, marks=pytest.mark.slow) for each in SLOW if each not in QUICK
]


@pytest.mark.parametrize(("name", "options"), QUICK + SLOW)
def test_dual_and_primal_iterates_agree(name, options):
    model, params, tasks, K, f_0, origin = problem(name)
    chosen = recipe(**RECIPES[options])
    linear = tl.linearize(model.apply, params)
    primal = tl.train(linear, params, tasks, chosen, key=KEY)
    dual = tl.train_dual(K, f_0, tasks, chosen, key=KEY, origin=origin)
    assert_same_training(dual, primal)
    moved = float(jnp.abs(primal.outputs - jnp.asarray(f_0).T).max())
    assert moved > 1e-2  # so that there was something to agree on


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mlp", "lenet", "resnet18"])
def test_dual_and_primal_iterates_agree_on_the_published_networks(name):
    model = tl.models.build(name, (32, 32, 3))
    params = in_float64(model, jax.random.key(1))
    tasks = binary_tasks(2, n=12, num_train=8, shape=(32, 32, 3))
    chosen = tl.Recipe(epochs=3, batch_size=4, learning_rate=1e-3, weight_decay=0.1)
    K, f_0 = tl.gram(model.apply, params, tasks[0].x), model.apply(params, tasks[0].x)
    origin = tl.origin(model.apply, params, tasks[0].x)
    linear = tl.linearize(model.apply, params)
    primal = tl.train(linear, params, tasks, chosen, key=KEY)
    dual = tl.train_dual(K, f_0, tasks, chosen, key=KEY, origin=origin)
    assert_same_training(dual, primal)


def test_regression_tasks_train_on_their_targets_as_they_are():
    model, params, _, K, f_0, origin = problem("mlp")
    tasks = regression_tasks(shape=(8, 8, 1))
    chosen = recipe(loss="square")
    linear = tl.linearize(model.apply, params)
    primal = tl.train(linear, params, tasks, chosen, key=KEY)
    dual = tl.train_dual(K, f_0, tasks, chosen, key=KEY, origin=origin)
    assert_same_training(dual, primal)
    y = np.stack([task.y for task in tasks])[:, 22:]
    expected = ((np.asarray(dual.outputs)[:, 22:] - y) ** 2 / 2).mean(axis=1)
    np.testing.assert_allclose(dual.test_loss[:, -1], expected)


def test_coefficients_are_those_of_the_examples_gradients():
    model, params, tasks, K, f_0, _ = problem("mlp")
    dual = tl.train_dual(K, f_0, tasks, recipe(), key=KEY)
    assert dual.coefficients is not None
    expected = np.asarray(f_0).T + dual.coefficients @ K[:22]
    np.testing.assert_allclose(dual.outputs, expected, rtol=1e-10, atol=1e-12)


def test_without_origin_there_is_no_cosine_distance():
    *_, tasks, K, f_0, origin = problem("mlp")
    with_it = tl.train_dual(K, f_0, tasks, recipe(), key=KEY, origin=origin)
    without = tl.train_dual(K, f_0, tasks, recipe(), key=KEY)
    np.testing.assert_allclose(without.distance, with_it.distance)
    assert with_it.cosine_distance.shape == (3,)
    with pytest.raises(ValueError, match="pass `origin=tl.origin"):
        _ = without.cosine_distance


class Sliced:
    """A matrix that is nothing but shape, dtype and slices."""

    def __init__(self, K):
        self.array, self.shape, self.dtype = np.asarray(K), K.shape, K.dtype

    def __getitem__(self, key):
        return self.array[key]


@pytest.mark.parametrize("memory", [None, 40_000, 1])
@pytest.mark.parametrize("kind", ["numpy", "sliced", "tiles"])
def test_any_gram_matrix_gives_the_same_training(kind, memory, tmp_path):
    model, params, tasks, K, f_0, origin = problem("mlp")
    options = {"key": KEY, "origin": origin}
    made = {
        "numpy": lambda: np.asarray(K),
        "sliced": lambda: Sliced(K),
        "tiles": lambda: tl.gram(model.apply, params, tasks[0].x, store=tmp_path / "K"),
    }[kind]()
    expected = tl.train_dual(K, f_0, tasks, recipe(), **options)
    got = tl.train_dual(made, f_0, tasks, recipe(), memory=memory, **options)
    assert_same_training(got, expected, 1e-11)


def test_float32_is_kept():
    *_, tasks, K, f_0, origin = problem("mlp")
    expected = tl.train_dual(K, f_0, tasks, recipe(), key=KEY, origin=origin)
    half = np.asarray(K, np.float32)
    got = tl.train_dual(half, f_0, tasks, recipe(), key=KEY, origin=origin)
    assert got.outputs.dtype == got.test_loss.dtype == jnp.float32
    np.testing.assert_allclose(got.outputs, expected.outputs, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got.cosine_distance, expected.cosine_distance, rtol=1e-4)


def test_a_diverged_task_does_not_touch_the_others():
    """The squares of such targets are beyond the largest float."""
    *_, K, f_0, _ = problem("mlp")
    calm, wild = regression_tasks(2, shape=(8, 8, 1))
    wild = tl.Task(wild.x, wild.y * 1e200, wild.num_train, kind="regression")
    chosen = recipe(loss="square")
    both = tl.train_dual(K, f_0, [wild, calm], chosen, key=KEY)
    alone = tl.train_dual(K, f_0, calm, chosen, key=KEY)
    assert both.diverged.tolist() == [True, False]
    np.testing.assert_allclose(both.outputs[1:], alone.outputs, rtol=1e-12)


def _no_gram(K):
    return K.at[3, 3].set(-1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda K: K[:20, :20], r"shape \(20, 20\), the tasks have 30 samples"),
        (lambda K: K[:20], "square Gram matrix"),
        (lambda K: K.astype(int), "floating-point numbers, got int64"),
        (lambda K: K.at[:, 0].multiply(2), r"not symmetric: K\[0, \d+\] = "),
        (lambda K: K.at[0, 0].set(jnp.nan), "NaN or infinite"),
        (lambda K: K.at[23, 7].set(jnp.inf), "NaN or infinite"),
        (_no_gram, "entry 3 of its diagonal is -1"),
    ],
)
def test_what_is_no_gram_matrix_is_refused(change, message):
    *_, tasks, K, f_0, _ = problem("mlp")
    with pytest.raises(ValueError, match=message):
        tl.train_dual(change(K), f_0, tasks, recipe(), key=KEY)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimizer": "adam"}, "'adam' depends on the coordinates"),
        ({"weight_decay": 0.1}, r"Weight decay \(0.1\) pulls toward 0.*origin="),
    ],
)
def test_recipes_that_need_weight_space_are_refused(options, message):
    *_, tasks, K, f_0, _ = problem("mlp")
    with pytest.raises(ValueError, match=message):
        tl.train_dual(K, f_0, tasks, recipe(**options), key=KEY)


def test_initial_outputs_must_fit(no_type_checks):
    *_, tasks, K, f_0, (q, norm) = problem("mlp")
    with pytest.raises(ValueError, match=r"`f_0` must be one number.*got shape \(5, 1"):
        tl.train_dual(K, f_0[:5], tasks, recipe(), key=KEY)
    with pytest.raises(ValueError, match="`f_0` holds NaN"):
        tl.train_dual(K, f_0 * jnp.nan, tasks, recipe(), key=KEY)
    with pytest.raises(ValueError, match=r"`origin\[0\]` must be one number"):
        tl.train_dual(K, f_0, tasks, recipe(), key=KEY, origin=(q[:3], norm))


def test_tasks_on_other_samples_are_refused():
    *_, tasks, K, f_0, _ = problem("mlp")
    others = binary_tasks(1, shape=(8, 8, 1), seed=11)
    with pytest.raises(ValueError, match="2 different sets of samples"):
        tl.train_dual(K, f_0, [*tasks, *others], recipe(), key=KEY)


def test_cross_entropy_refuses_regression():
    *_, K, f_0, _ = problem("mlp")
    with pytest.raises(ValueError, match="cross-entropy needs labels 0 and 1"):
        tl.train_dual(K, f_0, regression_tasks(shape=(8, 8, 1)), recipe(), key=KEY)


def test_samples_in_both_splits_only_warn():
    task = binary_tasks(1)[0]
    x = np.array(task.x)
    x[25] = x[3]
    twice = tl.Task(x, task.y, task.num_train)
    with pytest.warns(UserWarning, match="1 of 8 test samples are also training"):
        tl.train_dual(x @ x.T, np.zeros(30), twice, recipe(), key=KEY)


def test_origin_is_the_output_along_the_initial_parameters():
    model, params, tasks, *_ = problem("mlp")
    x = tasks[0].x
    q, squared_norm = tl.origin(model.apply, params, x)
    step = jax.tree.map(lambda leaf: (1 + 1e-6) * leaf, params)
    difference = (model.apply(step, x) - model.apply(params, x))[:, 0] / 1e-6
    np.testing.assert_allclose(q, difference, rtol=1e-3, atol=1e-5)
    total = sum(float((leaf**2).sum()) for leaf in jax.tree.leaves(params))
    np.testing.assert_allclose(squared_norm, total)
    with pytest.raises(ValueError, match="one output, this one has 2"):
        tl.origin(lambda w, x: x @ w, jnp.ones((3, 2)), jnp.ones((4, 3)))
