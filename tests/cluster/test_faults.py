"""Workers, scheduler and client die, disks fill, bits flip: nothing finished is lost.

Real processes on one machine. `make test-faults` runs these.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

import tangentlab as tl
from tangentlab.cluster.links import linked

from .code.cluster_problem import TILES
from .processes import (
    CODE,
    TIMEOUT,
    Processes,
    check_never_again,
    contents,
    free_port,
    identities,
    kill,
    tiles,
    units_lost,
    wait_until,
)

pytestmark = pytest.mark.faults


def _let_it_write(running, store, count):
    """Until so many tiles are there, and a worker is at the next."""
    wait_until(lambda: len(tiles(store)) >= count and running.in_mid_tile())


def test_two_workers_compute_what_one_process_does(running, undisturbed, tmp_path):
    store = tmp_path / "store"
    client = running.start_client(store)
    wait_until(lambda: list(store.glob("features/panel-*")))  # which they share
    running.finish(client)
    assert contents(store) == undisturbed
    assert not (store / "features").exists()
    assert units_lost(running.events()) == 0
    assert "warn" not in running.errors("client").lower()


def test_a_worker_killed_in_mid_tile(running, undisturbed, tmp_path):
    store = tmp_path / "store"
    client = running.start_client(store)
    wait_until(lambda: len(tiles(store)) >= 4 and running.in_mid_tile(0))
    kill(running.workers[0])
    before = identities(store)
    running.finish(client)
    assert contents(store) == undisturbed
    assert identities(store).items() >= before.items()
    check_never_again(running.events())
    assert units_lost(running.events()) <= 1
    told = running.errors("client")
    assert "is gone" in told or "lost a unit" in told


@pytest.mark.parametrize("at_once", [False, True])
def test_the_scheduler_restarted(running, undisturbed, tmp_path, at_once):
    store = tmp_path / "store"
    client = running.start_client(store)
    _let_it_write(running, store, 4)
    if at_once:  # for a client that sees the new one when it looks again
        client.send_signal(signal.SIGSTOP)
    kill(running.scheduler)
    before = identities(store)
    running.start_scheduler()
    for number in (0, 1):  # which notice it and end; a supervisor starts them again
        wait_until(lambda n=number: running.workers[n].poll() is not None)
        running.start_worker(number)
    client.send_signal(signal.SIGCONT)
    running.finish(client)
    assert contents(store) == undisturbed
    assert identities(store).items() >= before.items()
    check_never_again(running.events())
    assert "The scheduler is gone; waiting for it" in running.errors("client")


def test_a_client_that_connected_by_itself_lost_its_scheduler(tmp_path):
    alone = Processes(tmp_path)
    alone.start_scheduler()
    with contextlib.closing(alone), linked(alone.address) as link:
        assert not link.is_lost
        kill(alone.scheduler)
        wait_until(lambda: link.client.status == "connecting")
        alone.start_scheduler()
        wait_until(lambda: link.client.status == "running")
        assert link.is_lost
        link.reconnect()
        assert not link.is_lost


def test_a_scheduler_that_comes_back_elsewhere_is_found_by_its_file(tmp_path):
    alone, file = Processes(tmp_path), tmp_path / "scheduler.json"
    alone.start_scheduler("--scheduler-file", file)
    with contextlib.closing(alone), linked(str(file)) as link:
        kill(alone.scheduler)
        alone.address = f"tcp://127.0.0.1:{free_port()}"
        alone.start_scheduler("--scheduler-file", file)
        wait_until(lambda: link.is_lost)
        link.reconnect()
        assert not link.is_lost
        assert link.client.scheduler.address == alone.address


def test_the_client_killed_and_started_again(running, undisturbed, tmp_path):
    store = tmp_path / "store"
    client = running.start_client(store)
    _let_it_write(running, store, 4)
    kill(client)
    before = identities(store)
    assert len(before) < TILES
    running.finish(running.start_client(store))
    assert contents(store) == undisturbed
    assert identities(store).items() >= before.items()
    check_never_again(running.events())


def test_a_client_with_its_own_workers_killed(undisturbed, tmp_path):
    store, alone = tmp_path / "store", Processes(tmp_path)
    client = alone.start_client(store, cluster="local:2")
    wait_until(lambda: len(tiles(store)) >= 4)
    kill(client)
    time.sleep(2)  # its workers notice, and end too
    before = identities(store)
    time.sleep(1)
    assert identities(store) == before
    alone.finish(alone.start_client(store, cluster="local:2"))
    assert identities(store).items() >= before.items()
    assert contents(store) == undisturbed


def test_a_disk_that_fills_and_has_room_again(running, undisturbed, tmp_path):
    store = tmp_path / "store"
    kill(running.workers[0])
    kill(running.workers[1])
    running.start_worker(2, MOST_BYTES="200000")  # a tile has 262,000
    client = running.start_client(store)
    assert client.wait(TIMEOUT) == 1
    assert "cannot be written: File too large" in running.errors("client")
    assert "0 of 36 tiles are finished and stay" in running.errors("client")
    assert not tiles(store) and not list(store.glob(".*"))
    kill(running.workers[2])
    running.start_worker(0)
    running.finish(running.start_client(store))
    assert contents(store) == undisturbed


ALONE = ["unshare", "--map-root-user", "--mount"]


def test_a_disk_of_its_own_that_fills(undisturbed, tmp_path):
    """No byte is left on a real file system, and then there is room again."""
    if shutil.which("unshare") is None or subprocess.run([*ALONE, "true"]).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    environment = {**os.environ, "PYTHONPATH": str(CODE)}
    command = [*ALONE, sys.executable, str(CODE / "small_disk.py"), str(tmp_path)]
    subprocess.run(command, env=environment, check=True, timeout=TIMEOUT)
    status, told = (tmp_path / "told").read_text().split("\n", 1)
    assert status == "1" and "cannot be written: No space left on device" in told
    finished = re.search("([0-9]+) of 36 tiles are finished and stay", told)
    assert finished is not None and 1 <= int(finished[1]) < TILES
    assert contents(tmp_path / "store") == undisturbed


def test_a_tile_corrupted_on_disk(running, undisturbed, tmp_path):
    store = tmp_path / "store"
    running.finish(running.start_client(store))
    path = store / "tile-00005-00002.npy"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    before = identities(store)
    running.finish(running.start_client(store, name="second"))
    assert contents(store) == undisturbed
    changed = dict(identities(store).items() - before.items())
    assert set(changed) == {path}
    told = "tile-00005-00002.npy was damaged and is computed again"
    assert told in running.errors("second")


def test_two_clients_on_one_folder(running, undisturbed, tmp_path):
    store = tmp_path / "store"
    first = running.start_client(store, name="first")
    second = running.start_client(store, name="second")
    running.finish(first, "first")
    running.finish(second, "second")
    assert contents(store) == undisturbed
    check_never_again(running.events())


def test_workers_of_another_version_or_network_are_refused(
    running, undisturbed, tmp_path
):
    other = tmp_path / "other"
    other.mkdir()
    text = (CODE / "cluster_problem.py").read_text()
    text = text.replace("jnp.tanh(x @", "jnp.sin(x @")
    (other / "cluster_problem.py").write_text(text)
    running.start_worker(2, VERSION="0.0.1")
    running.start_worker(3, PYTHONPATH=str(other))
    wait_until(lambda: running.errors("scheduler").count("Register worker") == 4)
    running.finish(running.start_client(tmp_path / "store"))
    assert contents(tmp_path / "store") == undisturbed
    told = running.errors("client")
    assert "takes no part: it has {'tangentlab': '0.0.1'" in told
    assert "takes no part: `network` is not the same there" in told


def test_workers_that_are_all_refused_end_the_call(running, tmp_path):
    kill(running.workers[0])
    kill(running.workers[1])
    running.start_worker(2, VERSION="0.0.1")
    client = running.start_client(tmp_path / "store")
    assert client.wait(TIMEOUT) == 1
    assert "No worker is fit for this work" in running.errors("client")
    assert not tiles(tmp_path / "store")


def test_parameters_changed_on_disk_are_refused(running, tmp_path):
    store = tmp_path / "store"
    client = running.start_client(store)
    _let_it_write(running, store, 2)
    kill(client)
    path = min((store / "inputs").iterdir(), key=lambda p: p.stat().st_size)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    kill(running.workers[0])
    kill(running.workers[1])
    running.start_worker(2)
    again = running.start_client(store, name="second")
    assert again.wait(TIMEOUT) == 1
    assert "not what was published" in running.errors("second")


def test_a_slow_worker_is_not_waited_for(running, undisturbed, tmp_path):
    store = tmp_path / "store"
    client = running.start_client(store)
    _let_it_write(running, store, 4)
    running.workers[0].send_signal(signal.SIGSTOP)
    running.finish(client)
    assert contents(store) == undisturbed


def test_what_is_finished_opens_without_a_cluster(running, tmp_path):
    running.finish(running.start_client(tmp_path / "store"))
    assert tl.open_gram(tmp_path / "store").shape == (2048, 2048)
