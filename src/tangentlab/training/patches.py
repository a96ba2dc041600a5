"""Patches of images, and the matrix that makes some results of a convolution of each.

Results that are neighbors, in a row or a square, see one patch of the input together.
In the matrix the window stands once for each of them, zeros around it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array


class Window(NamedTuple):
    """A window along one axis of an image, at some places together.

    Attributes:
        size: Pixels along the axis.
        taps: Pixels of the window.
        stride: Pixels between its places.
        dilation: Pixels between its taps.
        together: Places that are neighbors of each other; they divide the number of
            places.
    """

    size: int
    taps: int
    stride: int
    dilation: int
    together: int = 1

    @property
    def places(self) -> int:
        """How many places it has."""
        return (self.size - self.dilation * (self.taps - 1) - 1) // self.stride + 1

    @property
    def patches(self) -> int:
        """Groups of neighbors."""
        return self.places // self.together

    @property
    def side(self) -> int:
        """Pixels that neighbors see together."""
        return self.stride * (self.together - 1) + self.dilation * (self.taps - 1) + 1


def cut_patches(x: Array, down: Window, across: Window) -> Array:
    """Cut images into patches, which overlap.

    Args:
        x: Images `(n, height, width, channels)`.
        down: The window along their height.
        across: Along their width.

    Returns:
        `(n, patches down, patches across, side down, side across, channels)`.
    """
    x = _cut(x, 1, down)
    return jnp.moveaxis(_cut(x, 3, across), 3, 2)


def _cut(x: Array, axis: int, window: Window) -> Array:
    """Patches in the place of pixels along an axis, by whatever takes fewer slices."""
    apart, cut = window.stride * window.together, jax.lax.slice_in_dim
    count, side = window.patches, window.side
    if count <= side:
        begins = range(0, apart * count, apart)
        return jnp.stack([cut(x, at, at + side, 1, axis) for at in begins], axis)
    until = apart * (count - 1) + 1
    found = [cut(x, at, at + until, apart, axis) for at in range(side)]
    return jnp.stack(found, axis + 1)


def spread_window(weight: Array, down: Window, across: Window) -> Array:
    """The window at each of its places in a patch, zero elsewhere.

    Args:
        weight: `(height, width, channels in, channels out)`.
        down: The window along the height.
        across: Along the width.

    Returns:
        `(side down, side across, channels in, places down, places across, channels
        out)`.
    """
    rows, columns = (jnp.asarray(_chosen(w), weight.dtype) for w in (down, across))
    exact = jax.lax.Precision.HIGHEST
    wide = jnp.einsum("pxv,uvio->upixo", columns, weight, precision=exact)
    return jnp.einsum("qru,upixo->qpirxo", rows, wide, precision=exact)


def _chosen(window: Window) -> np.ndarray:
    """1 where a pixel of a patch meets a tap of the window at one of its places."""
    at, tap = np.arange(window.together)[None], np.arange(window.taps)[:, None]
    chosen = np.zeros((window.side, window.together, window.taps))
    chosen[window.stride * at + window.dilation * tap, at, tap] = 1
    return chosen
