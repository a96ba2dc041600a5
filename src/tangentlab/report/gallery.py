"""Pictures of samples: what an eigenfunction looks for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from .style import MUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Gallery:
    """Images at both ends of each eigenfunction.

    Attributes:
        index: Index of each eigenfunction shown.
        lowest: The images where it is smallest, from the extreme inwards.
        highest: The images where it is largest, likewise.
    """

    index: Int[np.ndarray, " t"]
    lowest: Float[np.ndarray, "t k h w c"]
    highest: Float[np.ndarray, "t k h w c"]


def gallery(figure: "Figure", images: Gallery) -> None:
    """What an eigenfunction looks for: its extreme images, one row each.

    Args:
        figure: An empty figure.
        images: The images.
    """
    rows, columns = images.lowest.shape[:2]
    axes = figure.subplots(rows, 2 * columns + 1, squeeze=False)
    for ax in axes.ravel():
        ax.set_axis_off()
    for row in range(rows):
        left, right = images.lowest[row], images.highest[row][::-1]
        for column in range(columns):
            _picture(axes[row, column], left[column])
            _picture(axes[row, columns + 1 + column], right[column])
        axes[row, columns].text(
            0.5,
            0.5,
            f"φ$_{{{images.index[row] + 1}}}$",
            ha="center",
            va="center",
            fontsize=15,
        )
    axes[0, 0].set_title("smallest values", color=MUTED, fontsize=11)
    axes[0, -1].set_title("largest values", color=MUTED, fontsize=11, loc="right")


def _picture(ax: "Axes", image: Float[np.ndarray, "h w c"]) -> None:
    span = np.ptp(image)
    scaled = (image - image.min()) / (span if span else 1)
    if image.shape[-1] == 3:
        ax.imshow(scaled)
    else:
        ax.imshow(scaled[..., 0], cmap="gray_r")
