"""Processes that are killed, and disks that are full, leave nothing half done."""

import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tangentlab as tl

WORKER = Path(__file__).parent / "store_worker.py"
TILES = 136
KILLS = 10


def _start(folder, *arguments):
    command = [sys.executable, str(WORKER), str(folder), *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def _finish(folder, *arguments):
    process = _start(folder, *arguments)
    _, error = process.communicate(timeout=300)
    return process.returncode, error


def _tiles(folder):
    return set(folder.glob("tile-*.npy")) if folder.exists() else set()


def _bytes(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _identity(path):
    """What changes when a file is written again."""
    return path.stat().st_ino, path.stat().st_mtime_ns


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "store"
    assert _finish(folder) == (0, "")
    assert len(_tiles(folder)) == TILES
    return folder


def _kill_after(folder, count, pause):
    """Let a process write so many tiles, and a little more; then kill it."""
    process = _start(folder)
    wanted = len(_tiles(folder)) + count
    while len(_tiles(folder)) < wanted and process.poll() is None:
        time.sleep(0.001)
    time.sleep(pause)
    process.send_signal(signal.SIGKILL)
    _, error = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL, error


def _kill_at(folder, moment):
    """Kill a process so many seconds after its start, wherever it is then."""
    process = _start(folder)
    time.sleep(moment)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)


def test_kills_while_it_starts_leave_the_same_bytes(undisturbed, tmp_path):
    """Importing, reading the network, writing the manifest, at the first tiles."""
    folder, seen = tmp_path / "store", {}
    draw = random.Random()
    moments = [draw.uniform(0, 4) for _ in range(5)]
    for moment in moments:
        _kill_at(folder, moment)
        assert all(_identity(path) == before for path, before in seen.items()), moments
        seen = {path: _identity(path) for path in _tiles(folder)}
    assert _finish(folder) == (0, "")
    assert all(_identity(path) == before for path, before in seen.items()), moments
    assert _bytes(folder) == _bytes(undisturbed), moments


def test_ten_kills_leave_the_same_bytes(undisturbed, tmp_path):
    folder, seen = tmp_path / "store", {}
    draw = random.Random(0)
    for _ in range(KILLS):
        _kill_after(folder, draw.randint(1, 5), draw.uniform(0, 0.03))
        with pytest.raises(ValueError, match="of 136 tiles are missing"):
            tl.open_gram(folder)
        assert all(_identity(path) == before for path, before in seen.items())
        seen = {path: _identity(path) for path in _tiles(folder)}
    assert KILLS <= len(seen) < TILES
    assert _finish(folder) == (0, "")
    assert all(_identity(path) == before for path, before in seen.items())
    assert _bytes(folder) == _bytes(undisturbed)


def test_a_full_disk_keeps_what_is_finished_and_says_how_to_go_on(
    undisturbed, tmp_path
):
    folder = shutil.copytree(undisturbed, tmp_path / "store")
    for name in ("tile-00003-00001.npy", "tile-00015-00015.npy"):
        (folder / name).unlink()
    size = (undisturbed / "tile-00003-00001.npy").stat().st_size
    code, error = _finish(folder, size - 1)
    assert code == 1
    assert f"tile-00003-00001.npy ({size:,} bytes) cannot be written: File too" in error
    assert (
        f"134 of 136 tiles are finished and stay; the others take {2 * size:,}" in error
    )
    assert "call `tl.gram` again with the same `store`" in error
    assert len(_bytes(folder)) == TILES - 2 + 1  # no half of a tile is left
    assert _finish(folder, resource.RLIM_INFINITY) == (0, "")
    assert _bytes(folder) == _bytes(undisturbed)
