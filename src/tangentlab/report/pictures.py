"""The numbers of a figure that stays a picture: pixels, color maps, long curves."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from .plain_text import plain_text
from .tables import Column, Row, Table

_TITLES = ("panel", "series", "kind", "x", "y", "value", "red", "green", "blue")


def picture_table(figure: Any) -> Table:
    """All numbers of a figure, whatever is drawn in it.

    Args:
        figure: A `matplotlib.figure.Figure`.

    Returns:
        A row for each pixel, cell of a color map, or point. Pixels are counted from the
        upper left; colored ones have three values.
    """
    rows = [
        Row((name, *cells))
        for number, ax in enumerate(_shown(figure), start=1)
        for name in [plain_text(ax.get_title("left") or ax.get_title()) or str(number)]
        for cells in _cells(ax)
    ]
    return Table(tuple(map(Column, _TITLES)), tuple(rows))


def _shown(figure: Any) -> list[Any]:
    """Axes of the figure and of its parts, without color bars."""
    every = [ax for part in (figure, *figure.subfigs) for ax in part.axes]
    kept = [ax for ax in dict.fromkeys(every) if ax.get_visible()]
    return [ax for ax in kept if ax.get_label() != "<colorbar>"]


def _cells(ax: Any) -> Iterator[tuple[Any, ...]]:
    for image in ax.images:
        yield from _pixels(np.ma.filled(image.get_array(), np.nan))
    for drawn in ax.collections:
        yield from _collected(drawn)
    for line in ax.lines:
        points = np.column_stack([line.get_xdata(), line.get_ydata()])
        for x, y in points.tolist():
            yield (_name(line), "point", x, y, None, None, None, None)


def _pixels(values: np.ndarray) -> Iterator[tuple[Any, ...]]:
    colored = values.ndim == 3
    for y, x in np.ndindex(values.shape[:2]):
        if colored:
            yield ("", "pixel", x, y, None, *values[y, x, :3].tolist())
        else:
            yield ("", "pixel", x, y, values[y, x].item(), None, None, None)


def _collected(drawn: Any) -> Iterator[tuple[Any, ...]]:
    """Cells of a color map by their centers; points of a scatter with their values."""
    values = drawn.get_array()
    if hasattr(drawn, "get_coordinates"):
        corners = np.asarray(drawn.get_coordinates(), float)
        centers = (corners[:-1, :-1] + corners[1:, 1:]) / 2
        if values is not None and np.size(values) == centers[..., 0].size:
            cells = np.ma.filled(values, np.nan).ravel().tolist()
            places = centers.reshape(-1, 2).tolist()
            for (x, y), value in zip(places, cells, strict=True):
                yield (_name(drawn), "cell", x, y, value, None, None, None)
        return
    places = np.asarray(drawn.get_offsets(), float).reshape(-1, 2).tolist()
    cells: list[Any] = [None] * len(places)
    if values is not None and np.size(values) == len(places):
        cells = np.ma.filled(values, np.nan).ravel().tolist()
    for (x, y), value in zip(places, cells, strict=True):
        yield (_name(drawn), "point", x, y, value, None, None, None)


def _name(artist: Any) -> str:
    label = str(artist.get_label())
    return "" if label.startswith("_") else plain_text(label)
