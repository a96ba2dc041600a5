"""Measurements in one JSON file, one line each, to which each run appends."""

import datetime
import json
import os
from pathlib import Path
from typing import Any

import jax


def load(file: Path) -> list[dict[str, Any]]:
    """All measurements, oldest first."""
    return json.loads(file.read_text()) if file.exists() else []


def device() -> str:
    """What is measured on: the accelerator, or the CPU's cores."""
    if jax.default_backend() != "cpu":
        return jax.devices()[0].device_kind
    return f"CPU, {len(os.sched_getaffinity(0))} cores"


def append(file: Path, row: dict[str, Any]) -> dict[str, Any]:
    """Add a measurement, with the time, the device and the version of JAX."""
    row = {
        **row,
        "device": device(),
        "jax": jax.__version__,
        "when": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }
    rows = [*load(file), row]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("[\n" + ",\n".join(json.dumps(one) for one in rows) + "\n]\n")
    return row


def line(row: dict[str, Any]) -> str:
    """A measurement for the terminal."""
    left_out = ("case", "device", "jax", "when")
    shown = {key: value for key, value in row.items() if key not in left_out}
    cells = [
        f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in shown.items()
    ]
    return f"{row['case']:<16} " + "  ".join(cells)


def latest(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of measurements of the same thing, the last."""
    same = ("case", "device", "what", "tasks", "n")
    found = {tuple(row[key] for key in same): row for row in rows}
    return list(found.values())
