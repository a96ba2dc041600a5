"""One look for every figure: two colors that mean the same thing everywhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

NETWORK = "#c2410c"
"""The network is always this color (and a filled circle)."""
LINEARIZED = "#1d4ed8"
"""Its linearization is always this one (and an open square)."""
MUTED = "#64748b"
"""Reference lines, chance levels, what is left out."""
INK = "#0f172a"

_SETTINGS: dict[Any, Any] = {
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "font.size": 11,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 12.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 12,
    "axes.labelsize": 11,
    "axes.edgecolor": "#94a3b8",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e2e8f0",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 2.0,
    "lines.markersize": 6.5,
    "svg.fonttype": "path",
    "figure.constrained_layout.use": True,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw with the house style; the user's own matplotlib settings stay untouched.

    Yields:
        Nothing.
    """
    import matplotlib as mpl

    with mpl.rc_context(_SETTINGS):
        yield
