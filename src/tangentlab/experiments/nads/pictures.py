"""Pictures of directions of input space: in pixels, and in Fourier space."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from ...report.style import MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_directions(
    figure: "Figure",
    directions: Float[np.ndarray, "k h w c"],
    number: Int[np.ndarray, " k"],
    share: Float[np.ndarray, " k"],
) -> None:
    """Each direction as an image, above the magnitude of its Fourier transform.

    Args:
        figure: An empty figure.
        directions: The directions.
        number: Of each, from 1.
        share: Its energy over that of the first direction.
    """
    axes = figure.subplots(
        2, len(directions), squeeze=False, gridspec_kw={"hspace": 0.0}
    )
    for column, u in enumerate(directions):
        above, below = axes[:, column]
        _show_pixels(above, u)
        below.imshow(fourier_magnitude(u), cmap="magma", interpolation="nearest")
        above.set_title(
            f"u$_{{{number[column]}}}$", fontsize=12, loc="center", pad=4, weight="bold"
        )
        below.set_xlabel(_share(float(share[column])), fontsize=9, color=MUTED)
        for ax in (above, below):
            ax.set_xticks([])
            ax.set_yticks([])
            ax.grid(visible=False)
            ax.spines[:].set_visible(False)
    axes[0, 0].set_ylabel("pixels", color=MUTED)
    axes[1, 0].set_ylabel("Fourier", color=MUTED)


def fourier_magnitude(u: Float[np.ndarray, "h w c"]) -> Float[np.ndarray, "h w"]:
    """Magnitude of the discrete Fourier transform, frequency 0 in the middle.

    Args:
        u: An image.

    Returns:
        Root mean square over channels.
    """
    spectrum = np.fft.fftshift(np.fft.fft2(u, axes=(0, 1)), axes=(0, 1))
    return np.sqrt((np.abs(spectrum) ** 2).mean(axis=-1))


def _show_pixels(ax: "Axes", u: Float[np.ndarray, "h w c"]) -> None:
    largest = np.abs(u).max()
    if u.shape[-1] == 3:
        ax.imshow(0.5 + 0.5 * u / largest, interpolation="nearest")
        return
    image = u.mean(axis=-1)
    ends = {"vmin": -largest, "vmax": largest}
    ax.imshow(image, cmap="RdBu_r", interpolation="nearest", **ends)


def _share(value: float) -> str:
    """An energy as a share of the first: percent, or a power of ten."""
    if value <= 0:
        return "0"
    if value >= 0.01:
        return f"{100 * value:.0f} %"
    if value >= 0.001:
        return f"{100 * value:.1f} %"
    return f"$10^{{{round(np.log10(value))}}}$"
