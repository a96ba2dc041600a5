"""The page for users of neural-tangents names everything, and its examples run."""

import re
from pathlib import Path

import jax
import numpy as np
import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "from-neural-tangents.md").read_text()
NAMES = (Path(__file__).parent / "reference" / "names.txt").read_text().split()
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("| `")
]
FIRST = [row for row in ROWS if len(row) == 2]
MAPPED = {row[0].strip("`"): row[1:] for row in ROWS if len(row) == 3}
(SETUP,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)


@pytest.fixture(scope="module")
def defined():
    """What the page's block defines."""
    names = {}
    exec(compile(SETUP, "from-neural-tangents.md", "exec"), names)
    return names


def test_every_public_name_has_a_row():
    assert set(MAPPED) == set(NAMES)
    assert len(MAPPED) == len(NAMES) == sum(len(row) == 3 for row in ROWS)


@pytest.mark.parametrize("name", MAPPED)
def test_example_of(name, defined):
    here, example = MAPPED[name]
    if not example:  # nothing to run: the row says why
        assert here.startswith("none: ")
        return
    found = eval(example.strip("`"), defined)
    for leaf in jax.tree.leaves(found):
        if isinstance(leaf, jax.Array | np.ndarray | float):
            assert np.isfinite(leaf).all()


@pytest.mark.parametrize("row", FIRST, ids=lambda row: row[1])
def test_first_network(row, defined):
    exec(row[1].strip("`"), defined)
