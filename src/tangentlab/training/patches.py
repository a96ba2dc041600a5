"""Patches of images, and the matrix that makes some results of a convolution of each.

Results that are neighbors, in a row or a square, see one patch of the input together.
In the matrix the window stands once for each of them, zeros around it.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array


class Window(NamedTuple):
    """A window along one axis of an image, at some places together.

    Attributes:
        size: Pixels along the axis.
        taps: Pixels of the window.
        stride: Pixels between its places.
        dilation: Pixels between its taps.
        padding: Zeros before and after the image; negative numbers cut pixels off.
        together: Places that are neighbors of each other; they divide the number of
            places.
    """

    size: int
    taps: int
    stride: int
    dilation: int
    padding: tuple[int, int] = (0, 0)
    together: int = 1

    @property
    def places(self) -> int:
        """How many places it has."""
        return (self.size + sum(self.padding) - self.span) // self.stride + 1

    @property
    def patches(self) -> int:
        """Groups of neighbors."""
        return self.places // self.together

    @property
    def side(self) -> int:
        """Pixels that neighbors see together, zeros included."""
        return self.stride * (self.together - 1) + self.span

    @property
    def kept(self) -> slice:
        """Which of these a patch holds: one that sees all leaves the zeros out."""
        if self.patches > 1:
            return slice(0, self.side)
        before = self.padding[0]
        first = max(before, 0)
        return slice(first, max(first, min(self.side, before + self.size)))

    @property
    def span(self) -> int:
        """Pixels from its first tap to its last."""
        return self.dilation * (self.taps - 1) + 1


def cut_patches(x: Array, down: Window, across: Window) -> Array:
    """Cut images into patches, which overlap.

    Args:
        x: Images `(n, height, width, channels)`.
        down: The window along their height.
        across: Along their width.

    Returns:
        `(n, patches down, patches across, pixels down, pixels across, channels)`.
    """
    x = _cut(x, 1, down)
    return jnp.moveaxis(_cut(x, 3, across), 3, 2)


def _cut(x: Array, axis: int, window: Window) -> Array:
    """Patches in the place of pixels along an axis, by whatever takes fewer slices."""
    apart, cut = window.stride * window.together, jax.lax.slice_in_dim
    (before, after), count, side = window.padding, window.patches, window.side
    if count == 1:
        first, last = window.kept.start - before, window.kept.stop - before
        return jnp.expand_dims(cut(x, first, last, 1, axis), axis)
    edges = [(0, 0, 0)] * x.ndim
    edges[axis] = (before, after, 0)
    x = jax.lax.pad(x, jnp.zeros((), x.dtype), edges)
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
        `(pixels down, pixels across, channels in, places down, places across, channels
        out)`.
    """
    wide = _spread(weight.transpose(1, 0, 2, 3), across)
    return _spread(wide.transpose(2, 0, 1, 3, 4), down).transpose(1, 3, 4, 0, 2, 5)


def _spread(weight: Array, window: Window) -> Array:
    """`(taps, ...)` to `(places, pixels, ...)`, by moving numbers alone."""
    # Rows of a patch's pixels and one stride more stand one after the other, the window
    # first in each; read as rows of a patch's pixels, each begins a stride later.
    side, apart = window.side, window.stride
    others, rest = weight.shape[1:], [(0, 0, 0)] * (weight.ndim - 1)
    edges = [(0, side + apart - window.span, window.dilation - 1), *rest]
    row = jax.lax.pad(weight, jnp.zeros((), weight.dtype), edges)
    rows = jnp.broadcast_to(row, (window.together, *row.shape))
    line = rows.reshape(-1, *others)[: window.together * side]
    return line.reshape(window.together, side, *others)[:, window.kept]
