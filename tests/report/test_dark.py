import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex, to_rgba
from matplotlib.figure import Figure

from tangentlab.report import dark, page

CHANNEL = st.floats(0, 1)


def test_black_and_white_change_places():
    white, black = np.array([1.0, 1, 1, 0.5]), np.array([0.0, 0, 0, 1])
    np.testing.assert_allclose(dark.on_dark(white), [*dark.PAPER, 0.5])
    np.testing.assert_allclose(dark.on_dark(black), [*dark.INK, 1])


@settings(deadline=None)
@given(rgb=st.tuples(CHANNEL, CHANNEL, CHANNEL), alpha=CHANNEL)
def test_colors_stand_out_and_keep_their_opacity(rgb, alpha):
    color = dark.on_dark(np.array([*rgb, alpha]))
    assert color[3] == alpha
    assert ((0 <= color) & (color <= 1)).all()
    if np.ptp(rgb) >= 0.2:
        assert dark.contrast(color[:3], np.array(dark.PAPER)) >= 4.5


def test_a_color_that_stands_out_already_is_kept():
    orange = np.array(to_rgba("orange"))
    np.testing.assert_array_equal(dark.on_dark(orange), orange)


def test_contrast_is_that_of_the_standard():
    white, black = np.ones(3), np.zeros(3)
    assert dark.contrast(white, black) == dark.contrast(black, white) == 21
    assert dark.contrast(white, white) == 1
    gray = np.array(to_rgba("#767676"))[:3]  # the standard's limit of readable gray
    assert dark.contrast(gray, white) == pytest.approx(4.54, abs=0.005)


def test_the_paper_is_the_card_of_the_style():
    style = Path(page.__file__).with_name("page.css").read_text()
    assert re.findall(r"--card: (#\w+);", style)[1] == to_hex(dark.PAPER)
    assert re.findall(r"--ink: (#\w+);", style)[1] == to_hex(dark.INK)


def everything_drawn() -> Figure:
    figure = Figure(figsize=(5, 4))
    axes, image = figure.subplots(1, 2)
    axes.plot([0, 1], "o-", color="#1d4ed8", markerfacecolor="white", label="line")
    axes.plot([1, 0], "s", color="k", markerfacecolor="none")
    axes.scatter([0, 1], [1, 1], facecolors="none", edgecolors=["k", "r"])
    axes.scatter([0, 1, 2], [1, 1, 1], c=[1.0, 2.0, 3.0])
    axes.fill_between([0, 1], [0, 1], color="0.5", alpha=0.1)
    axes.bar([0], [1], color="w", edgecolor="k")
    axes.set_title("title")
    axes.legend()
    axes.grid()
    drawn = image.imshow(np.eye(3), cmap="gray")
    image.text(1, 1, "on image", color="k")
    figure.colorbar(drawn)
    return figure


def pixels(figure: Figure) -> np.ndarray:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba()).copy()


def test_a_figure_is_dark_inside_the_block_only():
    figure = everything_drawn()
    light = pixels(figure)
    with dark.dark_colors(figure):
        night = pixels(figure)
    np.testing.assert_array_equal(pixels(figure), light)
    assert light[0, 0].tolist() == [255, 255, 255, 255]
    assert to_hex(night[0, 0] / 255) == to_hex(dark.PAPER)
    assert night[..., :3].mean() < 100 < 200 < light[..., :3].mean()


def test_images_and_the_text_on_them_keep_their_colors():
    figure = everything_drawn()
    pixels(figure)
    axes = figure.axes[1]
    with dark.dark_colors(figure):
        assert axes.images[0].get_cmap().name == "gray"
        assert axes.texts[0].get_color() == "k"
        assert to_hex(axes.title.get_color()) == to_hex(dark.INK)


def test_an_error_inside_the_block_gives_the_colors_back():
    figure = everything_drawn()
    light = pixels(figure)
    with pytest.raises(RuntimeError):
        with dark.dark_colors(figure):
            raise RuntimeError
    np.testing.assert_array_equal(pixels(figure), light)
