"""What the README and the docstrings show, runs."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
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
NOTEBOOKS = sorted((ROOT / "examples").glob("0*.py"))
SHOW = """
import runpy, sys, warnings
import matplotlib.pyplot as plt
import tangentlab
warnings.simplefilter("error")
plt.show = lambda: None  # keeps the figure open
runpy.run_path(sys.argv[1])
drawn = [ax for number in plt.get_fignums() for ax in plt.figure(number).axes]
assert sum(ax.has_data() for ax in drawn) >= 2, "no figure"
"""


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_readme_block_runs(block, capsys):
    exec(compile(block, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_readme_has_an_example():
    assert BLOCKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_answers_its_question_with_a_figure(path):
    title = re.search(r"^# # (.*)$", path.read_text(), re.M)
    assert title is not None and title[1].endswith("?")
    assert "\n# ## The answer\n" in path.read_text()
    known = {k: v for k, v in os.environ.items() if k != "TANGENTLAB_DATA"}
    done = subprocess.run(
        [sys.executable, "-c", SHOW, str(path)],
        env=known | {"MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_there_are_six_notebooks():
    assert [path.name[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06"]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_true(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0
