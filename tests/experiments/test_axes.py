"""Labels of logarithmic axes."""

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tangentlab.experiments.stages.axes import plain_numbers


@pytest.mark.parametrize(
    ("top", "shown"), [(100, {"1", "2", "5", "10", "20", "50", "100"}), (1e6, set())]
)
def test_few_decades_are_labeled_between_powers_of_ten(top, shown):
    figure = Figure(figsize=(4, 6))
    ax = figure.subplots()
    ax.set_yscale("log")
    ax.set_ylim(1, top)
    plain_numbers(ax.yaxis)
    FigureCanvasAgg(figure).draw()
    labels = {label.get_text() for label in ax.get_yticklabels(which="both")} - {""}
    powers = {f"{10.0**power:g}" for power in range(8) if 10**power <= top}
    assert labels >= (shown or powers)
    assert ("2" in labels) == bool(shown)
