"""The section on training of the page of benchmarks, and its figure."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .figure import draw
from .results import latest

BEGIN, END = "<!-- bench-training -->", "<!-- /bench-training -->"
Row = dict[str, Any]
_WHOLE = 100  # epochs of the paper; fewer are extrapolated


def write(rows: list[Row], page: Path) -> None:
    """Replace the section between the markers, or append one; draw the figure."""
    rows = latest(rows)
    draw(rows, page.parent / "images" / "tasks.png")
    section = f"{BEGIN}\n{markdown(rows)}\n{END}"
    text = page.read_text() if page.exists() else "# Benchmarks\n"
    if BEGIN in text and END in text:
        before, rest = text.split(BEGIN, 1)
        text = before + section + rest.split(END, 1)[1]
    else:
        text = f"{text.rstrip()}\n\n{section}\n"
    page.write_text(text)


def markdown(rows: list[Row]) -> str:
    """A table for each device, and the figure."""
    devices = sorted({row["device"] for row in rows})
    parts = ["## Training", _INTRODUCTION, *(_table(rows, d) for d in devices)]
    if any("H200" in device for device in devices):
        parts.append(_FLOOR)
    if any(row["case"].startswith("growth") for row in rows):
        parts.append("![Cost of a task against the number of tasks](images/tasks.png)")
    return "\n\n".join(parts)


_INTRODUCTION = """The paper's recipe (SGD with momentum, batches of 128), labels by
half-spaces of the inputs; every epoch ends with a test on all test samples. An *epoch*
is that of all tasks together, after the first one; *whole* is from the call to the
history, compiling included where nothing else is said. The linearized model in function
space (`tl.train_dual`) is measured in the second call, which finds everything compiled,
beside the first and the time of its Gram matrix. Tasks together and one by one are
medians of three rounds in which both take turns. `python -m benchmarks.training --help`
says how to measure a case again."""


_FLOOR = """A step of one ResNet18 takes 4.1 ms on the H200. 2.7 of them are
convolutions in TF32, 430 GFLOP at 160 TFLOP/s; products of matrices reach 360 there,
which would be 1.2 ms. The rest are batch norms, activations and sums, which have to
move about 2.7 GB, 0.65 ms at the speed of a copy."""


def _table(rows: list[Row], device: str) -> str:
    chosen = [
        r for r in rows if r["device"] == device and not r["case"].startswith("growth")
    ]
    lines = [
        f"### On {device}",
        "",
        "| | data | tasks | epochs | measured | target | when |",
        "|---|---|---|---|---|---|---|",
    ]
    order = list(_TITLES)
    for row in sorted(chosen, key=lambda row: order.index(row["case"])):
        title = _TITLES[row["case"]]
        cells = [
            f"{title}: {row['what']}" if row["what"] not in title else title,
            f"{row['data']}, {row['n']:,}",
            str(row["tasks"]),
            str(row["epochs"]),
            _measured(row),
            _target(row, device),
            row["when"][:10],
        ]
        lines.append("| " + " | ".join(cells) + " |")
    versions = sorted({f"jax {row['jax']}" for row in chosen})
    return "\n".join([*lines, "", f"Measured with {', '.join(versions)}."])


_TITLES = {
    "together-mlp": "MLPs",
    "together-lenet": "LeNets",
    "spaces": "Linearized LeNets",
    "dual-mlp": "Linearized in function space: mlp",
    "dual-lenet": "Linearized in function space: lenet",
    "dual-resnet18": "Linearized in function space: resnet18",
    "network-mlp": "Networks: mlp",
    "network-lenet": "Networks: lenet",
    "network-resnet18": "Networks: resnet18",
    "experiment": "`run eigenfunctions` of a LeNet, images to figures",
}


def _measured(row: Row) -> str:
    parts = []
    if "ratio" in row:
        gram = ", Gram matrix included" if row["case"] == "spaces" else ""
        parts.append(f"**{row['ratio']:.1f} times** the line above{gram}")
    if row["case"].startswith("together") or row["what"] == "weight space":
        parts.append(f"{1000 * row['epoch']:.4g} ms an epoch")
    else:
        parts.append(f"**{row['seconds']:.3g} s**")
    if row["case"].startswith("network") and (left := _WHOLE - row["epochs"]) > 0:
        rest = row["seconds"] + left * row["epoch"]
        parts.append(f"{row['epoch']:.3g} s an epoch: {_WHOLE} would take {rest:.0f} s")
    if (few := row.get("measured_epochs")) is not None:
        parts.append(f"from {few} epochs")
    named = {"first": "first call", "gram": "Gram", "compiling": "of it compiling"}
    parts += [f"{name} {row[k]:.3g} s" for k, name in named.items() if k in row]
    return ", ".join(parts)


def _target(row: Row, device: str) -> str:
    """What was wanted, at the size for which it was."""
    on_cpu = device.startswith("CPU")
    for case, what, fits, target in _TARGETS:
        if (row["case"], row["what"]) == (case, what) and fits(row, on_cpu):
            return target
    return ""


def _all_of_cifar(row: Row, on_cpu: bool) -> bool:
    whole = row["epochs"] == _WHOLE or row["case"].startswith("network")
    return row["n"] == 60_000 and whole and not on_cpu


_TARGETS: list[tuple[str, str, Callable[[Row, bool], bool], str]] = [
    ("together-mlp", "one by one", lambda row, cpu: not cpu, "8 times"),
    ("together-lenet", "one by one", lambda row, cpu: not cpu, "8 times"),
    ("spaces", "weight space", lambda row, cpu: cpu, "50 times"),
    ("dual-mlp", "mlp", _all_of_cifar, "20 s"),
    ("dual-lenet", "lenet", _all_of_cifar, "20 s"),
    ("dual-resnet18", "resnet18", _all_of_cifar, "20 s"),
    ("network-mlp", "mlp", _all_of_cifar, "45 s"),
    ("network-lenet", "lenet", _all_of_cifar, "180 s"),
    ("network-resnet18", "resnet18", _all_of_cifar, "180 s"),
    ("experiment", "whole", _all_of_cifar, "180 s"),
]
