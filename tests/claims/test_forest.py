import csv

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from tangentlab.analysis import Claim, Estimate, Finding, Threshold, exactly
from tangentlab.claims.forest import forest_caption, forest_figure
from tangentlab.report.interactive import show
from tangentlab.store import write_figure

NAMES = ("MLP", "LeNet")
NOTHING = Estimate(np.nan, np.nan, np.nan, np.empty(0))


def estimate(value: float, half: float = 0.1) -> Estimate:
    return Estimate(value, value - half, value + half, np.full(3, value))


def claim(*findings: Finding) -> Claim:
    return Claim("D1", "It falls", "below", findings, "confirmed")


def drawn(*findings: Finding, names=NAMES):
    figure = forest_figure(claim(*findings), names)
    assert figure is not None
    return figure


def judged(name: str, value: float, threshold: Threshold | None, **options) -> Finding:
    verdict = "confirmed" if threshold else None
    return Finding(name, estimate(value), verdict, threshold=threshold, **options)


def test_numbers_stand_beside_their_threshold_and_are_named_by_run():
    below = Threshold(-0.8, False)
    figure = drawn(judged("MLP, net", -0.9, below), judged("LeNet, net", -0.5, below))
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.get_yticklabels()] == ["net", "net"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(NAMES)
    (span,) = ax.patches
    assert isinstance(span, Rectangle)
    assert span.get_x() + span.get_width() == -0.8  # it holds on the left
    points = [line for line in ax.lines if line.get_marker() not in (None, "None")]
    assert [float(np.asarray(line.get_xdata())[0]) for line in points] == [-0.9, -0.5]
    assert len({to_hex(line.get_color()) for line in points}) == 2


def test_the_numbers_beside_a_figure_have_the_name_of_each_finding(tmp_path):
    below = Threshold(-0.8, False)
    found = [
        judged("MLP, network", -0.9, below),
        judged("MLP, linearization", -0.95, None),
        judged("LeNet, network", -0.5, below),
    ]
    figure = drawn(*found)
    write_figure(tmp_path / "D1.png", figure, show(figure))
    rows = list(csv.DictReader((tmp_path / "D1.csv").read_text().splitlines()))
    for kind in ("line", "segments"):
        some = [row for row in rows if row["kind"] == kind]
        names = [f"{row['series']}, {row['y_name']}" for row in some]
        assert sorted(names) == sorted(finding.name for finding in found)
    assert {row["y_name"] for row in rows if row["kind"] in ("rule", "span")} == {""}


def test_each_threshold_and_unit_has_a_panel_and_points_are_percent():
    above = Threshold(0.0, True)
    figure = drawn(
        judged("MLP, gap", 0.02, above, percent=True),
        judged("MLP, slope", 0.5, above),
        judged("MLP, raw", 0.4, None),
    )
    first, *_ = figure.axes
    assert len(figure.axes) == 3
    assert first.get_xlabel() == "points of percent"
    assert float(np.asarray(first.lines[0].get_xdata())[0]) == 2.0


def test_a_number_that_is_not_judged_stands_with_that_of_other_runs():
    above = Threshold(0.0, True)
    figure = drawn(
        judged("MLP, gap", 0.02, None, percent=True),
        judged("LeNet, gap", 0.03, above, percent=True),
        judged("LeNet, gap in logits", 0.04, None, percent=True),
        judged("MLP, raw gap", 0.5, None),
    )
    first, *others = figure.axes
    assert [text.get_text() for text in first.get_yticklabels()] == ["gap", "gap"]
    open_marker, filled = (
        each for each in first.lines if each.get_marker() in ("o", "D")
    )
    assert open_marker.get_markerfacecolor() == "white"
    assert filled.get_markerfacecolor() != "white"
    assert [len(ax.patches) for ax in figure.axes] == [1, 0, 0] and len(others) == 2


def test_shares_are_percent_and_differences_are_points_of_it():
    (shares,) = drawn(judged("MLP, neighbors", 0.02, None, percent="share")).axes
    assert shares.get_xlabel() == "percent"


SEEN = "Each number with its 95 % interval."
OPEN = "Open markers are reported and not judged."


@pytest.mark.parametrize(
    ("limits", "caption"),
    [
        ((Threshold(0.0, True),), f"{SEEN} The claim holds in the green part."),
        (
            (Threshold(0.0, True), None),
            f"{SEEN} Where a panel has a green part, the claim holds in it. {OPEN}",
        ),
        ((None, None), f"{SEEN} {OPEN}"),
    ],
)
def test_captions_speak_of_what_is_there(limits, caption):
    found = [judged(f"n{at}", 0.5, limit) for at, limit in enumerate(limits)]
    nothing = Finding("x", NOTHING, "inconclusive", threshold=Threshold(0.3, True))
    assert forest_caption(claim(*found, nothing), NAMES) == caption


def test_reported_numbers_have_open_markers():
    (ax,) = drawn(judged("MLP", 0.4, None)).axes
    assert ax.lines[0].get_markerfacecolor() == "white"


def test_errors_of_all_sizes_have_a_logarithmic_axis():
    limit = Threshold(1e-6, False)
    found = [
        Finding(str(v), exactly(v), "confirmed", False, limit) for v in (1e-12, 1e-9)
    ]
    (ax,) = drawn(*found, names=("all",)).axes
    assert ax.get_xscale() == "log"
    assert ax.get_xlim()[0] < 1e-12 and ax.get_xlim()[1] > 1e-6


def test_there_is_no_figure_where_there_is_nothing_to_compare():
    nothing = Finding("x", NOTHING)
    assert forest_figure(claim(), NAMES) is None
    assert forest_figure(claim(nothing), NAMES) is None
    assert forest_figure(claim(Finding("x", exactly(1.0))), NAMES) is None
    many = [judged("x", 0.5, Threshold(0.1 * k, True)) for k in range(9)]
    assert forest_figure(claim(*many), NAMES) is None
