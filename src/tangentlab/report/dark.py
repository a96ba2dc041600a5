"""Recolor a figure for a dark page, and back.

Grays are turned around: paper becomes dark and ink light. Colors keep their hue and are
mixed with white until they stand out from the dark paper. Images and color maps, whose
colors are the data, stay as they are.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

PAPER = (0.106, 0.122, 0.145)
"""The color of cards on a dark page, `--card` in `page.css`."""
INK = (0.894, 0.902, 0.910)

_GRAY_CHROMA = 0.2
_LEAST_CONTRAST = 4.5  # what WCAG 2 asks of text

Undo = Callable[[], object]


@contextmanager
def dark_colors(figure: Any) -> Iterator[None]:
    """Give a matplotlib figure dark colors while the block lasts.

    Args:
        figure: A `matplotlib.figure.Figure`.

    Yields:
        Nothing; save the figure inside the block.
    """
    undo: list[Undo] = []
    try:
        for artist in figure.findobj():
            undo += _recolor(artist)
        yield
    finally:
        for step in undo:
            step()


def on_dark(rgba: np.ndarray) -> np.ndarray:
    """The color that plays the same part on dark paper.

    Args:
        rgba: Red, green, blue and opacity in [0, 1].

    Returns:
        The color, with the same opacity: light for dark grays and the reverse; for
        others the same hue, with a contrast to the paper of at least 4.5.
    """
    rgb, paper, ink = rgba[:3], np.array(PAPER), np.array(INK)
    if np.ptp(rgb) < _GRAY_CHROMA:
        lightness = (rgb.max() + rgb.min()) / 2
        rgb = ink + (paper - ink) * lightness
    else:
        mixes = (rgb + (1 - rgb) * white for white in np.linspace(0, 1, 21))
        rgb = next(mix for mix in mixes if contrast(mix, paper) >= _LEAST_CONTRAST)
    return np.append(rgb, rgba[3])


def contrast(rgb_1: np.ndarray, rgb_2: np.ndarray) -> float:
    """Contrast ratio of two colors, as WCAG 2 defines it.

    Args:
        rgb_1: Red, green and blue in [0, 1].
        rgb_2: The other color.

    Returns:
        A ratio from 1 (equally bright) to 21 (black and white).
    """
    low, high = sorted((_luminance(rgb_1), _luminance(rgb_2)))
    return (high + 0.05) / (low + 0.05)


def _luminance(rgb: np.ndarray) -> float:
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ np.array([0.2126, 0.7152, 0.0722]))


def _recolor(artist: Any) -> list[Undo]:
    from matplotlib.collections import Collection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    from matplotlib.text import Text

    if isinstance(artist, Text):
        return [] if _lies_on_image(artist) else _replace(artist, "color")
    if isinstance(artist, Line2D):
        return _replace(artist, "color", "markerfacecolor", "markeredgecolor")
    if isinstance(artist, Patch):
        return _replace(artist, "facecolor", "edgecolor")
    if isinstance(artist, Collection) and artist.get_array() is None:
        return _replace(artist, "facecolor", "edgecolor")
    return []


def _lies_on_image(text: Any) -> bool:
    # The colors of an image decide what can be read on it.
    axes = text.axes
    if axes is None or text not in axes.texts:
        return False
    return bool(axes.images) or any(c.get_array() is not None for c in axes.collections)


def _replace(artist: Any, *properties: str) -> list[Undo]:
    from matplotlib.colors import to_rgba_array

    undo = []
    old = {name: getattr(artist, f"get_{name}")() for name in properties}
    for name, color in old.items():
        setter = getattr(artist, f"set_{name}")
        dark = [tuple(on_dark(rgba)) for rgba in to_rgba_array(color)]
        if dark:  # no color at all has no rows
            setter(dark[0] if len(dark) == 1 else dark)
            undo.append(lambda setter=setter, color=color: setter(color))
    return undo
