"""Experiments without the packages of the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tangentlab.experiments.__main__ import read
from tangentlab.experiments.eigenfunctions import Eigenfunctions

WORDS = (
    "eigenfunctions num_samples=120 num_test=40 indices=[0,1,5] recipe.epochs=1 "
    "recipe.batch_size=16"
)


def test_options_are_read_as_json_or_words():
    order = read([*WORDS.split(), "model=lenet", "output=out", "resume=true"])
    assert order.config.model == "lenet" and order.config.indices == (0, 1, 5)
    assert order.config.recipe.epochs == 1 and order.config.recipe.batch_size == 16
    assert (order.output, order.resume, order.progress) == (Path("out"), True, False)
    assert read(["eigenfunctions"]).config == Eigenfunctions()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Say which experiment: .*eigenfunctions"),
        (["eigen"], "Unknown experiment 'eigen'"),
        (["eigenfunctions", "--seed"], "OPTION=VALUE, got '--seed'"),
        (["eigenfunctions", "sed=1"], "Unknown option 'sed'"),
        (["eigenfunctions", "recipe.epoch=1"], "Unknown option 'epoch'"),
        (["eigenfunctions", "seed=one"], "eigenfunctions.seed must be of type int"),
    ],
)
def test_words_that_mean_nothing_raise(words, message):
    with pytest.raises(ValueError, match=message):
        read(words)


BARE = """
import runpy, sys
for name in ("tyro", "plotly"):
    sys.modules[name] = None  # as if it were not installed
from tangentlab.report import images
images.data_url = lambda figure: "data:,"  # files beside the page are enough
sys.argv = ["-", *sys.argv[1:]]
runpy.run_module("tangentlab.experiments", run_name="__main__")
"""


def test_it_runs_where_the_packages_of_the_command_line_are_missing(tmp_path):
    command = [sys.executable, "-c", BARE, *WORDS.split(), "output=runs"]
    environment = {**os.environ, "PYTHONPATH": ""}
    result = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    (run,) = (tmp_path / "runs").iterdir()
    assert f"runs/{run.name}/report.html" in result.stdout
    assert "? D1  Accuracy falls with the index" in result.stdout
    assert (run / "figures" / "accuracy.png").is_file()
