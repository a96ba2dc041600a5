import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tangentlab as tl

X = np.arange(10.0).reshape(5, 2)
LABELS = np.array([0.0, 1.0, 1.0, 0.0, 1.0])


def test_a_binary_task_prints_its_sizes_and_its_balance():
    task = tl.Task(X, LABELS, 3, name="points")
    assert str(task) == "Task(points, 5 samples, 3 train, balance 0.60)"
    assert repr(task) == str(task) and task.flags == [] and task.kind == "binary"


def test_an_eigenfunction_prints_the_number_the_paper_gives_it():
    task = tl.Task(X, LABELS, 3, name="cifar10 eigenfunction 4", index=4, source="own")
    assert str(task).startswith(
        "Task(cifar10 eigenfunction 4 (the paper's phi_5), source: own, 5 samples"
    )


def test_thousands_are_separated():
    task = tl.Task(np.zeros((60_000, 1)), np.arange(60_000.0) % 2, 50_000)
    assert "60,000 samples, 50,000 train" in str(task)


def test_flags_are_printed():
    task = tl.Task(X, np.ones(5), 3, unresolved=True)
    assert task.flags == ["degenerate", "unresolved"]
    assert str(task).endswith("balance 1.00, degenerate, unresolved)")


def test_a_task_prints_under_jit_and_without_its_arrays():
    seen = []
    task = tl.Task(X, LABELS, 3, name="points", index=0)

    @jax.jit
    def look(task):
        seen.append(repr(task))
        return task.y.sum()

    assert look(jax.tree.map(jnp.asarray, task)) == 3
    hollow = jax.tree.map(lambda leaf: None, task)
    assert [*seen, repr(hollow)] == ["Task(points (the paper's phi_1))"] * 2


@pytest.mark.parametrize("first", [0, 60], ids=["train", "test"])
@pytest.mark.parametrize("rare", [0.0, 1.0])
def test_degenerate_begins_above_95_percent_of_a_split(first, rare):
    y = np.full(100, 1 - rare)
    y[:3], y[60:62] = rare, rare  # 5 % of either split
    edge = tl.Task(np.zeros((100, 1)), y, 60)
    assert max(edge.balance, 1 - edge.balance) == 0.95 and not edge.degenerate
    y = y.copy()
    y[first] = 1 - rare
    assert dataclasses.replace(edge, y=y).degenerate


@pytest.mark.parametrize("y", [[1, 1, 1, 0, 1], [1, 0, 1, 0, 0]], ids=["train", "test"])
@pytest.mark.parametrize("kind", ["binary", "regression"])
def test_one_class_in_one_split_is_degenerate_in_a_task_of_two(y, kind):
    task = tl.Task(X, np.array(y, float), 3, kind=kind)
    assert 0.05 < task.balance < 0.95 and task.flags == ["degenerate"]


@settings(deadline=None, max_examples=50)
@given(
    y=hnp.arrays(float, 40, elements=st.sampled_from([0.0, 1.0])),
    num_train=st.integers(1, 39),
    share=st.floats(0, 0.1),
)
def test_a_constant_for_all_samples_is_one_for_a_split(y, num_train, share):
    y = np.where(np.arange(40) < 40 * share, y, 1.0)
    task = tl.Task(np.zeros((40, 1)), y, num_train)
    assert task.degenerate or max(task.balance, 1 - task.balance) <= 0.95


def test_regression_takes_real_targets_and_says_so():
    y = np.array([-0.5, 2.0, 0.25, -1.0, -3.0])
    task = tl.Task(X, y, 3, name="heat", kind="regression")
    assert task.balance == 0.4 and task.test_chance == 1.0 and not task.degenerate
    assert str(task) == "Task(heat, regression, 5 samples, 3 train, balance 0.40)"


@pytest.mark.parametrize(
    ("y", "degenerate"),
    [
        (np.zeros(4), True),
        (np.full(4, -2.0), True),
        (1 + 0.2 * np.array([1, -1, 1, -1]), True),  # 1 / (1 + 0.04) > 0.95
        (1 + 0.3 * np.array([1, -1, 1, -1]), False),  # 1 / (1 + 0.09) < 0.95
        (1 + np.array([0.2, -0.2, 0.3, -0.3]), True),
        (1 + np.array([0.3, -0.3, 0.2, -0.2]), True),
    ],
)
def test_regression_is_degenerate_where_the_mean_explains_a_split(y, degenerate):
    assert tl.Task(X[:4], y, 2, kind="regression").degenerate == degenerate


@pytest.mark.parametrize(
    ("y", "kind", "message"),
    [
        (LABELS - 0.5, "binary", "got -0.5; threshold .* or make it a regression task"),
        (np.full(5, np.inf), "regression", r"got inf for sample 0 \(5 of 5 are not\)"),
        (LABELS * 1j, "regression", "must be real numbers, got dtype complex128"),
        (np.array(list("abcde")), "binary", "must be real numbers, got dtype <U1"),
        (LABELS.tolist(), "binary", r"`y` must be an array .* got list: .*asarray\(y"),
        (LABELS, "ranking", "Unknown kind of task 'ranking'. Known: binary, regress"),
    ],
)
def test_targets_of_another_kind_raise(y, kind, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.Task(X, y, 3, kind=kind)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_train": 2.0}, r"a whole number of them, got num_train = 2\.0 of 5"),
        ({"num_train": True}, "a whole number of them, got num_train = True of 5"),
        ({"index": 1.5}, r"`index` must be a whole number from 0 on, .* got 1\.5"),
        ({"index": -1}, "`index` must be a whole number from 0 on, or None, got -1"),
    ],
)
def test_numbers_that_count_are_whole(options, message, no_type_checks):
    with pytest.raises(ValueError, match=message):
        tl.Task(X, LABELS, **{"num_train": 2} | options)
