import csv

import numpy as np
from matplotlib.figure import Figure

from tangentlab.report.interactive import show
from tangentlab.report.pictures import picture_table
from tangentlab.report.reading import read_figure
from tangentlab.report.scenes import MOST_POINTS
from tangentlab.store import write_figure


def rows_of(figure, path):
    write_figure(path / "figure.png", figure, show(figure))
    with (path / "figure.csv").open() as file:
        return list(csv.DictReader(file))


def test_pixels_are_numbers_beside_the_picture(tmp_path):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    left.imshow(np.array([[0.0, 1.0], [2.0, 3.0]]))
    left.set_title("gray")
    right.imshow(np.array([[[0.1, 0.2, 0.3], [1.0, 0.5, 0.0]]]))
    rows = rows_of(figure, tmp_path)
    gray = [row for row in rows if row["panel"] == "gray"]
    assert [(r["x"], r["y"], r["value"]) for r in gray] == [
        ("0", "0", "0.0"),
        ("1", "0", "1.0"),
        ("0", "1", "2.0"),
        ("1", "1", "3.0"),
    ]
    colored = [row for row in rows if row["panel"] == "2"]
    assert [r["red"] for r in colored] == ["0.1", "1.0"]
    assert {r["kind"] for r in rows} == {"pixel"}


def test_cells_of_a_color_map_are_told_by_their_centers(tmp_path):
    figure = Figure()
    axes = figure.subplots()
    mesh = axes.pcolormesh([0, 1, 3], [0, 2, 4], [[5.0, 6.0], [7.0, 8.0]])
    axes.twinx().scatter([9.0], [10.0], c=[11.0], label="point")
    figure.colorbar(mesh)
    rows = rows_of(figure, tmp_path)
    cells = [(float(r["x"]), float(r["y"]), float(r["value"])) for r in rows]
    assert cells == [(0.5, 1, 5), (2, 1, 6), (0.5, 3, 7), (2, 3, 8), (9, 10, 11)]
    assert rows[-1]["series"] == "point"


def test_a_curve_too_long_to_be_drawn_again_keeps_its_numbers():
    figure = Figure()
    axes = figure.subplots()
    axes.plot(np.arange(MOST_POINTS + 1), label="long")
    assert read_figure(figure) is None
    table = picture_table(figure)
    assert len(table.rows) == MOST_POINTS + 1
    assert table.rows[-1].cells[:5] == ("1", "long", "point", *[float(MOST_POINTS)] * 2)
