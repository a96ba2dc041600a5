import doctest
import importlib

import pytest

NAMES = ["adapters.function", "contract", "linearized", "mixed", "zoo"]


@pytest.mark.parametrize("name", NAMES)
def test_examples_run(name):
    module = importlib.import_module(f"tangentlab.models.{name}")
    results = doctest.testmod(module)
    assert results.attempted > 0 and results.failed == 0
