"""Interactive figures for a page: a scene as data, and the script that draws it.

The script is small, plain and our own, so that a page is one file of little more than
its numbers, follows light and dark by itself, and opens without a network.
"""

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, cast

from .images import Drawing, Picture, picture_html, take_picture
from .reading import read_figure
from .scenes import Scene

Shown = Scene | Picture
"""What a page shows of a figure: data that the script draws, or a picture."""

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HERE = Path(__file__).parent
HOW_TO = (
    "Point at a curve for its numbers, drag over a part to enlarge it, and switch "
    "curves by their names."
)
"""What a reader can do with the figures."""
NO_SCRIPT = (
    "<noscript><p>Figures on this page are drawn by a script. Without it, open the "
    "PNG that is linked in each caption.</p></noscript>"
)
"""What a reader sees whose browser runs no script, as HTML."""


def charts_script() -> str:
    """The script that draws every scene of a page.

    Returns:
        JavaScript, for one inline element at the end of the page.
    """
    names = ("charts.js", "chart_views.js")
    return "".join((_HERE / name).read_text("utf-8") for name in names)


def charts_style() -> str:
    """The style of interactive figures.

    Returns:
        CSS, beside that of the page.
    """
    return (_HERE / "charts.css").read_text("utf-8")


def scene_html(scene: Scene, *, alt: str, caption: str = "") -> str:
    """A figure that the script draws.

    Args:
        scene: The figure as data.
        alt: What it shows, for who cannot see it.
        caption: Below it, as HTML.

    Returns:
        HTML.
    """
    data = json.dumps(
        scene.to_json(), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    data = data.replace("<", "\\u003c")  # no tag can begin inside the element
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return (
        f'<figure class="chart" data-alt="{escape(alt)}">'
        f'<script type="application/json" class="scene">{data}</script>'
        f"{below}</figure>"
    )


def show(figure: Drawing | Shown) -> Shown:
    """What a page shows of a figure; to find it out takes about as long as to draw it.

    Args:
        figure: A `matplotlib.figure.Figure`, or what was made of one. Where it places
            its axes is decided now, for all the times it will be drawn.

    Returns:
        The figure as data, or as a picture where the script cannot draw it.
    """
    if isinstance(figure, Scene | Picture):
        return figure
    scene = read_figure(figure)
    cast("Figure", figure).set_layout_engine("none")
    return scene or take_picture(figure)


def figure_html(
    figure: Drawing | Shown,
    *,
    alt: str,
    file: str,
    caption: str = "",
    command: str = "",
) -> str:
    """A figure that the script draws, or a picture where it cannot.

    Args:
        figure: A `matplotlib.figure.Figure`, or what was made of one.
        alt: What it shows, for who cannot see it.
        file: Its files beside the page, without their endings.
        caption: What to see, below it.
        command: What made it.

    Returns:
        HTML, everything escaped.
    """
    shown = show(figure)
    links = " · ".join(
        f'<a href="{escape(file)}.{ending}">{ending.upper()}</a>'
        for ending in ("png", "csv")
    )
    below = f'{escape(caption)} <span class="files">{links}</span>'.strip()
    below += f"<code>{escape(command)}</code>" if command else ""
    if isinstance(shown, Picture):
        return picture_html(shown, alt=alt, caption=below)
    return scene_html(shown, alt=alt, caption=below)
