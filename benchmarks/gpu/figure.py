"""Time against samples, parameters and outputs, each in a log-log panel."""

from pathlib import Path

import numpy as np

from tangentlab.report.style import MUTED, style

_PANELS = {"samples": "samples", "parameters": "parameters", "outputs": "outputs"}
_COLORS = {"MLP": "#0f766e", "LeNet": "#1d4ed8", "ResNet18": "#c2410c"}


def draw(stored: dict, file: Path) -> dict[str, float]:
    """Draw the figure; returns the slope of each curve."""
    import matplotlib.pyplot as plt

    slopes = {}
    with style():
        figure, axes = plt.subplots(1, 3, figsize=(12, 4), sharey=True)
        for axis, varied in zip(axes, _PANELS, strict=True):
            for name, points in _curves(stored, varied).items():
                slopes[name] = _curve(axis, name, points)
            axis.set(xscale="log", yscale="log", xlabel=_PANELS[varied])
            axis.legend(loc="upper left")
            axis.set_title(f"against {varied}")
        axes[0].set_ylabel("seconds, second call")
        axes[0].set_ylim(0.05, 150)
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, dpi=160)
        plt.close(figure)
    return slopes


def _curve(axis, name: str, points: list[tuple[float, float]]) -> float:
    x, y = np.array(sorted(points)).T
    color = next(c for begin, c in _COLORS.items() if name.startswith(begin))
    upper = slice(len(x) // 2, None) if len(x) > 3 else slice(None)
    slope, start = np.polyfit(np.log(x[upper]), np.log(y[upper]), 1)
    label = f"{name}: slope {slope:.2f}"
    axis.plot(x, y, "o-", color=color, label=label)
    fitted = np.exp(start) * x[upper] ** slope
    axis.plot(x[upper], fitted, "--", color=MUTED, linewidth=1, zorder=3)
    return float(slope)


def _curves(stored: dict, varied: str) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for one in stored["growth"]:
        if one["varied"] == varied:
            point = one[varied], min(one["seconds"][1:])
            found.setdefault(one["curve"], []).append(point)
    if varied == "samples":
        _add_resnet(stored, found.setdefault("ResNet18", []))
    return {name: points for name, points in found.items() if len(points) > 1}


def _add_resnet(stored: dict, points: list[tuple[float, float]]) -> None:
    """The ResNet18 of full width, measured for the other panels and the table."""
    for one in stored["growth"]:
        if one["curve"].startswith("ResNet18, 8") and one["parameters"] > 10**7:
            points.append((one["samples"], min(one["seconds"][1:])))
    for one in stored["cases"]:
        if one["case"] == "ResNet18, all parameters active, fast":
            points.append((one["n"], min(one["seconds"][1:])))
