import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tangentlab.analysis import Claim, Estimate, Finding, exactly
from tangentlab.report import claim_figures, claims
from tangentlab.report.style import style

EVIL = "<b>&"
NOTHING = Estimate(np.nan, np.nan, np.nan, np.empty(0))


def estimate(value: float) -> Estimate:
    return Estimate(value, value - 0.03, value + 0.015, np.full(3, value))


def make_claims(text: str = "It falls") -> tuple[Claim, ...]:
    network = Finding("network", estimate(-0.97), "confirmed")
    gap = Finding("gap", estimate(0.0123), percent=True)
    return (
        Claim("D1", text, f"below {text}", (network,), "confirmed"),
        Claim("D2", "They agree", "above 0", (gap,), "inconclusive", "too few"),
        Claim("D3", "It leads", "above 0", (Finding("x", NOTHING),), "refuted"),
    )


def test_numbers_have_intervals_signs_and_units():
    assert claims.estimate_text(estimate(-0.97)) == "−0.97 [−1.00, −0.95]"
    shown = claims.estimate_text(estimate(0.0123), percent=True)
    assert shown == "+1.2 [−1.8, +2.7] points"
    assert claims.estimate_text(NOTHING) == "–"


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (exactly(0.0), "0 %"),
        (exactly(0.05), "5 %"),
        (exactly(1.0), "100 %"),
        (exactly(0.822), "82.2 %"),
        (Estimate(0.5, 0.445, 0.6, np.empty(0)), "50.0 [44.5, 60.0] %"),
        (NOTHING, "–"),
    ],
)
def test_shares_are_in_percent_without_a_sign(found, text):
    assert claims.number_text(Finding("share of norm", found, percent="share")) == text
    assert "%" not in claims.number_text(Finding("gap", found, percent=True))
    assert "%" not in claims.number_text(Finding("share of norm", found))


def test_lines_say_verdict_measure_and_criterion():
    falls, agrees, leads = (claims.claim_lines(claim) for claim in make_claims())
    assert falls == [
        "✓ D1  It falls: confirmed",
        "      network −0.97 [−1.00, −0.95]",
        "      criterion: below It falls",
    ]
    assert agrees[0] == "? D2  They agree: inconclusive"
    assert agrees[1] == "      gap +1.2 [−1.8, +2.7] points; too few"
    assert leads[0] == "✗ D3  It leads: refuted"
    narrow = claims.claim_lines(make_claims()[1], width=30)
    assert max(map(len, narrow)) <= 30 and len(narrow) > 3


def test_cards_are_escaped_and_carry_their_verdict():
    html = claims.claims_html(make_claims(EVIL), "over tasks")
    assert EVIL not in html and "&lt;b&gt;&amp;" in html
    for kind in ("confirmed", "inconclusive", "refuted"):
        assert f'<article class="{kind}">' in html
    assert "Too few." in html and "over tasks" in html
    assert claims.claims_html(()) == ""


def test_the_strip_says_in_the_figure_what_holds():
    with style():
        figure = Figure(figsize=(8, 2))
        ax = figure.subplots()
        claim_figures.verdict_strip(ax, make_claims())
        FigureCanvasAgg(figure).draw()
    texts = {text.get_text(): text for text in ax.texts}
    for claim in make_claims():
        verdict = texts[claim.verdict]
        assert to_hex(verdict.get_color()) == claim_figures.COLORS[claim.verdict]
    assert "gap +1.2 [−1.8, +2.7] points  ·  too few" in texts


@pytest.mark.parametrize("times", [1, 4])
def test_the_text_of_the_strip_stays_inside_and_readable(times):
    with style():
        figure = Figure(figsize=(8.4, 1), layout="constrained")
        ax = figure.subplots()
        remark = "; ".join(
            times
            * [
                "the larger class of index 0 has 100.0 to 100.0 %; 10 of 215 later "
                "tasks are degenerate, class 1 has 12 to 88 % there"
            ]
        )
        claim = Claim("D47", "Leading", "over 95 %", (), "refuted", remark)
        claim_figures.verdict_strip(ax, (claim,))
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        ends = [text.get_window_extent(canvas.get_renderer()).x1 for text in ax.texts]
    assert max(ends) <= figure.bbox.x1 + 1
    assert min(float(text.get_fontsize()) for text in ax.texts) >= 7
    assert any(text.get_text().endswith("…") for text in ax.texts) == (times > 1)
