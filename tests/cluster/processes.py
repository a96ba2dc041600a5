"""Schedulers, workers and clients as processes of their own, and what they left."""

import hashlib
import math
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

CODE = Path(__file__).parent / "code"
TIMEOUT = 600
# Before anything starts a thread: one keeps the cores that it had then.
_ON_ONE_CORE = """
import os, runpy, sys
cores = sorted(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cores[int(sys.argv.pop(1)) % len(cores)]})
runpy.run_module("dask", run_name="__main__", alter_sys=True)
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_until(condition, seconds=TIMEOUT):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "this took too long"
        time.sleep(0.002)


class Processes:
    """Everything that a test starts; whatever is left is killed at its end."""

    def __init__(self, folder):
        self.folder = folder
        self.address = f"tcp://127.0.0.1:{free_port()}"
        self.started = []
        self.workers = {}
        self.scheduler = None

    def start(self, name, *command, **changes):
        environment = {**os.environ, "PYTHONPATH": str(CODE), **changes}
        errors = (self.folder / f"{name}.err").open("ab")
        process = subprocess.Popen(
            [sys.executable, *map(str, command)],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=errors,
        )
        errors.close()
        self.started.append(process)
        return process

    def start_scheduler(self, *more):
        port = self.address.rsplit(":", 1)[1]
        words = ["--host", "127.0.0.1", "--port", port, "--no-dashboard"]
        words += ["--no-show", "--dashboard-address", "127.0.0.1:0", *more]
        self.scheduler = self.start("scheduler", "-m", "dask", "scheduler", *words)

    def start_worker(self, number, **changes):
        words = [self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        words += ["--host", "127.0.0.1", "--local-directory", self.folder / "scratch"]
        words += ["--preload", CODE / "worker_setup.py", "--memory-limit", "0"]
        changes = {"LOG": str(self.folder / "tiles.log"), **changes}
        self.workers[number] = self.start(
            f"worker-{number}", "-c", _ON_ONE_CORE, number, "worker", *words, **changes
        )

    def start_client(self, store, cluster=None, name="client"):
        cluster = [self.address if cluster is None else cluster]
        return self.start(name, CODE / "compute_gram.py", store, *filter(None, cluster))

    def errors(self, name):
        return (self.folder / f"{name}.err").read_text()

    def finish(self, process, name="client"):
        process.wait(TIMEOUT)
        assert process.returncode == 0, self.errors(name)

    def events(self):
        """What workers told of tiles: when, which process, what, and of which tile."""
        path = self.folder / "tiles.log"
        lines = path.read_text().splitlines() if path.exists() else []
        whole = [line.split() for line in lines if len(line.split()) == 4]
        # A setup is loaded twice, and then each line is there twice.
        told = sorted({(float(at), *rest) for at, *rest in whole})
        first = {process: at for at, process, what, _ in told[::-1] if what == "takes"}
        # What comes before its first unit belongs to a test before this one.
        return [event for event in told if event[0] >= first.get(event[1], math.inf)]

    def in_mid_tile(self, number=None):
        """Whether some tile was begun, by this worker, and is not written."""
        events = self.events()
        if number is not None:
            own = str(self.workers[number].pid)
            events = [event for event in events if event[1] == own]
        begun = {tile for *_, what, tile in events if what == "begins"}
        wrote = {tile for *_, what, tile in events if what == "wrote"}
        return bool(begun - wrote)

    def close(self):
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def tiles(store):
    return set(store.glob("tile-*.npy"))


def contents(store):
    """Hashes of manifest and tiles; other files lie beside them."""
    paths = [store / "manifest.json", *tiles(store)]
    read = {path.name: path.read_bytes() for path in paths}
    return {name: hashlib.sha256(held).hexdigest() for name, held in read.items()}


def identities(store):
    """What changes when a file is written again."""
    return {
        path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in tiles(store)
    }


def check_never_again(events):
    """No tile is begun after it was written."""
    written = set()
    for *_, what, tile in events:
        assert what != "begins" or tile not in written, f"{tile} is computed again"
        if what == "wrote":
            written.add(tile)


def units_lost(events):
    """How many units hold a tile that was begun, and not written by who began it."""
    at, open_tiles = {}, {}
    for _, process, what, name in events:
        if what == "takes":
            at[process] = process, at.get(process, (process, 0))[1] + 1
        elif what == "begins":
            open_tiles.setdefault(at[process], set()).add(name)
        else:
            open_tiles[at[process]].remove(name)  # of no unit before
    return sum(map(bool, open_tiles.values()))
