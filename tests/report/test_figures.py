"""Figures of the experiments: what is drawn is what is there."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tangentlab.report import figures
from tangentlab.report.style import LINEARIZED, NETWORK, style

INDEX = np.array([0, 4, 9, 99])
ACCURACY = np.array([1.0, 0.9, 0.8, 0.6])
INTERVAL = np.stack([ACCURACY - 0.05, np.minimum(ACCURACY + 0.05, 1)])
RESULTS = figures.Accuracies(
    index=INDEX,
    network=ACCURACY,
    linearized=ACCURACY - 0.03,
    network_interval=INTERVAL,
    linearized_interval=INTERVAL - 0.03,
    chance=np.array([1.0, 0.6, 0.5, 0.5]),
    degenerate=np.array([True, False, False, False]),
    diverged=np.array([False, False, False, True]),
)


@pytest.fixture
def ax():
    with style():
        figure = Figure()
        yield figure.subplots()
        FigureCanvasAgg(figure).draw()


def lines(ax) -> dict:
    return {line.get_label(): line.get_xydata().tolist() for line in ax.get_lines()}


def test_tasks_that_are_left_out_are_marked_and_not_in_the_curves(ax):
    figures.accuracy_against_index(ax, RESULTS)
    drawn = lines(ax)
    np.testing.assert_allclose(drawn["network"], [[5, 0.9], [10, 0.8]])
    np.testing.assert_allclose(drawn["linearization"], [[5, 0.87], [10, 0.77]])
    assert drawn["degenerate, left out"] == [[1, 1.0]]
    assert drawn["diverged, left out"] == [[100, 0.6]]
    bars = [c for c in ax.collections if len(c.get_paths()) == 2]
    assert len(bars) == 2  # an interval for each task of each curve


def test_a_reference_is_two_lines(ax):
    figures.accuracy_against_index(ax, replace(RESULTS, reference=(0.75, 0.68)))
    levels = {
        line.get_color(): line.get_ydata()[0]
        for line in ax.get_lines()
        if line.get_label().startswith("_")
    }
    assert levels == {NETWORK: 0.75, LINEARIZED: 0.68}
    assert [text.get_text() for text in ax.texts] == ["CIFAR2", "CIFAR2"]


def test_balance_of_every_seed_is_drawn_and_degenerate_ones_are_crosses(ax):
    balance = np.array([[1.0, 0.4, 0.5, 0.6], [0.99, 0.45, 0.52, 0.97]])
    figures.class_balance(ax, INDEX, balance, balance > 0.95)
    _, points, crosses = ax.get_lines()
    assert points.get_marker() == "o" and len(points.get_xdata()) == 5
    assert crosses.get_marker() == "x"
    assert crosses.get_xydata().tolist() == [[1, 1.0], [1, 0.99], [100, 0.97]]


def test_without_degenerate_tasks_nothing_is_drawn_outside_the_axes():
    with style():
        figure = Figure(layout="constrained")
        ax, _ = figure.subplots(2, 1)
        balance = np.array([[0.4, 0.5, 0.5, 0.6]])
        figures.class_balance(ax, INDEX, balance, balance > 0.95)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    assert ax.get_tightbbox(canvas.get_renderer()).y0 > 0.4 * figure.bbox.height


def test_what_was_never_reached_is_drawn_above_the_rest(ax):
    values = np.array([10.0, 20.0, np.inf, np.inf])
    shown = figures.Growth("steps", values, values * 2)
    figures.growth_against_index(ax, INDEX, shown)
    above = [line for line in ax.get_lines() if line.get_marker() == "^"]
    assert [line.get_xdata().tolist() for line in above] == [[10, 100], [10, 100]]
    assert min(line.get_ydata().min() for line in above) > 40
    assert ax.get_title("left") == "steps"


def test_a_quantity_that_nobody_reached_can_be_drawn(ax):
    never = np.full(4, np.inf)
    figures.growth_against_index(ax, INDEX, figures.Growth("steps", never, never))
    assert len(ax.get_lines()) == 5 and len(ax.get_yticks()) == 0


def test_no_task_at_all_can_be_drawn(ax):
    none = np.zeros(0)
    figures.growth_against_index(ax, INDEX[:0], figures.Growth("steps", none, none))
    assert ax.get_xscale() == "log"
