"""What the machine is, and how busy others keep it."""

import os
import platform
import resource
import time
from pathlib import Path


def describe(cores: int) -> dict[str, str | int]:
    """Processor, cores in use, memory and operating system, in words."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": _processor(),
        "cores": cores,
        "memory": f"{memory / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    found = {key.strip(): value.strip() for key, value in fields.items()}
    wide = [name for name in ("avx2", "avx512f") if name in found.get("flags", "")]
    return f"{found.get('model name', platform.machine())} ({', '.join(wide)})"


def pin(cores: int) -> int:
    """Keep this process and its children on so many cores; return how many it got."""
    if not hasattr(os, "sched_setaffinity"):
        return os.cpu_count() or 1
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    os.sched_setaffinity(0, allowed)
    return len(allowed)


class Others:
    """Share of the machine that other processes used since this was made."""

    def __init__(self):
        self._start = time.perf_counter()
        self._busy = _busy_seconds()
        self._children = _children_seconds()

    def share(self) -> float | None:
        """Between 0 and 1, once the children are done; None where it is not known."""
        busy = _busy_seconds()
        if busy is None or self._busy is None:
            return None
        others = busy - self._busy - (_children_seconds() - self._children)
        elapsed = time.perf_counter() - self._start
        return max(0.0, others / elapsed / (os.cpu_count() or 1))


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _busy_seconds() -> float | None:
    try:
        first = Path("/proc/stat").read_text().splitlines()[0]
    except OSError:
        return None
    user, nice, system, _, _, *rest = (int(field) for field in first.split()[1:9])
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")
