"""What the README and the docstrings show, runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import tangentlab

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
MODULES = [
    module.name
    for module in pkgutil.walk_packages(tangentlab.__path__, "tangentlab.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_readme_block_runs(block, capsys):
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_readme_has_an_example():
    assert BLOCKS


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_true(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0
