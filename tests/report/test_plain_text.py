import pytest

from tangentlab.report.plain_text import plain_text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("share of class 1", "share of class 1"),
        (r"$\alpha$ = 0.3", "α = 0.3"),
        ("sign of φ$_{12}$", "sign of φ₁₂"),
        (r"$m^{-1/6}$", "m^−1/6"),
        (r"$10^{-3}$", "10⁻³"),
        (r"$\|\theta - \theta_0\|$", "‖θ − θ₀‖"),
        (r"$\mathrm{tr}\, H$ and $n^2$", "tr H and n²"),
        (r"costs \$5", "costs $5"),
    ],
)
def test_mathematics_becomes_characters(text, plain):
    assert plain_text(text) == plain
