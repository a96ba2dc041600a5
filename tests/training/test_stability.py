"""Limits of the learning rate, against simulations just below and just above them."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.training.stability import limits_of, rate_limits
from tests.helpers import psd_from_eigenvalues
from tests.training.problems import regression_tasks

KEY = jax.random.key(0)


def _growth(K, recipe):
    """Final over first training loss of a linear model."""
    tasks = regression_tasks(1, n=len(K), num_train=len(K) - 4)
    history = tl.train_dual(K, np.zeros(len(K)), tasks, recipe, key=KEY)
    return float(history.train_loss[0, -1] / history.train_loss[0, 0])


def _limits(K, m, recipe):
    largest = float(np.linalg.eigvalsh(K[:m, :m])[-1])
    return rate_limits(largest, float(np.trace(K[:m, :m])), m, recipe)


def _recipe(rate, batch_size, epochs, **options):
    return tl.Recipe(
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=rate,
        schedule="constant",
        loss="square",
        **options,
    )


@pytest.mark.parametrize(
    "options",
    [
        {"momentum": 0.0},
        {"momentum": 0.9},
        {"momentum": 0.8, "nesterov": True},
        {"momentum": 0.5, "start_decay": 2.0},
    ],
)
def test_full_batches_diverge_above_the_limit_and_not_below(options):
    K, _ = psd_from_eigenvalues(jnp.linspace(1.0, 30.0, 24), jax.random.key(1))
    K = np.asarray(K + K.T) / 2
    limit = _limits(K, 20, _recipe(1.0, 20, 1, **options)).full_batch
    assert _growth(K, _recipe(0.97 * limit, 20, 80, **options)) < 1.5
    with pytest.warns(UserWarning, match="likely to diverge"):
        assert _growth(K, _recipe(1.05 * limit, 20, 80, **options)) > 1e3


def test_mini_batches_of_strangers_diverge_above_the_rule_of_thumb():
    """Samples that do not see each other: momentum has died down at the next visit."""
    K = 3.0 * np.eye(84)
    limit = _limits(K, 80, _recipe(1.0, 1, 1, momentum=0.5)).mini_batch
    assert _growth(K, _recipe(0.97 * limit, 1, 60, momentum=0.5)) < 1.5
    with pytest.warns(UserWarning, match="by rule of thumb below"):
        assert _growth(K, _recipe(1.1 * limit, 1, 60, momentum=0.5)) > 1e3


def _of_unit_samples(power):
    """A Gram matrix with a power law and equal diagonal entries."""
    draws = np.random.default_rng(0).standard_normal((84, 200))
    features = draws * np.arange(1.0, 201) ** -power
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return 3 * features @ features.T


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("batch_size", [1, 4, 16])
@pytest.mark.parametrize("power", [0.3, 1.0])
def test_the_smaller_limit_is_right_within_a_factor_of_two(power, batch_size, momentum):
    K = _of_unit_samples(power)
    limit = min(_limits(K, 80, _recipe(1.0, batch_size, 1, momentum=momentum)))
    options = {"batch_size": batch_size, "epochs": 300, "momentum": momentum}
    assert _growth(K, _recipe(limit / 2, **options)) < 1.5
    with pytest.warns(UserWarning, match="likely to diverge"):
        assert not _growth(K, _recipe(2 * limit, **options)) < 1e3


def test_a_sample_far_above_the_mean_overshoots_before():
    sizes = np.ones(84)
    sizes[0] = 30.0
    K = np.diag(sizes)
    limits = _limits(K, 80, _recipe(1.0, 1, 1, momentum=0.0))
    alone = 2 / sizes[0]
    assert alone < min(limits)
    assert _growth(K, _recipe(0.97 * alone, 1, 100, momentum=0.0)) < 1.5
    assert not _growth(K, _recipe(1.1 * alone, 1, 100, momentum=0.0)) < 1e3


def test_cross_entropy_settles_below_its_limit_and_not_above():
    """Every sample has both labels: 0 is the best output, with curvature 1/4 there."""
    lam = jnp.linspace(1.0, 30.0, 10)
    same = np.array([*range(10), *range(10), 0, 1])  # which samples are equal
    K = np.asarray(psd_from_eigenvalues(lam, jax.random.key(1))[0])[same][:, same]
    x, y = np.arange(22.0)[:, None], np.repeat([0.0, 1.0, 0.0], [10, 10, 2])
    f_0 = np.linspace(-1, 1, 10)[same]

    def excess(rate):
        recipe = tl.Recipe(150, 20, rate, schedule="constant")
        history = tl.train_dual(K, f_0, tl.Task(x, y, 20), recipe, key=KEY)
        return float(history.train_loss[0, -1] - np.log(2))

    limit = _limits(K, 20, tl.Recipe(batch_size=20)).full_batch
    assert abs(excess(0.9 * limit)) < 1e-3
    with pytest.warns(UserWarning, match="likely to diverge"):
        assert excess(1.1 * limit) > 1e-2


def test_the_warning_tells_both_limits():
    K = 3.0 * np.eye(84)
    recipe = _recipe(2.0, 1, 1, momentum=0.5)
    full, mini = _limits(K, 80, recipe)
    pattern = f"rate of 2 .*below {full:.3g} in full.*below {mini:.3g} in batches of 1"
    with pytest.warns(UserWarning, match=pattern):
        _growth(K, recipe)


def test_limits_of_a_gram_matrix_are_those_of_its_training_samples():
    K = _of_unit_samples(0.5)
    recipe = _recipe(1.0, 16, 1)
    np.testing.assert_allclose(limits_of(K, 60, recipe), _limits(K, 60, recipe), 0.01)


def test_cross_entropy_bears_four_times_the_rate():
    square, entropy = (
        rate_limits(10.0, 50.0, 20, tl.Recipe(loss=loss))
        for loss in ("square", "cross_entropy")
    )
    np.testing.assert_allclose(entropy, 4 * np.array(square))


def test_a_kernel_of_zeros_has_no_limit():
    assert rate_limits(0.0, 0.0, 20, tl.Recipe()) == (np.inf, np.inf)


def _features(n=24, num=30):
    """Of a linear model, in which no sample is alone."""
    return np.random.default_rng(2).standard_normal((n, num)) / num**0.5


def _on_both(tasks, recipe):
    """What function space and weight space say of a linear model."""
    x = tasks[0].x
    start, K = jnp.zeros((x.shape[1], 1)), x @ x.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the rate
        dual = tl.train_dual(K, np.zeros(len(x)), tasks, recipe, key=KEY)
    return dual, tl.train(lambda w, x: x @ w, start, tasks, recipe, key=KEY)


def test_three_times_the_limit_is_recorded_as_diverged_though_finite():
    x = _features()
    wanted = np.random.default_rng(3).standard_normal(24)
    tasks = [tl.Task(x, s * wanted, 20, kind="regression") for s in (1.0, 50.0)]
    limit = _limits(x @ x.T, 20, _recipe(1.0, 20, 1, momentum=0.0)).full_batch
    for rate, diverged in ((0.9, False), (3.0, True)):
        recipe = _recipe(rate * limit, 20, 8, momentum=0.0)
        for history in _on_both(tasks, recipe):
            assert jnp.isfinite(history.train_loss).all()
            assert history.diverged.tolist() == [diverged, diverged]


def test_cross_entropy_that_ends_far_above_its_start_has_diverged():
    """Every sample has both labels; its loss stays finite at any rate."""
    some = _features(12)
    x = np.concatenate([some[:10], some])
    task = tl.Task(x, np.repeat([0.0, 1.0], [10, 12]), 20)
    limit = min(_limits(x @ x.T, 20, tl.Recipe(batch_size=4)))
    for rate, diverged in ((0.5, False), (1000.0, True)):
        recipe = tl.Recipe(5, 4, rate * limit, schedule="constant")
        for history in _on_both([task], recipe):
            assert jnp.isfinite(history.train_loss).all()
            assert history.diverged.tolist() == [diverged]


def test_a_start_far_from_the_targets_has_not_diverged():
    """Outputs of 100 cost much, but less than at the start."""
    recipe = _recipe(1e-4, 20, 3)
    task = regression_tasks(1, n=24, num_train=20)
    history = tl.train_dual(np.eye(24), np.full(24, 100.0), task, recipe, key=KEY)
    assert history.train_loss[0, -1] > 1e3 and not history.diverged[0]
