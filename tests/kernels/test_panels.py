"""Features are kept where they serve again, and come out the same either way."""

import dataclasses
from itertools import pairwise

import jax
import numpy as np
import pytest

from tangentlab.kernels.engine import panel_pairs
from tangentlab.kernels.forms import choose
from tangentlab.kernels.network import read
from tangentlab.kernels.packing import Problem
from tangentlab.kernels.panels import Panels
from tangentlab.kernels.request import Request
from tangentlab.kernels.tiled.tiles import Place
from tangentlab.kernels.tiled.units import in_order, kept_panels, plan_units
from tests.networks import dense_apply, dense_params

X, Y = np.arange(12.0), np.arange(100.0, 109.0)


class Counting:
    """Doubles the examples, and remembers for which it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, features, x):
        self.asked.append(x[0][0])
        return [(features * x[0],)]


def _pairs(kept, symmetric=True):
    problem = Problem(12, 12 if symmetric else 9, 1, symmetric, 8, 8)
    return in_order((Place(*p) for p in panel_pairs(problem, 3)), 3, kept)


@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "across"])
@pytest.mark.parametrize("kept", [0, 1, 2, 3, 4])
def test_kept_or_not_the_features_are_those_of_the_panels(kept, symmetric):
    other = X if symmetric else Y
    panels = Panels(Counting(), ([X], [other]), symmetric=symmetric, group=3 * kept)
    for rows, columns in _pairs(max(1, kept), symmetric):
        left, right = panels.pair(2.0, rows, columns)
        np.testing.assert_array_equal(left[0][0], 2 * X[rows])
        if symmetric and rows == columns:
            assert right is None
        else:
            np.testing.assert_array_equal(right[0][0], 2 * other[columns])


@pytest.mark.parametrize("kept, runs", [(0, 16), (1, 9), (2, 6), (3, 7), (4, 4)])
def test_the_network_runs_less_often_the_more_is_kept(kept, runs):
    make = Counting()
    panels = Panels(make, ([X], [X]), symmetric=True, group=3 * kept)
    for rows, columns in _pairs(max(1, kept)):
        panels.pair(2.0, rows, columns)
    assert len(make.asked) == runs  # of four panels


def test_no_more_is_held_than_was_planned():
    make = Counting()
    panels = Panels(make, ([X], [X]), symmetric=True, group=6)
    for rows, columns in _pairs(2):
        panels.pair(2.0, rows, columns)
        assert len(panels._rows) <= 2 and len(panels._column) <= 1


def _plan(n, memory, width=50):
    params = dense_params(jax.random.key(0), (20, width, 1))
    x = np.zeros((2, 20))
    network = read(dense_apply, params, x, Request())
    problem = Problem(n, n, 1, True, 8, 8)
    features = choose(network.source, network.differentiated, n, 1)
    return (
        network.source,
        problem,
        plan_units(network.source, features, problem, memory),
    )


@pytest.mark.parametrize(
    "n, panel", [(10, 10), (256, 256), (1000, 250), (4096, 512), (10**5, 2041)]
)
def test_units_are_many_but_not_dust(n, panel):
    assert _plan(n, 10**9)[2].panel == panel


def test_less_memory_means_fewer_kept_then_smaller_panels_then_passes():
    seen, memory = [], 2 * 10**9
    while memory > 2 * 10**7:
        source, problem, made = _plan(20000, memory, width=2000)
        assert made.needed <= memory
        kept = kept_panels(source, made, problem, memory)
        assert kept >= 3 or made.panel == 250
        assert len(made.passes) == 1 or made.panel == 250
        seen.append((made.panel, len(made.passes), kept))
        memory = int(memory * 0.8)
    assert seen[0][:2] == (2000, 1)
    assert [one[0] for one in seen] == sorted((one[0] for one in seen), reverse=True)
    assert any(a[0] == b[0] and a[2] > b[2] for a, b in pairwise(seen))
    assert seen[-1][1] > 1


def test_chunks_divide_panels_evenly():
    for n in (1000, 20000):
        made = _plan(n, 10**8)[2]
        rest = made.panel % made.chunk
        assert rest == 0 or made.chunk - rest < 1 + made.panel // made.chunk


def test_a_plan_that_does_not_fit_says_so():
    with pytest.raises(
        ValueError, match="does not fit .* [KM]iB: at least .* at a time.$"
    ):
        _plan(20000, 1000)


def test_kept_panels_follow_the_memory_there_is():
    source, problem, made = _plan(20000, 10**8)
    assert kept_panels(source, made, problem, made.needed) == 1
    assert kept_panels(source, made, problem, 1) == 1
    few, more = (kept_panels(source, made, problem, m) for m in (10**8, 10**9))
    assert 1 < few < more
    assert dataclasses.replace(made, memory=0).panel == made.panel
