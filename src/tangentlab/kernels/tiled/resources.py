"""What workers have, and what follows for a folder that they fill together."""

import os
from pathlib import Path
from typing import Any

import jax

from ...cluster.fitness import versions
from ...cluster.units import Unfit
from ..planning import backend, free_memory
from .manifest import NAME, read_manifest

_SHARE = 0.6  # of the memory that a worker was given


def look() -> dict[str, Any]:
    """Look at what a worker has.

    Returns:
        Its versions, kind and number of devices, host and bytes that it may use.
    """
    return {
        "backend": backend(),
        "host": os.uname().nodename,
        "memory": memory_limit(),
        "free": free_memory(),
        "devices": jax.local_device_count(),
        **versions(),
    }


def memory_limit() -> int | None:
    """Bytes that this worker may use.

    Returns:
        A share of its limit; None without one, and on a GPU.
    """
    from distributed import get_worker

    limit = get_worker().memory_manager.memory_limit
    return int(_SHARE * limit) if limit and backend() == "cpu" else None


def room() -> int | None:
    """Bytes that a unit may take on this worker.

    Returns:
        Those of its limit, or of its GPU; None where neither is known.
    """
    if backend() == "cpu":
        return memory_limit()
    stats = jax.local_devices()[0].memory_stats()
    return stats.get("bytes_limit") if stats else None


def check_room(needed: int, limit: int | None) -> None:
    """Refuse a worker that the units of a folder do not fit.

    Args:
        needed: Bytes that a unit takes, by the plan of the folder.
        limit: Bytes that the worker may use, if that is known.

    Raises:
        Unfit: If these are fewer.
    """
    if limit is not None and needed > limit:
        raise Unfit(
            f"a unit of this folder takes {needed:,} bytes, it may use {limit:,}; "
            "start it with a larger --memory-limit, or on a larger GPU"
        )


def backend_of(folder: Path, seen: dict[str, dict[str, Any]]) -> str:
    """Kind of device that fills a folder: as it was begun, or the best there is.

    Args:
        folder: The folder of tiles.
        seen: What workers have.

    Returns:
        `cpu` or `gpu`.
    """
    if (folder / NAME).exists():
        return read_manifest(folder).backend
    return "gpu" if any(one["backend"] == "gpu" for one in seen.values()) else "cpu"


def idle_gpus(seen: dict[str, dict[str, Any]]) -> list[str]:
    """What to tell of workers that see more GPUs than the one that each uses.

    Args:
        seen: What workers have, by address.

    Returns:
        One line for each.
    """
    return [
        f"Worker {address} sees {one['devices']} GPUs and uses one: start a worker for "
        "each, as in CUDA_VISIBLE_DEVICES=0 dask worker ..."
        for address, one in seen.items()
        if one["backend"] == "gpu" and one["devices"] > 1
    ]


def memory_of(kind: str, seen: dict[str, dict[str, Any]]) -> int:
    """Bytes that each worker may use: what the smallest has.

    Args:
        kind: Kind of device.
        seen: What workers have.

    Returns:
        The number of bytes.
    """
    fit = [one for one in seen.values() if one["backend"] == kind]
    hosts = [one["host"] for one in fit]
    rooms = []
    for one in fit:
        beside = hosts.count(one["host"]) if kind == "cpu" else 1
        rooms += [one["free"] // beside, *filter(None, [one["memory"]])]
    return min(rooms, default=free_memory())
