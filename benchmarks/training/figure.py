"""Cost of a task against the number of tasks, a panel for each device."""

from pathlib import Path
from typing import Any

from tangentlab.report.style import style

_COLORS = {
    "mlp network": "#0f766e",
    "lenet network": "#c2410c",
    "linearized, function space": "#1d4ed8",
}


def draw(rows: list[dict[str, Any]], file: Path) -> None:
    """Draw the figure, if anything was measured for it."""
    import matplotlib.pyplot as plt

    rows = [row for row in rows if row["case"].startswith("growth")]
    panels = sorted({(row["device"], row["data"], row["n"]) for row in rows})
    if not panels:
        return
    with style():
        figure, axes = plt.subplots(
            1, len(panels), figsize=(6 * len(panels), 4.2), squeeze=False
        )
        for axis, panel in zip(axes[0], panels, strict=True):
            _panel(axis, [r for r in rows if (r["device"], r["data"], r["n"]) == panel])
            device, data, n = panel
            axis.set_title(f"{device}, {data}, {n:,} samples")
        axes[0, 0].set_ylabel("milliseconds per task and epoch")
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=160)
        plt.close(figure)


def _panel(axis: Any, rows: list[dict[str, Any]]) -> None:
    for what, color in _COLORS.items():
        points = sorted(
            (row["tasks"], 1000 * row["epoch"] / row["tasks"])
            for row in rows
            if row["what"] == what
        )
        if points:
            axis.plot(*zip(*points, strict=True), "o-", color=color, label=what)
    axis.set(xscale="log", yscale="log", xlabel="tasks trained together")
    axis.legend()
