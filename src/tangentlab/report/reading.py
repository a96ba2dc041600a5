"""From a matplotlib figure to its scene, and from a scene to a table."""

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .marks import UnreadableError, read_marks
from .plain_text import plain_text
from .scenes import MOST_POINTS, Axis, Entry, Mark, Panel, Scene
from .tables import Column, Row, Table

_PIXELS = 80  # of an inch of a drawing
_COLUMNS = ("x", "y", "x_end", "y_end", "values")
_ROW = 0.06  # of a figure's height, within which panels stand side by side


def read_figure(figure: Any) -> Scene | None:
    """Read a figure back as data.

    Args:
        figure: A `matplotlib.figure.Figure`.

    Returns:
        The scene; None for a figure that only a picture can show: images, color maps,
        axes on top of each other, or very many points.
    """
    figure.draw_without_rendering()
    shown = [ax for ax in figure.axes if ax.get_visible() and not _is_aside(ax)]
    if not shown or figure.subfigs or _overlap(shown):
        return None
    with contextlib.suppress(UnreadableError):
        panels = [_panel(figure, ax, row) for row, ax in _in_rows(shown)]
        entries = tuple(_entries(figure, panels))
        scene = Scene(
            tuple(_assign(panel, entries) for panel in panels),
            entries,
            plain_text(figure.get_suptitle() or ""),
        )
        if 0 < _count(scene) <= MOST_POINTS:
            return scene
    return None


def scene_table(scene: Scene) -> Table:
    """All numbers of a figure.

    Args:
        scene: The figure.

    Returns:
        A row for each point, interval or bar; intervals and bars have two ends, and
        `color` is what a color map showed. Where an axis has named rows, `x_name` or
        `y_name` holds the name of each.
    """
    sides = [side for side in ("x", "y") if any(_names(p, side) for p in scene.panels)]
    rows = []
    for number, panel in enumerate(scene.panels, start=1):
        name = panel.title or panel.y.label or str(number)
        for mark in panel.marks:
            if mark.kind == "text":
                continue
            series = scene.entries[mark.entry].name if mark.entry >= 0 else mark.label
            columns = [_named(mark, side, _names(panel, side)) for side in sides]
            columns += [_column(mark, end) for end in _COLUMNS]
            rows += [
                Row((name, series, mark.kind, *cells))
                for cells in zip(*columns, strict=True)
            ]
    names = [f"{side}_name" for side in sides]
    titles = ["panel", "series", "kind", *names, "x", "y", "x_end", "y_end", "color"]
    return Table(tuple(map(Column, titles)), tuple(rows))


def _names(panel: Panel, side: str) -> dict[int, str]:
    """Names of the rows of an axis, numbered from 0; empty if it shows numbers."""
    axis: Axis = getattr(panel, side)
    places = [place for place, _ in axis.ticks]
    if sorted(places) != list(range(len(places))) or axis.log or axis.linear:
        return {}
    if all(_says(label, place) for place, label in axis.ticks):
        return {}
    return {int(place): label for place, label in axis.ticks}


def _says(label: str, place: float) -> bool:
    """Whether a label is the number that it stands at."""
    unit = 100 if label.endswith("%") else 1
    try:
        return float(label.removesuffix("%")) == unit * place
    except ValueError:
        return False


def _named(mark: Mark, side: str, names: dict[int, str]) -> list[str | None]:
    """The row in which each point, interval or bar lies; None if in none or several."""
    starts, ends = _column(mark, side), _column(mark, f"{side}_end")
    found = []
    for start, end in zip(starts, ends, strict=True):
        both = [place for place in (start, end) if place is not None]
        row = round(sum(both) / len(both)) if both else -1
        inside = all(abs(place - row) < 0.5 for place in both)
        found.append(names.get(row) if inside else None)
    return found


def _column(mark: Mark, end: str) -> tuple[float | None, ...]:
    num = max(len(mark.x), len(mark.y))
    return getattr(mark, end) or (None,) * num


def _count(scene: Scene) -> int:
    marks = [mark for panel in scene.panels for mark in panel.marks]
    return sum(max(len(m.x), len(m.y)) for m in marks if m.kind != "text")


def _is_aside(ax: Any) -> bool:
    """Color bars, and axes that only hold words, such as a list of verdicts."""
    if ax.get_label() == "<colorbar>":
        return True
    if ax.axison:
        return False
    if ax.images or ax.collections:
        return False
    return all(len(line.get_xdata()) < 2 for line in ax.lines) and not ax.patches


def _overlap(shown: list[Any]) -> bool:
    boxes = [ax.get_position() for ax in shown]
    return any(
        a.x0 < b.x1 - 0.01
        and b.x0 < a.x1 - 0.01
        and a.y0 < b.y1 - 0.01
        and b.y0 < a.y1 - 0.01
        for at, a in enumerate(boxes)
        for b in boxes[at + 1 :]
    )


def _in_rows(shown: list[Any]) -> Iterator[tuple[int, Any]]:
    """Axes with their row, from the top, left to right."""
    middle = {id(ax): float(np.mean(ax.get_position().intervaly)) for ax in shown}
    order = sorted(shown, key=lambda ax: -middle[id(ax)])
    row, above, placed = 0, middle[id(order[0])], []
    for ax in order:
        if above - middle[id(ax)] > _ROW:
            row, above = row + 1, middle[id(ax)]
        placed.append((row, ax))
    yield from sorted(placed, key=lambda pair: (pair[0], pair[1].get_position().x0))


def _panel(figure: Any, ax: Any, row: int) -> Panel:
    box = ax.get_position()
    return Panel(
        title=plain_text(ax.get_title("left") or ax.get_title()),
        x=_axis(ax.xaxis, ax.get_xlim()),
        y=_axis(ax.yaxis, ax.get_ylim()),
        marks=tuple(read_marks(ax, _renderer(figure))),
        row=row,
        share=round(float(box.width), 4),
        height=round(float(box.height * figure.get_figheight() * _PIXELS), 1),
    )


def _renderer(figure: Any) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    return FigureCanvasAgg(figure).get_renderer()


def _axis(axis: Any, ends: tuple[float, float]) -> Axis:
    from matplotlib.category import StrCategoryLocator
    from matplotlib.ticker import FixedLocator, ScalarFormatter

    scale = axis.get_scale()
    if scale not in ("linear", "log", "symlog"):
        raise UnreadableError(f"an axis with scale {scale} stays a picture")
    formatter, percent = axis.get_major_formatter(), False
    if not isinstance(formatter, ScalarFormatter):
        percent = "%" in formatter(0.5, 0)
    ticks = ()
    if isinstance(axis.get_major_locator(), FixedLocator | StrCategoryLocator):
        places = axis.get_ticklocs()
        labels = [label.get_text() for label in axis.get_ticklabels()]
        if not any(labels):  # panels that share an axis show them once
            labels = formatter.format_ticks(places)
        ticks = tuple(zip(map(float, places), map(plain_text, labels), strict=False))
        ticks = tuple(tick for tick in ticks if tick[1])
    low, high = map(float, ends)
    label = " ".join(plain_text(axis.get_label_text()).split())
    linear = _linear_part(axis) if scale == "symlog" else ()
    return Axis(label, scale == "log", (low, high), percent, ticks, linear)


def _linear_part(axis: Any) -> tuple[float, float]:
    """How far matplotlib's `symlog` is linear, and how many decades long that is."""
    bent = axis.get_transform()
    if bent.base != 10:
        raise UnreadableError("an axis with powers of other numbers stays a picture")
    return float(bent.linthresh), float(bent.linscale / (1 - 1 / bent.base))


def _entries(figure: Any, panels: list[Panel]) -> Iterator[Entry]:
    """What the legends name; without legends, what carries a name."""
    marks = [mark for panel in panels for mark in panel.marks]
    legends = [*figure.legends, *(ax.get_legend() for ax in figure.axes)]
    texts = [
        t.get_text() for one in legends if one is not None for t in one.get_texts()
    ]
    names = dict.fromkeys(map(plain_text, texts))
    if not names:
        names = dict.fromkeys(mark.label for mark in marks if mark.label)
    for name in names:
        mark = next((mark for mark in marks if mark.label == name), None)
        if mark is not None:
            yield Entry(
                name, mark.colors, mark.marker, mark.filled, mark.dashes, mark.width
            )


def _assign(panel: Panel, entries: tuple[Entry, ...]) -> Panel:
    """Give marks their legend entry: by name, else by color."""
    by_name = {entry.name: at for at, entry in enumerate(entries)}
    here = {mark.label for mark in panel.marks}
    near = [pair for pair in enumerate(entries) if pair[1].name in here]
    by_color = {entry.colors: at for at, entry in (near or [*enumerate(entries)])[::-1]}

    def entry_of(mark: Mark) -> int:
        if mark.label:
            return by_name.get(mark.label, -1)
        return by_color.get(mark.colors, -1)

    marks = tuple(
        replace(mark, entry=-1 if mark.kind == "text" else entry_of(mark))
        for mark in panel.marks
        if mark.x or mark.y  # a line without points only names an entry
    )
    return replace(panel, marks=marks)
