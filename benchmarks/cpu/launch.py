"""One measurement: a fresh process under a limit of time and memory."""

import json
import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .cases import GIB, Case, Contestant
from .machine import Others

WORKERS = Path(__file__).parent / "workers"
_LOOK = 0.25  # seconds between looks at a running process


@dataclass(frozen=True)
class Limits:
    """What a measuring process may use.

    Attributes:
        seconds: For the whole process, start and imports included.
        memory: Resident bytes.
        calls: How often the kernel is computed; the first call compiles.
        cores: Threads of the libraries.
    """

    seconds: float
    memory: int
    calls: int
    cores: int


def measure(
    case: Case,
    contestant: Contestant,
    python: Path,
    problem: Path,
    scratch: Path,
    limits: Limits,
) -> dict:
    """Run one contestant once.

    Args:
        case: The case.
        contestant: The contestant.
        python: Interpreter of its environment.
        problem: File with weights and inputs.
        scratch: Folder for request, answer, log and `kernel.npy`.
        limits: What it may use.

    Returns:
        `outcome` (`ok`, `out of memory`, `out of time`, `failed`), what the process
        answered, and the share of the machine that others used meanwhile.
    """
    request = _write_request(case, contestant, problem, scratch, limits)
    others = Others()
    with (scratch / "log.txt").open("w") as log:
        process = subprocess.Popen(
            [str(python), str(WORKERS / "measure.py"), str(request)],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_environment(limits.cores, contestant.options.get("devices", 1)),
        )
        outcome = _watch(process, limits)
    answer = scratch / "answer.json"
    return {
        **(json.loads(answer.read_text()) if answer.exists() else {}),
        **_explain(outcome, scratch / "log.txt", limits),
        "others": others.share(),
    }


def _write_request(
    case: Case, contestant: Contestant, problem: Path, scratch: Path, limits: Limits
) -> Path:
    scratch.mkdir(parents=True, exist_ok=True)
    kernel, answer = scratch / "kernel.npy", scratch / "answer.json"
    kernel.unlink(missing_ok=True)
    answer.unlink(missing_ok=True)
    request = {
        "module": contestant.module,
        "network": case.network,
        "n": case.n,
        "options": contestant.options,
        "packages": contestant.packages,
        "calls": limits.calls,
        "problem": str(problem),
        "kernel": str(kernel),
        "answer": str(answer),
    }
    file = scratch / "request.json"
    file.write_text(json.dumps(request))
    return file


def _explain(outcome: str, log: Path, limits: Limits) -> dict[str, str]:
    message = _last_line(log) if outcome == "failed" else ""
    if re.search("RESOURCE_EXHAUSTED|[Oo]ut of memory|alloc", message):
        outcome = "out of memory"
    if outcome == "out of memory":
        message = f"limit {limits.memory / GIB:.0f} GiB"
    if outcome == "out of time":
        message = f"limit {limits.seconds:.0f} s"
    return {"outcome": outcome, "message": message}


def _environment(cores: int, devices: int) -> dict[str, str]:
    flags = f"--xla_force_host_platform_device_count={devices}" if devices > 1 else ""
    return {
        **os.environ,
        "JAX_TRACEBACK_FILTERING": "off",  # so that the last line is the error itself
        "JAX_PLATFORMS": "cpu",
        "OMP_NUM_THREADS": str(cores),
        "MKL_NUM_THREADS": str(cores),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "XLA_FLAGS": flags,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _watch(process: subprocess.Popen, limits: Limits) -> str:
    end = time.monotonic() + limits.seconds
    outcome = ""
    while process.poll() is None:
        if time.monotonic() > end:
            outcome = "out of time"
        elif _resident_bytes(process.pid) > limits.memory:
            outcome = "out of memory"
        if outcome:
            process.kill()
            process.wait()
            return outcome
        time.sleep(_LOOK)
    # The kernel's own out-of-memory killer sends SIGKILL, too.
    if process.returncode == -9:
        return "out of memory"
    return "failed" if process.returncode else "ok"


def _resident_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields.get("VmRSS", "0 kB").split()[0]) * 1024


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "no message")[:500]
