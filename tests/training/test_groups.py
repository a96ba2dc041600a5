"""Tasks that are trained together."""

import jax.numpy as jnp
import numpy as np
import pytest

import tangentlab as tl
from tangentlab.training.groups import group_tasks
from tests.training.problems import binary_tasks


def test_equal_samples_make_a_group_and_groups_are_cut_evenly():
    tasks = binary_tasks(7)
    tasks[3] = tl.Task(np.array(tasks[3].x), tasks[3].y, 22)  # equal, not the same
    (group,) = group_tasks(tasks, "cross_entropy")
    assert group.rows == tuple(range(7))
    parts = list(group.cut(3))
    assert [len(part.rows) for part in parts] == [3, 3, 1]
    np.testing.assert_array_equal(parts[1].y, [task.y for task in tasks[3:6]])
    assert [len(part.rows) for part in group.cut(6)] == [4, 3]


def test_other_samples_make_another_group():
    tasks = [*binary_tasks(1), *binary_tasks(1, seed=21), *binary_tasks(1)]
    assert [g.rows for g in group_tasks(tasks, "square")] == [(0, 2), (1,)]


def test_samples_in_both_splits_warn_once_for_all_tasks_on_them():
    tasks = binary_tasks(3)
    x = np.array(tasks[0].x)
    x[25] = x[3]
    twice = [tl.Task(x, task.y, task.num_train) for task in tasks]
    with pytest.warns(UserWarning, match="1 of 8 test samples are also") as caught:
        group_tasks(twice, "cross_entropy")
    assert len(caught) == 1


@pytest.mark.parametrize("array", [np.asarray, jnp.asarray])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_samples_that_are_not_finite_raise(value, array):
    task = binary_tasks(1)[0]
    x = np.array(task.x)
    x[2, 1] = x[3, 0] = value
    x[4, 0] = -value
    given = tl.Task(array(x), task.y, task.num_train, name="points")
    message = r"points: sample 2 holds NaN or infinite values \(3 samples do\)"
    with pytest.raises(ValueError, match=message):
        group_tasks([given], "cross_entropy")


def test_finite_samples_may_have_a_sum_that_is_not():
    x = np.full((5, 2), np.finfo(np.float32).max, np.float32)
    x[3:] *= 0.5
    task = tl.Task(x, np.array([0.0, 1, 0, 1, 0]), 3)
    assert group_tasks([task], "cross_entropy")[0].x is x
