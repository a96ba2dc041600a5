import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["adapters.function", "contract", "linearized", "zoo"])
def test_examples_run(name):
    module = importlib.import_module(f"tangentlab.models.{name}")
    results = doctest.testmod(module)
    assert results.attempted > 0 and results.failed == 0
