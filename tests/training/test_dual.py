"""The dual trainer against weight space: same batches, same iterates, to rounding."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import tangentlab as tl
from tangentlab.training.dual_checks import check_gram
from tests.networks import dense_apply
from tests.training.problems import (
    ITERATIONS,
    METRICS,
    binary_tasks,
    dense_start,
    in_float64,
    regression_tasks,
    tangents,
)

KEY = jax.random.key(3)
RECIPES = {
    "default": {},
    "start decay, one cycle": {"start_decay": 0.3, "schedule": "one_cycle"},
    "weight decay, constant": {"weight_decay": 0.2, "schedule": "constant"},
    "both decays, nesterov": {
        "weight_decay": 0.2,
        "start_decay": 0.1,
        "nesterov": True,
    },
    "square, no momentum": {"loss": "square", "weight_decay": 0.1, "momentum": 0.0},
}


def recipe(**options):
    return tl.Recipe(epochs=3, batch_size=6, learning_rate=0.02, **options)


@functools.cache
def problem():
    params, tasks = dense_start(), binary_tasks(3)
    x = jnp.asarray(tasks[0].x)
    K, f_0 = tangents(dense_apply, params, x)
    return params, tasks, K, f_0, tl.origin(dense_apply, params, x)


def dual(K=None, tasks=None, **options):
    """Train in function space, by the default recipe unless told otherwise."""
    _, own_tasks, own_K, f_0, _ = problem()
    K, tasks = own_K if K is None else K, tasks or own_tasks
    chosen = {
        key: options.pop(key)
        for key in ("loss", "weight_decay", "optimizer")
        if key in options
    }
    return tl.train_dual(K, f_0, tasks, recipe(**chosen), key=KEY, **options)


def assert_same_training(dual, primal, tolerance=1e-8):
    for field in [*METRICS, "distance", "cosine_distance", "outputs"]:
        got, wanted = getattr(dual, field), getattr(primal, field)
        np.testing.assert_allclose(
            got, wanted, rtol=tolerance, atol=tolerance, err_msg=field
        )
    for field in ITERATIONS:
        np.testing.assert_array_equal(getattr(dual, field), getattr(primal, field))


@pytest.mark.parametrize("options", RECIPES.values(), ids=RECIPES)
def test_dual_and_primal_iterates_agree(options):
    params, tasks, K, f_0, origin = problem()
    linear, chosen = tl.linearize(dense_apply, params), recipe(**options)
    primal = tl.train(linear, params, tasks, chosen, key=KEY)
    found = tl.train_dual(K, f_0, tasks, chosen, key=KEY, origin=origin)
    assert_same_training(found, primal)
    assert np.abs(primal.outputs - np.asarray(f_0).T).max() > 1e-2  # it did move


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("mlp", 1e-3),
        ("lenet", 5e-3),
        ("resnet18", 1e-3),
    ],
)
def test_dual_and_primal_iterates_agree_on_the_published_networks(name, rate):
    """Of full width, on small images; the ResNet18 with its statistics frozen."""
    model = tl.models.build(name, (8, 8, 1))
    params = in_float64(model.init(jax.random.key(1)))
    tasks = binary_tasks(2, n=14, num_train=9, shape=(8, 8, 1))
    x = jnp.asarray(tasks[0].x)
    chosen = tl.Recipe(epochs=3, batch_size=4, learning_rate=rate, weight_decay=0.1)
    K, f_0 = tangents(model.apply, params, x)
    origin = tl.origin(model.apply, params, x)
    linear = tl.linearize(model.apply, params)
    primal = tl.train(linear, params, tasks, chosen, key=KEY)
    found = tl.train_dual(K, f_0, tasks, chosen, key=KEY, origin=origin)
    assert_same_training(found, primal)
    assert np.abs(primal.outputs - np.asarray(f_0).T).max() > 1e-2


def test_a_schedule_of_your_own_is_that_of_an_optimizer_in_weight_space():
    params, tasks, K, f_0, origin = problem()
    linear, chosen = tl.linearize(dense_apply, params), recipe()
    rates = 0.03 * jnp.cos(jnp.arange(9.0)) ** 2  # 3 epochs of 3 steps
    rule = optax.sgd(lambda step: rates[step], momentum=chosen.momentum)
    primal = tl.train(linear, params, tasks, chosen, key=KEY, optimizer=rule)
    options = {"key": KEY, "origin": origin}
    found = tl.train_dual(K, f_0, tasks, chosen, rates=rates, **options)
    assert_same_training(found, primal)
    own = tl.train_dual(K, f_0, tasks, chosen, rates=chosen.rates(22), **options)
    assert_same_training(own, dual(origin=origin), tolerance=1e-15)
    with pytest.raises(ValueError, match=r"each of 9 steps \(3 epochs of 3\).*\(8,\)"):
        dual(rates=rates[1:])
    with pytest.raises(ValueError, match="finite and at least 0"):
        dual(rates=-rates)


def test_regression_tasks_train_on_their_targets_as_they_are():
    params, _, K, f_0, origin = problem()
    tasks = regression_tasks()
    linear, chosen = tl.linearize(dense_apply, params), recipe(loss="square")
    primal = tl.train(linear, params, tasks, chosen, key=KEY)
    found = tl.train_dual(K, f_0, tasks, chosen, key=KEY, origin=origin)
    assert_same_training(found, primal)
    y = np.stack([task.y for task in tasks])[:, 22:]
    expected = ((np.asarray(found.outputs)[:, 22:] - y) ** 2 / 2).mean(axis=1)
    np.testing.assert_allclose(found.test_loss[:, -1], expected)


def test_coefficients_are_those_of_gradients_and_of_the_start():
    *_, K, f_0, (q, norm) = problem()
    found = dual(weight_decay=0.2, origin=(q, norm))
    beta, c = found.coefficients, found.origin_coefficient
    assert beta is not None and c is not None and (c < 0).all()
    expected = np.asarray(f_0).T + beta @ K[:22] + np.outer(c, q)
    np.testing.assert_allclose(found.outputs, expected, rtol=1e-10, atol=1e-12)


def test_without_origin_there_is_no_cosine_distance():
    with_it, without = dual(origin=problem()[-1]), dual()
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


@pytest.fixture(scope="module")
def tiles(tmp_path_factory):
    params, tasks, *_ = problem()
    folder = tmp_path_factory.mktemp("gram") / "K"
    return tl.gram(dense_apply, params, tasks[0].x, store=folder)


@pytest.mark.parametrize(
    ("kind", "memory"),
    [("numpy", None), ("tiles", None), ("sliced", 1), ("tiles", 12_000)],
)
def test_any_gram_matrix_gives_the_same_training(kind, memory, request):
    """On the device; or rows of one batch and one task, or two of either, at once."""
    *_, K, _, origin = problem()
    made = {
        "numpy": lambda: np.asarray(K),
        "sliced": lambda: Sliced(K),
        "tiles": lambda: request.getfixturevalue("tiles"),
    }[kind]()
    expected = dual(origin=origin)
    assert_same_training(dual(made, memory=memory, origin=origin), expected, 1e-11)


def test_nested_lists_are_a_gram_matrix():
    K = problem()[2]
    got = dual(np.asarray(K).tolist())
    np.testing.assert_array_equal(got.outputs, dual(np.asarray(K)).outputs)


def test_float32_is_kept():
    *_, K, _, origin = problem()
    expected, got = dual(origin=origin), dual(np.asarray(K, np.float32), origin=origin)
    assert got.outputs.dtype == got.test_loss.dtype == jnp.float32
    np.testing.assert_allclose(got.outputs, expected.outputs, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got.cosine_distance, expected.cosine_distance, rtol=1e-3)


def test_a_diverged_task_does_not_touch_the_others():
    """The squares of such targets are beyond the largest float."""
    calm, wild = regression_tasks(2)
    wild = tl.Task(wild.x, wild.y * 1e200, wild.num_train, kind="regression")
    both, alone = (
        dual(tasks=[wild, calm], loss="square"),
        dual(tasks=calm, loss="square"),
    )
    assert both.diverged.tolist() == [True, False]
    np.testing.assert_allclose(both.outputs[1:], alone.outputs, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda K: K[:20, :20], r"shape \(20, 20\), the tasks have 30 samples"),
        (lambda K: K[:20], "square Gram matrix"),
        (lambda K: K.astype(int), "floating-point numbers, got int64: cast it"),
        (lambda K: K.at[:, 0].multiply(2), r"not symmetric: K\[0, \d+\] = "),
        (lambda K: K.at[27, 4].add(9), r"not symmetric: K\[4, 27\] = .*K\[27, 4\] = "),
        (lambda K: K.at[27, 4].multiply(1 + 1e-6), "if that is rounding, take"),
        (lambda K: np.tril(K), "not symmetric"),
        (lambda K: Sliced(np.tril(K)), "not symmetric"),
        (lambda K: K.at[2, 2].set(jnp.nan), "NaN or infinite .* first in row 2"),
        (lambda K: K.at[23, 7].set(jnp.inf), "NaN or infinite .* first in row 23"),
        (lambda K: K.at[3, 3].set(-1.0), "entry 3 of its diagonal is -1"),
    ],
)
def test_what_is_no_gram_matrix_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        dual(change(problem()[2]))


def test_whole_rows_of_a_matrix_on_disk_are_compared_with_its_columns():
    K = np.eye(100)
    K[37, 99] = 9.0
    with pytest.raises(ValueError, match=r"K\[99, 37\] = 0, K\[37, 99\] = 9"):
        check_gram(Sliced(K), 100)
    check_gram(Sliced(np.eye(100)), 100)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimizer": "adam"}, "'adam' depends on the coordinates"),
        ({"weight_decay": 0.1}, r"Weight decay \(0.1\) pulls toward 0.*origin="),
    ],
)
def test_recipes_that_need_weight_space_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        dual(**options)


def test_initial_outputs_must_fit(no_type_checks):
    _, tasks, K, f_0, (q, norm) = problem()
    with pytest.raises(ValueError, match=r"`f_0` must be one number.*got shape \(5, 1"):
        tl.train_dual(K, f_0[:5], tasks, recipe(), key=KEY)
    with pytest.raises(ValueError, match=r"got None: pass `apply\(params, x\)`"):
        tl.train_dual(K, None, tasks, recipe(), key=KEY)  # pyright: ignore
    with pytest.raises(ValueError, match="`f_0` holds NaN .*, the first for sample 4"):
        tl.train_dual(K, f_0.at[4].set(jnp.nan), tasks, recipe(), key=KEY)
    with pytest.raises(ValueError, match=r"`origin\[0\]` must be one number"):
        dual(origin=(q[:3], norm))
    for wrong in (q, (q, np.nan), (q, -1.0), (q, q)):
        with pytest.raises(
            ValueError, match="`origin` must be a pair.*pass `tl.origin"
        ):
            dual(origin=wrong, weight_decay=0.1)


def test_a_batch_must_fit():
    _, tasks, K, f_0, _ = problem()
    with pytest.raises(ValueError, match="A batch of 128 does not fit 22 training"):
        tl.train_dual(K, f_0, tasks, tl.Recipe(), key=KEY)


def test_tasks_on_other_samples_are_refused():
    with pytest.raises(ValueError, match="2 different sets of samples"):
        dual(tasks=[*binary_tasks(1), *binary_tasks(1, seed=11)])


def test_cross_entropy_refuses_regression():
    with pytest.raises(ValueError, match="cross-entropy needs labels 0 and 1"):
        dual(tasks=regression_tasks())


def test_samples_in_both_splits_only_warn():
    _, (task, *_), *_ = problem()
    x = np.array(task.x)
    x[25] = x[3]
    twice = [tl.Task(x, task.y, task.num_train)] * 3
    with pytest.warns(UserWarning, match="1 of 8 test samples are also") as caught:
        dual(tasks=twice)
    assert len(caught) == 1


def test_origin_is_the_output_along_the_initial_parameters():
    params, tasks, *_, (q, squared_norm) = problem()
    x = tasks[0].x
    step = jax.tree.map(lambda leaf: (1 + 1e-6) * leaf, params)
    difference = (dense_apply(step, x) - dense_apply(params, x))[:, 0] / 1e-6
    np.testing.assert_allclose(q, difference, rtol=1e-4, atol=1e-5)
    total = sum(float((leaf**2).sum()) for leaf in jax.tree.leaves(params))
    np.testing.assert_allclose(squared_norm, total)
    with pytest.raises(ValueError, match="one output, this one has 2: return one"):
        tl.origin(lambda w, x: x @ w, jnp.ones((3, 2)), jnp.ones((4, 3)))
