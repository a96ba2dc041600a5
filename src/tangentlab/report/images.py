"""A figure as an image inside a page: for what no script can draw."""

import base64
import io
from html import escape
from typing import Any, NamedTuple, Protocol, runtime_checkable

from .dark import dark_colors

_LARGEST_SVG = 2_000_000
"""A drawing with more bytes than that, such as a scatter of many points, goes in as
pixels: browsers take seconds over it."""


@runtime_checkable
class Drawing(Protocol):
    """What a page needs of a figure; a matplotlib `Figure` has it."""

    def savefig(self, fname: Any, **options: Any) -> Any:
        """Write the figure to a file name or a binary file."""
        ...

    def findobj(self) -> list[Any]:
        """Everything drawn in the figure."""
        ...


class Picture(NamedTuple):
    """A figure as images that a page holds.

    Attributes:
        light: The image as a `data:` URL.
        dark: Its twin for dark pages.
    """

    light: str
    dark: str


def data_url(figure: Drawing) -> str:
    """A figure as a `data:` URL: SVG, or PNG where the SVG would be huge.

    Args:
        figure: The figure.

    Returns:
        The URL; the same figure gives the same URL.
    """
    from matplotlib import rc_context

    content = io.BytesIO()
    with rc_context({"svg.hashsalt": "tangentlab", "svg.fonttype": "path"}):
        metadata = {"Date": None, "Creator": None}
        figure.savefig(content, format="svg", bbox_inches="tight", metadata=metadata)
    kind = "svg+xml"
    if content.tell() > _LARGEST_SVG:
        content, kind = io.BytesIO(), "png"
        figure.savefig(content, format="png", bbox_inches="tight", dpi=200)
    return f"data:image/{kind};base64,{base64.b64encode(content.getvalue()).decode()}"


def take_picture(figure: Drawing) -> Picture:
    """Draw a figure as a picture, with a dark twin.

    Args:
        figure: The figure.

    Returns:
        The picture.
    """
    light = data_url(figure)  # first: drawing makes the ticks that are recolored next
    with dark_colors(figure):
        return Picture(light, data_url(figure))


def picture_html(picture: Picture, *, alt: str, caption: str = "") -> str:
    """A picture inside a page, light or dark as the page is.

    Args:
        picture: The picture.
        alt: What it shows, for who cannot see it.
        caption: Below it, as HTML.

    Returns:
        HTML.
    """
    light, dark = picture
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return (
        '<figure><picture><source media="(prefers-color-scheme: dark)" '
        f'srcset="{dark}"><img src="{light}" alt="{escape(alt)}"></picture>{below}'
        "</figure>"
    )
