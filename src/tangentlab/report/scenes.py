"""A drawn figure, read back as data: what a page needs to draw it interactively.

A figure is drawn once, by matplotlib. Its lines, intervals, bars, areas and notes are
read from the drawing, with names, axes and scales, so that every figure of the common
kinds is interactive on a page and a table beside it, and no experiment describes
anything twice. Images and color maps stay pictures.
"""

from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

import numpy as np

from .dark import on_dark

Kind = Literal["line", "segments", "area", "bars", "rule", "span", "text"]
Anchor = Literal["start", "middle", "end"]

MOST_POINTS = 20_000
"""A figure with more points than that stays a picture: a browser takes seconds."""


@dataclass(frozen=True)
class Mark:
    """Something drawn in a panel.

    Attributes:
        kind: A line with or without markers; segments from (x, y) to (x_end, y_end);
            a filled area; bars, as segments of corners; a rule or span across the
            panel, at `y` or, without one, at `x`; a note.
        x: Numbers along the horizontal axis; None where there is none.
        y: Likewise, vertical.
        x_end: Other ends of segments, bars and spans.
        y_end: Likewise.
        colors: On light and on dark paper.
        opacity: From 0 to 1.
        width: Of the line, in pixels; 0 for none.
        dashes: Lengths of dashes and gaps, in pixels.
        marker: Shape of the markers, as matplotlib names it; empty for none.
        size: Of the markers, in pixels.
        filled: Markers are filled.
        text: Of a note.
        anchor: Where a note is held: start, middle or end.
        inside: A note is placed in shares of the panel, not in units of its axes.
        shades: The color of each point, where a color map gave one.
        values: What the color map showed.
        values_label: What that is.
        label: Its name; empty for none.
        entry: Number of its legend entry, which switches it; -1 for none.
    """

    kind: Kind
    x: tuple[float | None, ...] = ()
    y: tuple[float | None, ...] = ()
    x_end: tuple[float | None, ...] = ()
    y_end: tuple[float | None, ...] = ()
    colors: tuple[str, str] = ("#000000", "#ffffff")
    opacity: float = 1.0
    width: float = 0.0
    dashes: tuple[float, ...] = ()
    marker: str = ""
    size: float = 0.0
    filled: bool = True
    text: str = ""
    anchor: Anchor = "start"
    inside: bool = False
    shades: tuple[str, ...] = ()
    values: tuple[float | None, ...] = ()
    values_label: str = ""
    label: str = ""
    entry: int = -1


@dataclass(frozen=True)
class Axis:
    """One axis of a panel.

    Attributes:
        label: What it shows.
        log: Logarithmic, else linear.
        ends: First and last value shown, descending if the axis is turned around.
        percent: Values are shown times 100 and with a percent sign.
        ticks: Fixed places and their labels; empty where a page may choose.
        linear: Of an axis that is linear around 0 and logarithmic beyond: how far it is
            linear, and how many decades that part is as long as; empty for others.
    """

    label: str
    log: bool
    ends: tuple[float, float]
    percent: bool = False
    ticks: tuple[tuple[float, str], ...] = ()
    linear: tuple[float, ...] = ()


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        title: Above it; empty for none.
        x: The horizontal axis.
        y: The vertical axis.
        marks: What is drawn, from back to front.
        row: Its row in the figure, from the top.
        share: Its width, as a share of the figure's.
        height: Of the drawing, in pixels.
    """

    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    row: int
    share: float
    height: float


@dataclass(frozen=True)
class Entry:
    """A line of the legend.

    Attributes:
        name: What it says.
        colors: On light and on dark paper.
        marker: Shape of its marker; empty for none.
        filled: The marker is filled.
        dashes: Of its line.
        width: Of its line; 0 for none.
    """

    name: str
    colors: tuple[str, str]
    marker: str = ""
    filled: bool = True
    dashes: tuple[float, ...] = ()
    width: float = 0.0


@dataclass(frozen=True)
class Scene:
    """A figure as data.

    Attributes:
        panels: From the top, left to right.
        entries: Its legend, for all panels together.
        title: Above all panels; empty for none.
    """

    panels: tuple[Panel, ...]
    entries: tuple[Entry, ...]
    title: str = ""

    def to_json(self) -> dict[str, Any]:
        """What the page's script draws.

        Returns:
            Nested dicts, lists, strings and numbers, without what is as by default.
        """
        return _compact(self)


def _compact(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_compact(item) for item in value]
    if not is_dataclass(value):
        return value
    pairs = [(each, getattr(value, each.name)) for each in fields(value)]
    return {each.name: _compact(v) for each, v in pairs if v != each.default}


def colors(color: Any) -> tuple[str, str]:
    """A color on light and on dark paper.

    Args:
        color: Any color of matplotlib.

    Returns:
        Both as `#rrggbb`.
    """
    from matplotlib.colors import to_hex, to_rgba

    red, green, blue, opacity = to_rgba(color)
    light = np.array([red, green, blue, opacity])
    red, green, blue, _ = on_dark(light)
    return to_hex(color), to_hex((float(red), float(green), float(blue)))


def numbers(values: Any) -> tuple[float | None, ...]:
    """Numbers that JSON has.

    Args:
        values: Numbers.

    Returns:
        Floats of at most 7 digits; None for what is not finite or masked.
    """
    array = np.ma.filled(np.ma.asarray(values, float), np.nan)
    return tuple(float(f"{v:.7g}") if np.isfinite(v) else None for v in array.ravel())
