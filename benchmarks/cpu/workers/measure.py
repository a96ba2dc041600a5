"""Time one kernel in this process: `python measure.py REQUEST.json`.

Runs inside the environment of whichever library is measured, so it knows the standard
library and numpy only. The request names a module beside this one; its `build` returns
the network's outputs and a function that computes the kernel.
"""

import gc
import importlib
import importlib.metadata
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np


def main(request_file: str) -> None:
    """Measure what the request asks for; the answer grows with every call.

    So a process stopped for its time or memory has still told what it reached.
    """
    request = json.loads(Path(request_file).read_text())
    with np.load(request["problem"]) as archive:
        params = {
            key.removeprefix("params/"): archive[key]
            for key in archive.files
            if key.startswith("params/")
        }
        x = archive["x"][: request["n"]]
        num_reference = len(archive["outputs"])
    module = importlib.import_module(request["module"])
    answer: dict[str, Any] = {"versions": _versions(request["packages"])}
    built = module.build(request["network"], params, x, request["options"])
    if "to_disk" in built:
        answer |= built["to_disk"](Path(request["kernel"]).with_suffix(""))
        _write(answer, request)
        return
    answer["outputs"] = np.asarray(built["outputs"](num_reference)).tolist()
    answer |= {"seconds": [], "cpu_seconds": []}
    for _ in range(request["calls"]):
        gc.collect()
        start, start_cpu = time.perf_counter(), time.process_time()
        K = built["compute"]()
        answer["seconds"].append(time.perf_counter() - start)
        answer["cpu_seconds"].append(time.process_time() - start_cpu)
        if len(answer["seconds"]) == 1:
            np.save(request["kernel"], K)
        del K  # the result of a call is not held beside the next
        _write(answer, request)


def _write(answer: dict, request: dict) -> None:
    answer["peak_bytes"] = _peak_bytes()
    scratch = Path(request["answer"] + ".unfinished")
    scratch.write_text(json.dumps(answer))
    scratch.rename(request["answer"])


def _versions(packages: list[str]) -> dict[str, str]:
    found = {name: importlib.metadata.version(name) for name in packages}
    return {"python": platform.python_version(), **found}


def _peak_bytes() -> int:
    """Largest resident size of this process, its libraries and inputs included."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    peak = next(line for line in lines if line.startswith("VmHWM:"))
    return int(peak.split()[1]) * 1024


if __name__ == "__main__":
    main(sys.argv[1])
