"""Ten random schedules of kills: the matrix is the same to the bit each time.

No finished tile is computed again, and a kill loses one unit at most. What is lost of a
unit is two tiles, that which is written and that which is computed meanwhile; counted
are units, as tiles before one was written while the next was computed.

Real processes on one machine. `make test-faults` runs these.
"""

import random
import shutil
import time

import pytest

from .code.cluster_problem import TILES
from .processes import (
    Processes,
    check_never_again,
    contents,
    identities,
    kill,
    tiles,
    units_lost,
    wait_until,
)

pytestmark = pytest.mark.faults
SCHEDULES = 10


@pytest.fixture(scope="module")
def long_running(tmp_path_factory):
    made = Processes(tmp_path_factory.mktemp("schedules"))
    made.start_scheduler()
    made.start_worker(0)
    made.start_worker(1)
    yield made
    made.close()


@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_a_random_schedule_of_kills(long_running, undisturbed, tmp_path, seed):
    store, draw = tmp_path / "store", random.Random(seed)
    log = long_running.folder / "tiles.log"
    log.write_text("")  # workers that are left go on with it
    client, most, before = long_running.start_client(store), 0, {}
    for count in sorted(draw.sample(range(1, TILES - 6), 2)):
        wait_until(lambda c=count: len(tiles(store)) >= c)
        time.sleep(draw.uniform(0, 0.05))
        before = identities(store)
        victim = draw.choice(["worker", "worker", "worker", "client", "scheduler"])
        client, cost = _strike(long_running, victim, client, store, draw)
        most += cost
    long_running.finish(client)
    assert contents(store) == undisturbed
    assert identities(store).items() >= before.items()
    check_never_again(long_running.events())
    assert units_lost(long_running.events()) <= most
    shutil.rmtree(store)


def _strike(running, victim, client, store, draw):
    """Kill somebody, start that again, and say how many units that may cost.

    Workers end what a client that is gone had given them. They do not outlive their
    scheduler, so they are killed with it.
    """
    if victim == "client":
        kill(client)
        return running.start_client(store), 1
    numbers = [0, 1] if victim == "scheduler" else [draw.choice([0, 1])]
    if victim == "scheduler":
        kill(running.scheduler)
        running.start_scheduler()
    for number in numbers:
        kill(running.workers[number])
        running.start_worker(number)
    return client, len(numbers)
