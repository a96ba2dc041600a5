"""What a worker is told of a sweep, and which workers may take part."""

import numpy as np
import pytest

import tangentlab as tl
from tangentlab.cluster.fitness import versions
from tangentlab.cluster.references import Reference, refer
from tangentlab.cluster.sweeping import SweepRecipe
from tangentlab.cluster.units import Unfit
from tests.networks import dense_apply

FUNCTION = refer("function", dense_apply)


def test_a_worker_of_another_version_is_refused():
    other = SweepRecipe(FUNCTION, True, versions() | {"tangentlab": "0.0.1"})
    with pytest.raises(Unfit, match="the client .*'0.0.1'.*; install the same"):
        other.open()
    same = SweepRecipe(FUNCTION, True, versions())
    assert same.open().function is dense_apply and same.key != other.key


@pytest.mark.parametrize("path", ["no_such_module:f", "tests.networks:no_such_name"])
def test_a_worker_without_the_module_is_refused(path):
    recipe = SweepRecipe(Reference(path), True, versions())
    with pytest.raises(Unfit, match="no_such.* Put the module on its PYTHONPATH"):
        recipe.open()


def test_a_worker_that_does_not_see_the_arrays_is_refused(tmp_path):
    weights = np.ones(2**14)
    told = refer("function", lambda x: x @ weights, tmp_path)
    next((tmp_path / "inputs").iterdir()).unlink()
    with pytest.raises(Unfit, match="There is no .*and the folder where all see it"):
        SweepRecipe(told, True, versions()).open()


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"131,072 bytes\) cannot be written to .*file"):
        items = [np.ones(2**14)]
        tl.cluster.sweep(len, items, cluster="local:1", store=tmp_path / "file")
