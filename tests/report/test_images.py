import base64
import re

import numpy as np
from matplotlib.figure import Figure

from tangentlab.report import images
from tangentlab.report.images import data_url, picture_html, take_picture


def line_figure(num: int = 3) -> Figure:
    figure = Figure(figsize=(4, 3))
    figure.subplots().plot(np.arange(num) ** 2)
    return figure


def decode(url: str, kind: str) -> bytes:
    assert url.startswith(f"data:image/{kind};base64,")
    return base64.b64decode(url.split(",")[1])


def test_a_figure_becomes_a_vector_image_that_is_always_the_same():
    first = data_url(line_figure())
    svg = decode(first, "svg+xml").decode()
    assert "<svg" in svg and "</svg>" in svg
    assert "<dc:date>" not in svg
    assert data_url(line_figure()) == first


def test_a_huge_drawing_becomes_pixels(monkeypatch):
    monkeypatch.setattr(images, "_LARGEST_SVG", 1000)
    assert decode(data_url(line_figure()), "png").startswith(b"\x89PNG")


def test_a_figure_has_a_dark_twin_and_keeps_its_colors():
    figure = line_figure()
    before = data_url(figure)
    html = picture_html(take_picture(figure), alt="squares", caption="They grow.")
    found = re.search(r'media="(.*?)" srcset="(.*?)".*src="(.*?)"', html)
    assert found is not None
    media, dark, light = found.groups()
    assert media == "(prefers-color-scheme: dark)" and light == before
    assert "#ffffff" in decode(light, "svg+xml").decode()
    assert "#ffffff" not in decode(dark, "svg+xml").decode()
    assert data_url(figure) == before
    assert "<figcaption>They grow.</figcaption>" in html
