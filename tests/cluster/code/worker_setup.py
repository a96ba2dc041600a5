"""Loaded by a worker before anything else: a log, and what a test changes.

`LOG` is the file that it tells of tiles in, `MOST_BYTES` how large a file may grow, as
on a full disk, and `VERSION` what it says it is.
"""

import logging
import os
import resource

handler = logging.FileHandler(os.environ["LOG"])
handler.setFormatter(logging.Formatter("%(created).6f %(process)d %(message)s"))
logger = logging.getLogger("tangentlab.kernels.tiled.remote")
logger.addHandler(handler)
logger.setLevel(logging.INFO)
if "MOST_BYTES" in os.environ:
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["MOST_BYTES"]), hard))
if "VERSION" in os.environ:
    import tangentlab

    tangentlab.__version__ = os.environ["VERSION"]
