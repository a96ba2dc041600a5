"""Reading what is drawn in one pair of matplotlib axes."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .plain_text import plain_text
from .scenes import Anchor, Kind, Mark, colors, numbers

_ENDS = ("x", "y", "x_end", "y_end")
_PIXELS = 96 / 72  # of a point
_ANCHORS: dict[str, Anchor] = {"left": "start", "center": "middle", "right": "end"}


class UnreadableError(Exception):
    """Something is drawn that only a picture can show."""


def read_marks(ax: Any, renderer: Any) -> list[Mark]:
    """Everything drawn in some axes, from back to front.

    Args:
        ax: Axes of a figure that was drawn.
        renderer: What it was drawn with.

    Returns:
        The marks; legend entries are not assigned yet.

    Raises:
        UnreadableError: For an image, a color map or a shape without data.
    """
    if (
        ax.images
        or ax.tables
        or ax.child_axes
        or getattr(ax, "name", "") != "rectilinear"
    ):
        raise UnreadableError("images, tables and axes of other kinds stay pictures")
    artists = [*ax.collections, *ax.patches, *ax.lines]
    visible = [artist for artist in artists if artist.get_visible()]
    visible.sort(key=lambda artist: artist.get_zorder())
    marks = [mark for artist in visible for mark in _named(ax, artist)]
    notes = [_note(ax, text, renderer) for text in ax.texts if _is_shown(text)]
    return _merged(marks) + notes


def _named(ax: Any, artist: Any) -> Iterator[Mark]:
    """Its marks; parts of bars and error bars have the name of the whole."""
    wholes = [whole for whole in ax.containers if artist in _parts(whole)]
    for mark in _read(ax, artist):
        yield replace(mark, label=_label(wholes[0])) if wholes else mark


def _parts(container: Any) -> list[Any]:
    parts = []
    for part in container:
        parts += part if isinstance(part, tuple | list) else [part]
    return parts


def _merged(marks: list[Mark]) -> list[Mark]:
    """Bars of one name and color as one mark."""
    merged: list[Mark] = []
    for mark in marks:
        last = merged[-1] if merged else mark
        alike = (mark.kind, mark.colors, mark.label) == (
            last.kind,
            last.colors,
            last.label,
        )
        if merged and mark.kind == "bars" and alike:
            joined = {f: getattr(last, f) + getattr(mark, f) for f in _ENDS}
            merged[-1] = replace(last, **joined)
        else:
            merged.append(mark)
    return merged


def _read(ax: Any, artist: Any) -> Iterator[Mark]:
    from matplotlib.collections import LineCollection, PathCollection, PolyCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon, Rectangle

    if isinstance(artist, Line2D):
        yield _line(ax, artist)
    elif isinstance(artist, LineCollection):
        yield from _segments(ax, artist)
    elif isinstance(artist, PathCollection):
        yield _points(ax, artist)
    elif isinstance(artist, PolyCollection):
        yield from _areas(ax, artist)
    elif isinstance(artist, Rectangle):
        yield _rectangle(ax, artist)
    elif isinstance(artist, Polygon):
        x, y = np.asarray(artist.get_xy()).T
        yield _filled(
            "area", artist.get_facecolor(), artist, x=numbers(x), y=numbers(y)
        )
    else:
        raise UnreadableError(f"{type(artist).__name__} stays a picture")


def _line(ax: Any, line: Any) -> Mark:
    x, y = (np.ma.asarray(v, float) for v in line.get_data(orig=False))
    shown = line.get_linestyle() not in ("None", "none", " ", "")
    marker = (
        line.get_marker() if line.get_marker() not in (None, "None", "none") else ""
    )
    pattern = getattr(line, "_dash_pattern", (0, None))[1] or ()
    face = line.get_markerfacecolor()
    look = {
        "colors": colors(line.get_color() if shown else line.get_markeredgecolor()),
        "opacity": float(line.get_alpha() or 1.0),
        "width": round(float(line.get_linewidth()) * _PIXELS, 2) if shown else 0.0,
        "dashes": tuple(round(float(d) * _PIXELS, 1) for d in pattern) if shown else (),
        "label": _label(line),
    }
    transform = line.get_transform()
    if transform == ax.get_yaxis_transform(which="grid"):
        return Mark("rule", y=numbers(y[:1]), **look)
    if transform == ax.get_xaxis_transform(which="grid"):
        return Mark("rule", x=numbers(x[:1]), **look)
    if not transform.contains_branch(ax.transData):
        raise UnreadableError("a line outside the axes' units stays a picture")
    return Mark(
        "line",
        x=numbers(x),
        y=numbers(y),
        marker=str(marker),
        size=round(float(line.get_markersize()) * _PIXELS, 1),
        filled=colors(face) == colors(line.get_markeredgecolor()),
        **look,
    )


def _segments(ax: Any, collection: Any) -> Iterator[Mark]:
    _refuse_color_map(collection)
    ends = np.array([path.vertices for path in collection.get_paths()], dtype=float)
    if not len(ends):
        return
    if ends.ndim != 3 or ends.shape[1] != 2:
        raise UnreadableError("a collection of bent lines stays a picture")
    width = float(np.ravel(collection.get_linewidth())[0]) * _PIXELS
    (x, y), (x_end, y_end) = ends[:, 0].T, ends[:, 1].T
    color = collection.get_edgecolor()[0]
    yield Mark(
        "segments",
        numbers(x),
        numbers(y),
        numbers(x_end),
        numbers(y_end),
        colors=colors(color),
        opacity=float(color[3]),
        width=round(width, 2),
        label=_label(collection),
    )


def _points(ax: Any, collection: Any) -> Mark:
    face, edge = collection.get_facecolor(), collection.get_edgecolor()
    mapped = collection.get_array() is not None
    if len(face) > 1 and not mapped:
        raise UnreadableError("points of several colors stay a picture")
    x, y = np.ma.asarray(collection.get_offsets(), float).T
    color = face[0] if len(face) else edge[0]
    size = float(np.sqrt(np.mean(collection.get_sizes())))
    return Mark(
        "line",
        numbers(x),
        numbers(y),
        colors=colors(color),
        opacity=float(color[3]),
        marker="o",
        size=round(size * _PIXELS, 1),
        filled=bool(len(face)),
        label=_label(collection),
        **(_color_map(collection) if mapped else {}),
    )


def _color_map(collection: Any) -> dict[str, Any]:
    from matplotlib.colors import to_hex

    return {
        "shades": tuple(map(to_hex, collection.get_facecolor())),
        "values": numbers(collection.get_array()),
        "values_label": plain_text(_bar_label(collection)),
    }


def _bar_label(collection: Any) -> str:
    """What its color bar says, or the first of the figure, which panels share."""
    bars = [ax for ax in collection.figure.axes if ax.get_label() == "<colorbar>"]
    if collection.colorbar is not None:
        bars = [collection.colorbar.ax]
    return bars[0].get_ylabel() or bars[0].get_xlabel() if bars else ""


def _areas(ax: Any, collection: Any) -> Iterator[Mark]:
    _refuse_color_map(collection)
    for path in collection.get_paths():
        x, y = np.asarray(path.vertices).T
        color = collection.get_facecolor()[0]
        yield _filled("area", color, collection, x=numbers(x), y=numbers(y))


def _rectangle(ax: Any, patch: Any) -> Mark:
    x, y = patch.get_xy()
    x_end, y_end = x + patch.get_width(), y + patch.get_height()
    color, transform = patch.get_facecolor(), patch.get_transform()
    if transform.contains_branch(ax.get_yaxis_transform(which="grid")):
        return _filled("span", color, patch, y=numbers(y), y_end=numbers(y_end))
    if transform.contains_branch(ax.get_xaxis_transform(which="grid")):
        return _filled("span", color, patch, x=numbers(x), x_end=numbers(x_end))
    ends = {"x": x, "y": y, "x_end": x_end, "y_end": y_end}
    return _filled("bars", color, patch, **{k: numbers(v) for k, v in ends.items()})


def _filled(kind: Kind, color: Any, artist: Any, **places: Any) -> Mark:
    return Mark(
        kind,
        colors=colors(color),
        opacity=float(color[3]),
        label=_label(artist),
        **places,
    )


def _note(ax: Any, text: Any, renderer: Any) -> Mark:
    """A note where it was drawn; it moves with the data unless the axes hold it."""
    box = text.get_window_extent(renderer)
    anchor = _ANCHORS[text.get_horizontalalignment()]
    across = {"start": box.x0, "middle": (box.x0 + box.x1) / 2, "end": box.x1}[anchor]
    inside = text.get_transform() == ax.transAxes
    back = (ax.transAxes if inside else ax.transData).inverted()
    x, y = back.transform((across, (box.y0 + box.y1) / 2))
    return Mark(
        "text",
        numbers(x),
        numbers(y),
        colors=colors(text.get_color()),
        size=round(float(text.get_fontsize()) * _PIXELS, 1),
        text=plain_text(text.get_text()),
        anchor=anchor,
        inside=bool(inside),
    )


def _is_shown(text: Any) -> bool:
    return bool(text.get_visible() and text.get_text().strip())


def _label(artist: Any) -> str:
    label = str(artist.get_label() or "")
    return "" if label.startswith("_") else plain_text(label)


def _refuse_color_map(collection: Any) -> None:
    if collection.get_array() is not None:
        raise UnreadableError("a color map stays a picture")
