"""What `cluster=` may be."""

import socket

import numpy as np
import pytest

import tangentlab as tl
from tangentlab.cluster.failures import is_lost_work
from tangentlab.cluster.links import check_cluster, linked
from tests.networks import dense_apply


def test_a_cluster_needs_a_folder():
    with pytest.raises(
        ValueError, match="`cluster` needs `store`: workers write tiles"
    ):
        tl.gram(dense_apply, [], np.ones((2, 3)), cluster="local:2")  # type: ignore


@pytest.mark.parametrize(
    "cluster", ["local:0", "local:", "local", "host", "::1:80", "tcp://a/b:1", "", 3]
)
def test_what_is_no_cluster_is_refused(cluster):
    with pytest.raises(ValueError, match="`cluster` must be a scheduler's address"):
        check_cluster(cluster)


@pytest.mark.parametrize(
    "cluster",
    [
        "local:12",
        "tcp://127.0.0.1:8786",
        "tls://node-3:1",
        "tcp://[::1]:8786",
        "wss://host:80",
        "/x/file.json",
    ],
)
def test_what_is_a_cluster_is_not(cluster):
    check_cluster(cluster)


def test_dask_that_is_not_installed_is_asked_for(monkeypatch):
    monkeypatch.setattr("tangentlab.cluster.links.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'tangentlab\[cluster\]'"):
        check_cluster("local:2")


def test_a_scheduler_that_does_not_answer(monkeypatch, caplog):
    monkeypatch.setattr("tangentlab.cluster.addresses._SILENCE", 0.1)
    monkeypatch.setattr("tangentlab.cluster.addresses.CONNECT", 1)
    with socket.socket() as bound:  # nobody listens
        bound.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(OSError, match="No scheduler answers at .*`dask scheduler"):
            with linked(address):
                pass
    assert f"Waiting up to 1 s for the scheduler at {address}" in caplog.text


@pytest.mark.parametrize("content", [None, "{", "[]", '{"id": 1}'])
def test_a_file_that_tells_of_no_scheduler(monkeypatch, tmp_path, content):
    monkeypatch.setattr("tangentlab.cluster.addresses.CONNECT", 0.1)
    path = tmp_path / "scheduler.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(OSError, match="tells of no scheduler .*--scheduler-file /"):
        with linked(str(path)):
            pass


@pytest.mark.parametrize(
    "error, lost",
    [
        (MemoryError(), True),
        (TimeoutError(), True),
        (ConnectionResetError(104, "reset"), True),
        (OSError(5, "input/output"), True),
        (OSError(28, "no space"), False),
        (ValueError("NaN"), False),
        (RuntimeError("wrong"), False),
    ],
    ids=str,
)
def test_which_errors_another_worker_may_not_have(error, lost):
    assert is_lost_work(error) is lost
