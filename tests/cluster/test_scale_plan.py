"""The plan for a million samples is arithmetic on what was measured, and not stale."""

import json
import math

import pytest
from benchmarks import scale

from tangentlab.kernels.tiled import units

CASES = scale.measured()


def test_the_page_shows_what_the_stored_rates_give():
    shown = scale.PAGE.read_text().split("<!-- scale-plan -->\n")[1]
    assert shown.split("\n<!-- /scale-plan -->")[0] == scale.table()


def test_rates_give_back_the_measured_times():
    stored = json.loads(scale.RESULTS.read_text())
    whole = {case["case"]: min(case["seconds"]) for case in stored["cases"]}
    for rates in CASES:
        told = rates.start + rates.network * 60_000 + rates.products * 60_000**2
        assert told == pytest.approx(whole[rates.name], rel=0.02)
        assert rates.network > 0 and rates.products > 0


def test_rates_tell_a_size_that_they_were_not_made_of():
    growth = json.loads(scale.RESULTS.read_text())["growth"]
    between = {g["curve"]: min(g["seconds"]) for g in growth if g["samples"] == 32_000}
    for rates in CASES:
        told = rates.start + rates.network * 32_000 + rates.products * 32_000**2
        assert told == pytest.approx(between[rates.name.split(",")[0]], rel=0.1)


def test_tiles_are_those_that_the_planner_cuts():
    assert scale.MOST == units._SIDE["gpu"]
    assert scale.SIDE == units.even(scale.N, scale.MOST)
    starts = range(0, scale.N, scale.SIDE)
    count = sum(1 for row in starts for column in starts if column <= row)
    assert {scale.plan(rates).tiles for rates in CASES} == {count}


@pytest.mark.parametrize("rates", CASES, ids=lambda rates: rates.name)
def test_the_parts_add_up(rates):
    made = scale.plan(rates)
    # A tile has twice the pairs of a triangle of its side, and two panels of samples.
    triangle = rates.products * scale.SIDE**2
    panel = rates.network * scale.SIDE
    assert made.tile == pytest.approx(rates.start + 2 * triangle + 2 * panel)
    assert made.gpu == pytest.approx(made.tiles * made.tile)
    assert made.compute >= made.gpu / scale.GPUS
    assert made.compute < made.gpu / scale.GPUS + made.tile
    half = scale.N * (scale.N + 1) / 2 * 4  # bytes of one triangle in float32
    assert half < made.stored < 1.04 * half
    assert made.write == pytest.approx(made.stored / scale.WRITE)
    assert made.wall == pytest.approx(made.read + made.compute + made.seal + made.write)
    assert made.parts[made.binds] == max(made.parts.values())
    assert math.isclose(made.moved, made.stored + 64 * 12.288e9, rel_tol=1e-3)
