"""Handing out units, to real workers of a scheduler in this process's reach."""

import os
import subprocess
import sys

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
