"""Functions travel by name or as saved modules, never with gigabytes."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tangentlab.cluster.references import refer, refer_here
from tests.networks import dense_apply


def test_what_can_be_imported_travels_by_name():
    found = refer("apply", dense_apply)
    assert found.path == "tests.networks:dense_apply" and not found.saved
    assert found.resolve() is dense_apply


def test_a_closure_travels_as_a_saved_module():
    local = 3
    found = refer("apply", lambda x: x + local)
    assert not found.path and len(found.saved) < 2_000
    assert found.resolve()(1) == 4


def test_a_worker_in_this_process_is_given_the_function_itself():
    weights = np.zeros(2**22)  # which would be refused elsewhere

    def apply(x):
        return x @ weights

    found = refer_here("apply", apply)
    assert not found.path and not found.saved and found.resolve() is apply


class Bare:
    """A function that cannot be held weakly."""

    __slots__ = ()

    def __call__(self, x):
        """One more."""
        return x + 1


def test_what_cannot_be_held_weakly_is_saved_for_it_too():
    assert refer_here("apply", Bare()).resolve()(1) == 2


def test_a_closure_over_gigabytes_is_refused():
    weights = np.zeros(2**22)
    with pytest.raises(ValueError, match="closes over 33,555,.* pass its arrays as `p"):
        refer("apply", lambda x: x @ weights)


def test_large_arrays_stay_in_a_folder_and_come_back(tmp_path):
    weights, known = np.arange(2.0**14), {}
    found = refer("items", {"a": weights, "b": np.ones(3)}, tmp_path, known)
    again = refer("items", [weights], tmp_path, known)
    assert len(found.saved) < 1_000 > len(again.saved)
    assert len(list((tmp_path / "inputs").iterdir())) == 1
    back = found.resolve()
    np.testing.assert_array_equal(back["a"], weights)
    np.testing.assert_array_equal(back["b"], np.ones(3))
    assert back["a"].dtype == np.float64 and not back["a"].flags.writeable


def test_arrays_of_a_device_and_random_keys_come_back(tmp_path):
    value, key = jnp.arange(2**15, dtype=jnp.float32), jax.random.key(3)
    back_value, back_key = refer("items", (value, key), tmp_path).resolve()
    assert isinstance(back_value, jax.Array) and back_value.dtype == jnp.float32
    np.testing.assert_array_equal(back_value, value)
    assert jax.random.uniform(back_key) == jax.random.uniform(key)


def test_what_cannot_be_sent_is_refused():
    lock = threading.Lock()
    with pytest.raises(ValueError, match="`apply` cannot be sent.*top of a module"):
        refer("apply", lambda x: lock)
