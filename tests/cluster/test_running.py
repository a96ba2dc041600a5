"""Handing out units, to real workers of a scheduler in this process's reach."""

import os
import subprocess
import sys

import pytest

import tangentlab as tl
from tangentlab.cluster import running

CODE = """
import os, time, tangentlab as tl
from tangentlab.cluster.links import linked

def fail(k):
    if k == 3:
        raise ValueError("three is wrong")
    return k

def die_once(k):
    mark = os.environ["MARK"]
    if k == 2 and not os.path.exists(mark):
        open(mark, "w").close()
        os._exit(1)
    return k * k

if __name__ == "__main__":
    with linked("local:2") as link:
        squares = tl.cluster.sweep(die_once, range(6), cluster=link.client)
        assert squares == [0, 1, 4, 9, 16, 25], squares
        try:
            tl.cluster.sweep(fail, range(6), cluster=link.client)
        except ValueError as error:
            assert str(error) == "three is wrong"
        else:
            raise AssertionError("the error was lost")
"""


DEADLY = """
import os, tangentlab as tl
from tangentlab.cluster import running

running._DEATHS = 2

def die(k):
    os._exit(9)

if __name__ == "__main__":
    tl.cluster.sweep(die, [0], cluster="local:2")
"""


def test_a_unit_that_kills_every_worker_ends_the_call(tmp_path):
    (tmp_path / "script.py").write_text(DEADLY)
    command = [sys.executable, str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    told = "A unit of work was lost 2 times, at last since its worker died. If"
    assert f"ChildProcessError: {told}" in done.stderr


def too_large():
    raise MemoryError("too large")


class NeverReady:
    """A function that fits the memory of no worker."""

    def __call__(self, k):
        return k

    def __reduce__(self):
        return too_large, ()


def test_workers_that_never_get_ready_end_the_call(monkeypatch):
    monkeypatch.setattr(running, "_LOOK", 0.01)
    monkeypatch.setattr(running, "_GRACE", 0.1)
    told = r"No worker is fit for this work: .*it cannot get ready: MemoryError\('too l"
    with pytest.raises(ValueError, match=told):
        tl.cluster.sweep(NeverReady(), [0], cluster="local:1")


def test_a_worker_that_dies_and_one_that_fails(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(CODE)
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "MARK": str(tmp_path / "mark")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mark").exists()
    assert "is gone" in done.stderr
