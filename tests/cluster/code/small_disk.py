"""`small_disk.py FOLDER`: a client and its worker on a disk that fills meanwhile.

Runs where mounts are its own (`unshare --map-root-user --mount`). Leaves what was said
in `FOLDER/told`, and what was computed in the end in `FOLDER/store`.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from cluster_problem import TILES

COMPUTE = Path(__file__).parent / "compute_gram.py"
TILE = 2**18 + 2**8


def start(store):
    command = [sys.executable, str(COMPUTE), str(store), "local:1"]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def fill(disk):
    with (disk / "filler").open("wb") as file:
        while True:
            found = os.statvfs(disk)
            try:
                os.posix_fallocate(file.fileno(), 0, found.f_bavail * found.f_frsize)
                return
            except OSError:  # another tile came meanwhile
                pass


def main(folder):
    disk = folder / "disk"
    disk.mkdir()
    size = f"size={TILES * TILE + 2**21}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", str(disk)], check=True)
    client = start(disk / "store")
    while not list(disk.glob("store/tile-*")) and client.poll() is None:
        time.sleep(0.001)
    fill(disk)
    _, told = client.communicate()
    (folder / "told").write_text(f"{client.returncode}\n{told}")
    (disk / "filler").unlink()
    again = start(disk / "store")
    _, told = again.communicate()
    assert again.returncode == 0, told
    shutil.copytree(disk / "store", folder / "store")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
