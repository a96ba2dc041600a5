"""Functions travel by name or as saved modules, never with gigabytes."""

import threading

import numpy as np
import pytest

from tangentlab.cluster.references import refer
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


def test_a_closure_over_gigabytes_is_refused():
    weights = np.zeros(2**22)
    with pytest.raises(ValueError, match="closes over 33,555,.* pass its arrays as `p"):
        refer("apply", lambda x: x @ weights)


def test_what_cannot_be_sent_is_refused():
    lock = threading.Lock()
    with pytest.raises(ValueError, match="`apply` cannot be sent.*top of a module"):
        refer("apply", lambda x: lock)
