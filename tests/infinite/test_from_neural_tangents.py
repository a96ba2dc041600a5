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


class Outputs:
    """A model whose outputs are given."""

    def __init__(self, outputs):
        self.apply = lambda params, x: outputs[x]


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


def test_the_empirical_nngp_is_a_mean_over_outputs(defined):
    """As `empirical_nngp_fn` there divides by the size of `trace_axes`."""
    outputs = np.arange(12.0).reshape(4, 3), np.arange(6.0).reshape(2, 3)
    names = {"x": 0, "x_test": 1, "params": None}
    example = MAPPED["empirical_nngp_fn"][1].strip("`")
    found = eval(example, {**defined, **names, "model": Outputs(outputs)})
    expected = np.mean(
        [np.outer(f, g) for f, g in zip(*(o.T for o in outputs), strict=True)], 0
    )
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("row", FIRST, ids=lambda row: row[1])
def test_first_network(row, defined):
    exec(row[1].strip("`"), defined)
