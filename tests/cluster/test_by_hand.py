"""What README and docs tell to type, typed: real processes of a shell."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import tangentlab as tl
from tangentlab.cluster.links import linked
from tangentlab.experiments import EXPERIMENTS
from tangentlab.store import open_run

from .processes import TIMEOUT, free_port, wait_until

pytestmark = pytest.mark.faults
ROOT = Path(__file__).parent.parent.parent


def _blocks(page, heading):
    section = (ROOT / page).read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.S)


class Terminal:
    """A shell in a folder, and everything that it started."""

    def __init__(self, folder, block):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.output = folder / f"terminal-{time.monotonic_ns()}.txt"
        with self.output.open("w") as output:
            self.shell = subprocess.Popen(
                ["bash", "-ec", block],
                cwd=folder,
                env={**os.environ, "PATH": path, "JAX_PLATFORMS": "cpu"},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def finish(self):
        assert self.shell.wait(TIMEOUT) == 0, self.output.read_text()

    def sockets(self):
        """Where processes of this session listen."""
        found = []
        for process in psutil.process_iter():
            try:
                if os.getsid(process.pid) == self.shell.pid:
                    found += process.net_connections("inet")
            except (ProcessLookupError, psutil.Error):
                continue
        return [one.laddr.ip for one in found if one.status == psutil.CONN_LISTEN]

    def close(self):
        try:
            os.killpg(self.shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.shell.wait()


def _at(port, block):
    block = block.replace("8786", str(port)).replace(":8787", ":0")
    if "--port" in block:
        return block
    return block.replace("dask scheduler", f"dask scheduler --port {port}")


def test_two_terminals_give_a_gram_matrix_of_two_workers(tmp_path):
    """And nothing listens but on the loopback interface."""
    port = free_port()
    first, second = _blocks("README.md", "Past one machine")
    start = "\n".join(line for line in first.splitlines() if "pip" not in line)
    assert len(start.splitlines()) == 2
    workers = Terminal(tmp_path, _at(port, start))
    try:
        with linked(f"tcp://127.0.0.1:{port}") as link:
            wait_until(lambda: len(link.workers()) == 2)
        client = Terminal(tmp_path, _at(port, second) + "tangentlab gram status gram")
        client.finish()
        listening = workers.sockets()
    finally:
        workers.close()
    assert set(listening) == {"127.0.0.1"} and len(listening) >= 4
    assert re.search(r"cluster +2 workers, 0 retries", client.output.read_text())
    assert tl.open_gram(tmp_path / "gram").shape == (1797, 1797)


def test_encryption_as_the_page_tells_it(tmp_path, monkeypatch):
    port = free_port()
    (block,) = (text for text in _blocks("docs/scale.md", "Security"))
    typed = Terminal(tmp_path, _at(port, block))
    try:
        typed.finish()
        monkeypatch.setattr("tangentlab.cluster.addresses.CONNECT", 3)
        with pytest.raises(OSError, match="No scheduler answers"):  # uncertified
            with linked(f"tcp://127.0.0.1:{port}"):
                pass
    finally:
        typed.close()
    assert tl.open_gram(tmp_path / "gram").shape == (1797, 1797)


EXPERIMENT = (
    "run eigenfunctions --num-samples 240 --indices 0 2 5 --recipe.epochs 2 "
    "--recipe.batch-size 40 --no-progress"
)


def _performed(folder, *words):
    typed = Terminal(folder, f"tangentlab {EXPERIMENT} --output {' '.join(words)}")
    typed.finish()
    (path,) = (folder / words[0]).iterdir()
    return open_run(path, {name: it.config for name, it in EXPERIMENTS.items()})


def test_an_experiment_on_a_cluster_is_the_same(tmp_path):
    """Workers compute its Gram matrix, multiply with it, and share its tasks."""
    plain = _performed(tmp_path, "plain")
    there = _performed(tmp_path, "there", "--cluster", "local:2")
    assert there.config == plain.config
    first, second = (run.arrays("tasks-42")["labels"] for run in (plain, there))
    np.testing.assert_array_equal(first, second)
    for name in ("network-42", "linearized-42"):
        one, other = (run.arrays(name)["test_outputs"] for run in (plain, there))
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
