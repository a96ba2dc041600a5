"""What is decided before workers are told: devices, memory, units."""

import pickle

import jax
import numpy as np
import pytest

from tangentlab.cluster.failures import is_lost_work
from tangentlab.cluster.units import Unfit
from tangentlab.kernels.tiled import resources
from tangentlab.kernels.tiled.on_cluster import cut_units
from tangentlab.kernels.tiled.resources import (
    backend_of,
    check_room,
    idle_gpus,
    memory_of,
)
from tangentlab.kernels.tiled.tiles import Grid


def _worker(backend="cpu", host="a", memory=None, free=100, devices=1):
    room = {"memory": memory, "free": free}
    return {"backend": backend, "host": host, "devices": devices, **room}


def _grid(tmp_path, panels, symmetric=True):
    side = 10
    shape = (side * panels, side * panels)
    return Grid(tmp_path, "seal", shape, symmetric, np.dtype(np.float32), side)


def test_gpus_fill_a_folder_where_there_are_any(tmp_path):
    assert backend_of(tmp_path, {"1": _worker(), "2": _worker("gpu")}) == "gpu"
    assert backend_of(tmp_path, {"1": _worker()}) == "cpu"


def test_memory_is_what_the_smallest_worker_has():
    seen = {"1": _worker(), "2": _worker(), "3": _worker(host="b", free=70)}
    assert memory_of("cpu", seen) == 50  # two share a host
    assert memory_of("cpu", seen | {"4": _worker(host="c", memory=20)}) == 20
    assert memory_of("gpu", seen | {"5": _worker("gpu", free=30)}) == 30


def test_a_worker_with_too_little_room_is_unfit():
    check_room(100, None)
    check_room(100, 100)
    with pytest.raises(
        Unfit, match="takes 100 bytes, it may use 99; start it with a l"
    ):
        check_room(100, 99)


def test_the_room_of_a_gpu_is_its_memory(monkeypatch):
    class Small:
        def memory_stats(self):
            return {"bytes_limit": 7}

    monkeypatch.setattr(resources, "backend", lambda: "gpu")
    assert resources.room() is None  # a device that does not tell, as here
    monkeypatch.setattr(jax, "local_devices", lambda: [Small()])
    assert resources.room() == 7


@pytest.mark.parametrize(
    ("said", "lost"), [("RESOURCE_EXHAUSTED: 5 GB", True), ("INTERNAL: no", False)]
)
def test_a_full_gpu_is_lost_work(said, lost):
    assert is_lost_work(jax.errors.JaxRuntimeError(said)) is lost


def test_gpus_that_nobody_uses_are_told():
    """Four CPU devices are one CPU; of two GPUs a worker uses one."""
    seen = {"1": _worker("gpu"), "2": _worker("gpu", devices=2), "3": _worker()}
    (told,) = idle_gpus(seen | {"4": _worker(devices=4)})
    assert told.startswith("Worker 2 sees 2 GPUs and uses one: start a worker for each")


def test_units_cover_each_tile_once_and_share_rows(tmp_path):
    grid = _grid(tmp_path, 7)
    places = list(grid.places())
    units = cut_units(grid, 3, places[2:], most=3)
    tiles = [item[:2] for unit in units for item in unit.items]
    assert sorted(tiles) == sorted((i, j) for i in range(7) for j in range(i + 1))
    checked = {item[:2] for unit in units for item in unit.items if item[2]}
    assert checked == {(0, 0), (1, 0)}  # those that are there
    for unit in units:
        assert len(unit.items) <= 3
        assert {row // 3 for row, _, _ in unit.items} == {unit.strip}


def test_long_columns_are_cut_evenly_and_short_ones_go_together(tmp_path):
    units = cut_units(_grid(tmp_path, 10), 5, [], most=4)
    sizes = [len(unit.items) for unit in units if unit.strip == 1]
    assert sizes == [1 + 2, 3, 4] + 6 * [3, 2]
    tiles = [item[:2] for unit in units for item in unit.items]
    assert len(set(tiles)) == len(tiles) == 55
    far = [unit.items for unit in units if unit.strip == 1][-2:]
    assert [[row for row, _, _ in items] for items in far] == [[5, 6, 7], [8, 9]]


def test_a_unit_is_a_small_message(tmp_path):
    units = cut_units(_grid(tmp_path, 62), 16, [])
    assert max(len(pickle.dumps(unit)) for unit in units) < 500
