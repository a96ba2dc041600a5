"""A killed run goes on where it was, to the last bit."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

REPOSITORY = Path(__file__).parent.parent.parent


def work(deadly: str, *roots: Path) -> int:
    command = [sys.executable, "-m", "tests.experiments.killed_worker", deadly]
    return subprocess.run(
        [*command, *map(str, roots)], capture_output=True, cwd=REPOSITORY
    ).returncode


def events(root: Path) -> list[str]:
    return root.with_suffix(".log").read_text().split()


def the_run(root: Path) -> Path:
    (path,) = root.iterdir()
    return path


@pytest.mark.parametrize(
    "deaths",
    [
        ["network-42"],
        pytest.param(["tile", "linearized-42"], marks=pytest.mark.slow),
    ],
    ids="-".join,
)
def test_a_run_that_was_killed_ends_as_if_nothing_had_happened(deaths, tmp_path):
    root, whole = tmp_path / "killed", tmp_path / "whole"
    for deadly in deaths:
        assert work(deadly, root) == -signal.SIGKILL
        assert the_run(root).name.endswith(".partial")
    assert work("nothing", root, whole) == 0
    assert events(root) == events(whole)  # nothing was done twice
    ours, theirs = the_run(root), the_run(whole)
    assert (ours / "metrics.jsonl").read_text() == (
        theirs / "metrics.jsonl"
    ).read_text()
    assert len(json.loads((ours / "manifest.json").read_text())["resumed"]) == len(
        deaths
    )
    names = {path.name for path in ours.iterdir()}
    assert names == {path.name for path in theirs.iterdir()}
    for path in sorted(theirs.glob("*.npz")):
        wanted, got = np.load(path), np.load(ours / path.name)
        for key in set(wanted.files) - {"seconds"}:
            np.testing.assert_array_equal(got[key], wanted[key], err_msg=key)
