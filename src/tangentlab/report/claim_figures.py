"""Verdicts beside a figure: what the curves above say, in words and numbers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..analysis import Claim, Verdict
from .claims import MARKS, findings_text
from .style import INK, MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS: dict[Verdict, str] = {
    "confirmed": "#15803d",
    "refuted": "#b91c1c",
    "inconclusive": MUTED,
    "recorded": MUTED,
}
"""The color of each verdict."""

_SIZE, _SMALLEST = 8.6, 7.0  # points
_FITS = 114  # characters of the larger size beside each other


def verdict_strip(ax: "Axes", claims: Sequence[Claim]) -> None:
    """A line for each claim and its verdict, and one for what was measured.

    Args:
        ax: Where to draw; give it about 0.55 inches for each claim.
        claims: The claims.
    """
    ax.set_axis_off()
    ax.set_xlim(0, 1)
    ax.set_ylim(len(claims), 0)
    for row, claim in enumerate(claims):
        color = COLORS[claim.verdict]
        parts = (claim.limit, findings_text(claim), claim.remark)
        measured = "  ·  ".join(filter(None, parts))
        _badge(ax, row + 0.42, MARKS[claim.verdict], color)
        _text(ax, 0.04, row + 0.27, f"{claim.id}   {claim.statement}", size=10.5)
        measured, size = _fitted(measured)
        _text(ax, 0.04, row + 0.68, measured, size=size, color=MUTED)
        _text(
            ax,
            1.0,
            row + 0.27,
            claim.verdict,
            size=10.5,
            color=color,
            weight="bold",
            ha="right",
        )


def _fitted(text: str) -> tuple[str, float]:
    """Text that fits a line, and its size; the rest of it is in the report."""
    most = int(_FITS * _SIZE / _SMALLEST)
    if len(text) > most:
        cut = max(text.rfind(end, 0, most - 2) for end in ("; ", "  ·  ", " "))
        text = f"{text[:cut]} …"
    return text, min(_SIZE, _SIZE * _FITS / max(len(text), 1))


def _badge(ax: "Axes", y: float, mark: str, color: str) -> None:
    ax.plot(0.015, y, "o", markersize=15, color=color, clip_on=False)
    ax.text(
        0.015,
        y,
        mark,
        color="white",
        fontsize=10,
        fontweight="bold",
        ha="center",
        va="center_baseline",
    )


def _text(
    ax: "Axes",
    x: float,
    y: float,
    text: str,
    *,
    size: float,
    color: str = INK,
    weight: str = "normal",
    ha: str = "left",
) -> None:
    made = ax.text(
        x, y, text, fontsize=size, color=color, fontweight=weight, ha=ha, va="center"
    )
    made.set_in_layout(False)  # else long text squeezes the curves above
