"""The plan for a million samples is arithmetic on what was measured, and not stale."""

import json
import math

import pytest
from benchmarks import scale

from tangentlab.kernels.tiled import units

CASES = scale.measured()
CASE = pytest.mark.parametrize("rates", CASES, ids=lambda rates: rates.name)


def test_the_page_shows_what_the_stored_rates_give():
    shown = scale.PAGE.read_text().split("<!-- scale-plan -->\n")[1]
    assert shown.split("\n<!-- /scale-plan -->")[0] == scale.table()


@CASE
def test_rates_give_back_the_measured_times(rates):
    (line,) = [
        line
        for line in json.loads(scale.RESULTS.read_text())
        if line["case"] == rates.name
    ]
    assert line["n"] == scale.N
    for runs, seconds in line["seconds"].items():
        told = rates.tile + int(runs) * rates.network
        assert told == pytest.approx(seconds, rel=0.05)


@CASE
def test_tiles_are_those_that_the_planner_cuts(rates):
    assert rates.side <= units._SIDE["gpu"]
    assert rates.side == units.even(scale.N, rates.side)
    starts = range(0, scale.N, rates.side)
    count = sum(1 for row in starts for column in starts if column <= row)
    assert scale.plan(rates).tiles == count


@CASE
def test_the_network_runs_where_a_strip_and_what_goes_by_need_it(rates):
    made, seen = scale.plan(rates), set()
    for row in range(made.panels):
        strip = row // made.strip
        seen |= {(strip, panel) for panel in range(row + 1)}
    assert made.runs == len(seen)
    assert made.strip <= rates.kept
    assert math.ceil(made.panels / made.strip) <= scale.GPUS


@CASE
def test_the_parts_add_up(rates):
    made = scale.plan(rates)
    assert made.gpu == pytest.approx(
        made.tiles * rates.tile + made.runs * rates.network
    )
    assert made.compute >= made.gpu / scale.GPUS
    assert made.compute < made.gpu / scale.GPUS + rates.tile + 2 * rates.network
    half = scale.N * (scale.N + 1) / 2 * 4  # bytes of one triangle in float32
    assert half < made.stored < 1.04 * half
    assert made.write == pytest.approx(made.stored / scale.WRITE)
    assert made.wall == pytest.approx(made.read + made.compute + made.seal + made.write)
    assert made.parts[made.binds] == max(made.parts.values())
    assert math.isclose(made.moved, made.stored + 64 * 12.288e9, rel_tol=1e-3)
