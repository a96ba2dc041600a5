"""A cluster of real processes, and what comes of nobody disturbing it."""

import pytest

from .code.cluster_problem import TILES
from .processes import Processes, contents, tiles


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """What one process computes that nobody disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    alone = Processes(folder)
    alone.finish(alone.start_client(folder / "store", cluster=""))
    assert len(tiles(folder / "store")) == TILES
    return contents(folder / "store")


@pytest.fixture
def running(tmp_path):
    """A scheduler and two workers."""
    made = Processes(tmp_path)
    made.start_scheduler()
    made.start_worker(0)
    made.start_worker(1)
    yield made
    made.close()
