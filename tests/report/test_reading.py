import csv
import io
import json

import numpy as np
import pytest
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure

from tangentlab.report.interactive import show
from tangentlab.report.reading import read_figure, scene_table
from tangentlab.report.scenes import Mark, Scene
from tangentlab.report.style import LINEARIZED, NETWORK, style
from tangentlab.report.tables import to_csv


def axes_of(**options):
    with style():
        figure = Figure(figsize=(6, 3), layout="constrained")
        return figure, figure.subplots(**options)


def read(figure: Figure) -> Scene:
    scene = read_figure(figure)
    assert scene is not None
    return scene


def marks(figure: Figure, kind: str) -> list[Mark]:
    return [m for panel in read(figure).panels for m in panel.marks if m.kind == kind]


def test_a_line_keeps_numbers_name_color_and_markers():
    figure, ax = axes_of()
    ax.plot(
        [1, 2, 3], [0.5, np.nan, -1], "s--", color=LINEARIZED, label="linearization"
    )
    ax.lines[0].set_markerfacecolor("white")
    (mark,) = marks(figure, "line")
    assert (mark.x, mark.y) == ((1.0, 2.0, 3.0), (0.5, None, -1.0))
    assert mark.colors[0] == LINEARIZED and mark.colors[1] != LINEARIZED
    assert (mark.marker, mark.filled, mark.label) == ("s", False, "linearization")
    assert mark.width > 0 and len(mark.dashes) == 2


def test_markers_without_a_line_have_the_color_of_their_edge():
    figure, ax = axes_of()
    ax.plot([1], [1], "o", markeredgecolor=NETWORK, markerfacecolor="white")
    (mark,) = marks(figure, "line")
    assert (mark.width, mark.dashes, mark.colors[0]) == (0.0, (), NETWORK)


def test_axes_keep_labels_scales_limits_and_ticks():
    figure, ax = axes_of()
    ax.plot([1, 10], [0, 1])
    ax.set(xscale="log", xlim=(0.5, 20), ylim=(1, 0), title="A", xlabel="number $n^2$")
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    (panel,) = read(figure).panels
    assert (panel.x.log, panel.x.ends, panel.x.label) == (
        True,
        (0.5, 20.0),
        "number n²",
    )
    assert (panel.y.log, panel.y.ends, panel.y.percent) == (False, (1.0, 0.0), True)
    assert panel.title == "A" and panel.x.ticks == ()
    ax.set_xticks([2, 5], ["two", "five"])
    assert read(figure).panels[0].x.ticks == ((2.0, "two"), (5.0, "five"))


def test_intervals_bars_areas_and_rules_are_read():
    figure, ax = axes_of()
    ax.vlines([1, 2], [0, 1], [3, 4], color=NETWORK, alpha=0.5)
    ax.fill_between([1, 2], [0, 0], [1, 1], color=NETWORK, alpha=0.1)
    ax.axhline(0.5, color="gray")
    ax.axvline(1.5, color="gray")
    ax.axhspan(0, 1, alpha=0.2)
    ax.bar([1, 2], [3, 4], width=0.5, label="bars")
    (segments,) = marks(figure, "segments")
    assert (segments.y, segments.y_end, segments.opacity) == ((0, 1), (3, 4), 0.5)
    assert len(marks(figure, "area")) == 1
    horizontal, vertical = marks(figure, "rule")
    assert (horizontal.y, horizontal.x) == ((0.5,), ())
    assert (vertical.x, vertical.y) == ((1.5,), ())
    (span,) = marks(figure, "span")
    assert (span.y, span.y_end, span.x) == ((0.0,), (1.0,), ())
    (bars,) = marks(figure, "bars")
    assert (bars.x, bars.x_end, bars.y_end) == ((0.75, 1.75), (1.25, 2.25), (3, 4))
    assert bars.label == "bars"


def test_an_error_bar_is_one_entry():
    figure, ax = axes_of()
    ax.errorbar([1, 2], [3, 4], yerr=[1, 1], label="net")
    ax.plot([1, 2], [0, 0], label="other")
    ax.legend()
    scene = read(figure)
    names = [entry.name for entry in scene.entries]
    assert sorted(names) == ["net", "other"]
    kinds = {
        m.kind: names[m.entry] for m in scene.panels[0].marks if m.label != "other"
    }
    assert kinds == {"line": "net", "segments": "net"}


def test_what_has_no_name_follows_the_entry_of_its_color():
    figure, (left, right) = axes_of(ncols=2)
    for ax in (left, right):
        ax.plot([1, 2], [1, 2], color=NETWORK, label="network")
        ax.plot([1, 2], [2, 1], color=LINEARIZED, label="linearization")
        ax.vlines([1], [0], [2], color=NETWORK)
        ax.axhline(0, color="gray")
    figure.legend(*left.get_legend_handles_labels())
    scene = read(figure)
    assert [entry.name for entry in scene.entries] == ["network", "linearization"]
    for panel in scene.panels:
        found = {(mark.kind, mark.entry) for mark in panel.marks}
        assert found == {("line", 0), ("line", 1), ("segments", 0), ("rule", -1)}


def test_panels_stand_in_rows():
    figure, axes = axes_of(nrows=2, ncols=2)
    for number, ax in enumerate(axes.ravel()):
        ax.plot([0, 1], [0, number], label="line")
        ax.set_title(str(number))
    places = [(panel.title, panel.row) for panel in read(figure).panels]
    assert places == [("0", 0), ("1", 0), ("2", 1), ("3", 1)]


def test_notes_move_with_the_data_unless_the_axes_hold_them():
    figure, ax = axes_of()
    ax.plot([0, 10], [0, 10])
    ax.text(5, 5, "here", va="center")
    ax.text(0.9, 0.1, "corner", transform=ax.transAxes, ha="right", va="center")
    here, corner = marks(figure, "text")
    assert not here.inside and corner.inside
    assert (here.anchor, corner.anchor) == ("start", "end")
    assert [*here.x, *here.y] == pytest.approx([5, 5], abs=0.3)
    assert [*corner.x, *corner.y] == pytest.approx([0.9, 0.1], abs=0.05)


def test_words_beside_a_figure_are_left_to_the_page():
    figure, (top, bottom) = axes_of(nrows=2)
    top.plot([0, 1], [0, 1])
    bottom.set_axis_off()
    bottom.text(0, 0, "confirmed")
    bottom.plot(0.5, 0.5, "o")
    assert len(read(figure).panels) == 1


def test_points_of_a_color_map_keep_their_colors_and_values():
    figure, ax = axes_of()
    points = ax.scatter([1, 2], [3, 4], c=[10.0, 20.0], cmap="viridis")
    figure.colorbar(points, label="$n$")
    (mark,) = marks(figure, "line")
    assert (mark.values, mark.values_label) == ((10.0, 20.0), "n")
    assert mark.shades == ("#440154", "#fde725")
    assert [row.cells[-1] for row in scene_table(read(figure)).rows] == [10.0, 20.0]


def test_panels_share_the_name_of_a_color_bar():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    for ax in (left, right):
        ax.scatter([1, 2], [3, 4], c=[1.0, 2.0])
    figure.colorbar(ScalarMappable(), ax=[left, right], label="size")
    assert [mark.values_label for mark in marks(figure, "line")] == ["size", "size"]


def test_an_axis_that_is_linear_around_zero_says_how_far():
    figure, ax = axes_of()
    ax.plot([0, 100], [0, 1])
    ax.set_xscale("symlog", linthresh=2, linscale=1.8)
    (panel,) = read(figure).panels
    threshold, decades = panel.x.linear
    assert not panel.x.log and threshold == 2
    assert decades == pytest.approx(2)
    place = ax.xaxis.get_transform().transform
    ratio = place(np.array([2.0])) / (place(np.array([20.0])) - place(np.array([2.0])))
    assert ratio == pytest.approx(decades)


def test_panels_that_share_an_axis_share_its_ticks():
    figure, (above, below) = axes_of(nrows=2, sharex=True)
    for ax in (above, below):
        ax.plot([0, 100], [0, 1])
    below.set_xscale("symlog")
    below.set_xticks([0, 10], ["none", "ten"])
    ticks = [panel.x.ticks for panel in read(figure).panels]
    assert ticks == [((0.0, "none"), (10.0, "ten"))] * 2


def image(ax):
    ax.imshow(np.eye(3))


def color_map(ax):
    ax.pcolormesh(np.eye(3))


def many_colors(ax):
    ax.scatter([1, 2], [1, 2], c=["red", "blue"])


def twin(ax):
    ax.plot([0, 1], [0, 1])
    ax.twinx().plot([0, 1], [5, 6])


def symlog(ax):
    ax.plot([-1, 1], [0, 1])
    ax.set_xscale("symlog", base=2)


def logit(ax):
    ax.plot([0.1, 0.9], [0, 1])
    ax.set_xscale("logit")


def many_points(ax):
    ax.plot(np.arange(30_000), np.arange(30_000))


def nothing(ax):
    ax.set_title("empty")


PICTURES = [image, color_map, many_colors, twin, symlog, logit, many_points, nothing]


@pytest.mark.parametrize("draw", PICTURES, ids=lambda draw: draw.__name__)
def test_what_only_a_picture_can_show_stays_one(draw):
    figure, ax = axes_of()
    draw(ax)
    assert read_figure(figure) is None


def test_a_scene_is_strict_json_without_defaults():
    figure, ax = axes_of()
    ax.plot([1, 2], [np.inf, 1])
    text = json.dumps(read(figure).to_json(), allow_nan=False)
    (mark,) = json.loads(text)["panels"][0]["marks"]
    assert mark["y"] == [None, 1.0] and "marker" not in mark


def test_the_table_has_every_number():
    figure, ax = axes_of()
    ax.plot([1, 2], [3, 4], color=NETWORK, label="network")
    ax.vlines([1], [2.5], [3.5], color=NETWORK)
    ax.set_ylabel("accuracy")
    rows = list(csv.DictReader(io.StringIO(to_csv(scene_table(read(figure))))))
    assert {row["panel"] for row in rows} == {"accuracy"}
    assert {row["series"] for row in rows} == {"network"}
    found = {(row["kind"], row["x"], row["y"], row["y_end"]) for row in rows}
    assert found == {
        ("line", "1.0", "3.0", ""),
        ("line", "2.0", "4.0", ""),
        ("segments", "1.0", "2.5", "3.5"),
    }


def table_of(figure: Figure) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(scene_table(read(figure))))))


def test_the_table_names_the_rows_of_an_axis():
    figure, (rows, numbers) = axes_of(ncols=2)
    rows.plot([3, 4], [0, 1.2], "o")
    rows.hlines([1], [3], [5])
    rows.barh(0, 6, height=0.8)
    rows.plot([2, 2], [0.5, 7])
    rows.vlines([7], 0, 1)
    rows.axvline(9)
    rows.set_yticks([0, 1], ["own kernel", "another's"])
    numbers.plot([0, 1], [0, 1])
    numbers.set_yticks([0, 1], ["0 %", "100 %"])
    table = table_of(figure)
    assert "x_name" not in table[0]
    names = {(row["x"], row["y"]): row["y_name"] for row in table}
    assert names["3.0", "0.0"] == "own kernel" and names["4.0", "1.2"] == "another's"
    assert names["3.0", "1.0"] == "another's" and names["0.0", "-0.4"] == "own kernel"
    assert names["2.0", "0.5"] == names["2.0", "7.0"] == ""  # between rows, and beyond
    assert names["7.0", "0.0"] == names["9.0", ""] == ""  # across rows
    assert names["0.0", "0.0"] == names["1.0", "1.0"] == ""  # in the other panel


def test_the_table_names_no_rows_where_ticks_are_numbers():
    figure, (few, shares, sizes) = axes_of(ncols=3)
    for ax in (few, shares, sizes):
        ax.plot([0, 1, 2], [0, 1, 2])
    few.set_xticks([0, 1, 2])
    shares.set_yticks([0, 0.5, 1], ["0", "½", "1"])
    sizes.set_xticks([0, 1, 2], ["0%", "100%", "200%"])
    assert not {"x_name", "y_name"} & set(table_of(figure)[0])


def test_a_figure_that_was_shown_is_drawn_where_it_was():
    figure, ax = axes_of()
    ax.plot([0, 1], [0, 1])
    ax.set_ylabel("a long label of the axis")
    show(figure)
    before = ax.get_position().bounds
    ax.set_ylabel("")
    figure.draw_without_rendering()
    assert ax.get_position().bounds == before
