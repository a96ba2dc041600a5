import dataclasses
import inspect

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentlab as tl
from tangentlab._checks import outside


def _task(n=12, num_train=8, shape=(3, 3, 1)):
    x = np.random.default_rng(0).normal(size=(n, *shape)).astype(np.float32)
    return tl.Task(x, np.arange(n) % 2 * 1.0, num_train, name="points")


def test_different_samples_pass_in_silence():
    found = tl.tasks.check_duplicates(_task())  # a warning would be an error here
    assert found.tolist() == []


def test_equal_samples_within_one_split_pass():
    task = _task()
    x = np.array(task.x)
    x[1], x[11] = x[0], x[10]
    assert len(tl.tasks.check_duplicates(dataclasses.replace(task, x=x))) == 0


@pytest.mark.parametrize("convert", [np.asarray, jnp.asarray])
def test_a_training_sample_in_the_test_split_is_found(convert):
    task = _task()
    x = np.array(task.x)
    x[9], x[10] = x[4], x[3]
    both = dataclasses.replace(task, x=convert(x))
    message = "2 of 4 test .* sample 9, equal to sample 4; 2 of them have another"
    with pytest.warns(UserWarning, match=message):
        assert tl.tasks.check_duplicates(both).tolist() == [9, 10]


@settings(deadline=None, max_examples=20)
@given(copies=st.lists(st.integers(0, 7), min_size=1, max_size=4))
def test_every_copy_is_found(copies):
    task = _task()
    x = np.array(task.x)
    x[8 : 8 + len(copies)] = x[copies]
    with pytest.warns(UserWarning, match=f"{len(copies)} of 4 test samples"):
        found = tl.tasks.check_duplicates(dataclasses.replace(task, x=x))
    assert found.tolist() == list(range(8, 8 + len(copies)))


def test_zeros_of_either_sign_are_equal_and_the_next_number_is_not():
    x = np.array([[0.0, 1.0], [5.0, 5.0], [-0.0, 1.0], [5.0, np.nextafter(5.0, 6.0)]])
    task = tl.Task(x, np.array([1.0, 0.0, 1.0, 0.0]), 2, name="points")
    with pytest.warns(UserWarning, match="first is sample 2, equal to sample 0; 0 of"):
        assert tl.tasks.check_duplicates(task).tolist() == [2]


def test_real_images_have_none(real_data):
    for name in ("cifar10", "mnist"):
        dataset = tl.data.load(name, directory=real_data)
        assert len(tl.tasks.check_duplicates(tl.tasks.cifar2(dataset))) == 0


def test_the_warning_points_at_the_code_that_called_the_package():
    """However deep in the package samples are looked at."""
    bare = inspect.unwrap(outside)  # type checks of the tests are frames of their own
    inside = {"__name__": "tangentlab.training.groups", "outside": bare}
    exec("def look(): return outside()\ndef train(): return look()", inside)
    assert inside["look"]() == 2
    assert inside["train"]() == 3
