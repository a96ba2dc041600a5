"""Windows that move along axes of positions, and sums over them.

A convolution with shared weights adds covariances along diagonals: output positions
`(o, o')` see the input pairs `(o + i, o' + i)` for each offset `i` of the window. That
separates into one sum an axis, of slices of one array. Strides are taken in the slices:
what a stride leaves out is never added.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from .._checks import check_known, is_whole
from ..kernels.planning import backend
from .covariance import settled

Padding = Literal["VALID", "SAME", "CIRCULAR"]
"""`VALID`: no position beyond the edge; `SAME`: zeros there; `CIRCULAR`: the other end.
The last two give as many positions as there are, divided by the stride."""

PADDINGS = ("VALID", "SAME", "CIRCULAR")


class Axis(NamedTuple):
    """A window along one axis of positions.

    Attributes:
        size: Number of positions.
        window: Number of positions in the window.
        stride: Steps between windows.
        dilation: Steps between the positions of a window.
        low: Positions added before the first.
        high: Positions added after the last.
        gaps: Zeros put between neighboring positions first.
        circular: Whether added positions are those of the other end; else zeros.
    """

    size: int
    window: int
    stride: int = 1
    dilation: int = 1
    low: int = 0
    high: int = 0
    gaps: int = 0
    circular: bool = False

    @property
    def output(self) -> int:
        """Number of windows."""
        spread = self.size + (self.size - (not self.circular)) * self.gaps
        room = spread + self.low + self.high - (self.window - 1) * self.dilation
        return (room - 1) // self.stride + 1

    @property
    def centers(self) -> np.ndarray:
        """Position of the middle of each window, before gaps and padding.

        Where there are as many windows as positions and gaps, each position has its own
        and those of the gaps behind it.
        """
        spread, numbers = 1 + self.gaps, np.arange(self.output)
        if self.stride == 1 and self.output == self.size * spread:
            return numbers // spread
        middle = (self.window - 1) * self.dilation // 2 - self.low
        at = (numbers * self.stride + middle) // spread
        return np.clip(at, 0, self.size - 1)


def make_axes(
    positions: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilation: Sequence[int],
    padding: str,
) -> tuple[Axis, ...]:
    """Windows along all axes of positions.

    Args:
        positions: Number of positions along each axis.
        window: Of the window.
        strides: Steps between windows.
        dilation: Steps within a window.
        padding: See `Padding`.

    Returns:
        One window an axis.

    Raises:
        ValueError: If the padding is unknown, or a window is larger than its axis.
    """
    check_known("padding", padding, PADDINGS)
    axes = []
    for size, width, stride, step in zip(
        positions, window, strides, dilation, strict=True
    ):
        reach = (width - 1) * step + 1
        missing = 0
        if padding != "VALID":
            missing = max(0, (math.ceil(size / stride) - 1) * stride + reach - size)
        low, high = missing // 2, missing - missing // 2
        if reach > size + missing or (padding == "CIRCULAR" and high > size):
            raise ValueError(
                f"A window that reaches over {reach} positions does not fit an axis of "
                f"{size} with padding {padding!r}: use a smaller window or dilation, "
                'fewer strides before, or padding="SAME".'
            )
        circular = padding == "CIRCULAR"
        axes.append(Axis(size, width, stride, step, low, high, 0, circular))
    return tuple(axes)


def as_window(who: str, window: Any, padding: str) -> tuple[int, ...]:
    """A window as a tuple, checked where the layer is made.

    Args:
        who: The layer, for the message.
        window: One number for each axis of positions.
        padding: See `Padding`.

    Returns:
        The window.

    Raises:
        ValueError: If the padding is unknown.
        TypeError: If the window is one number, or not of numbers.
    """
    check_known("padding", padding, PADDINGS)
    if not isinstance(window, tuple | list) or not all(map(is_whole, window)):
        raise TypeError(
            f"{who} needs a window with one number for each axis of positions, got "
            f"{window!r}: write (3,) for sequences, (3, 3) for images."
        )
    return tuple(int(size) for size in window)


def check_window(
    who: str, input_shape: tuple[int, ...], window: tuple[int, ...]
) -> None:
    """Refuse inputs with another number of axes of positions than a window has.

    Args:
        who: The layer, for the message.
        input_shape: Shape of one input, channels last.
        window: The window.

    Raises:
        ValueError: If the numbers of axes differ, or the window is empty.
    """
    if any(size < 1 for size in window):
        raise ValueError(
            f"{who}: a window needs positions along each axis, got {window}."
        )
    if len(input_shape) - 1 != len(window):
        raise ValueError(
            f"{who} has a window with {len(window)} axes, but one input has shape "
            f"{input_shape}, that is {len(input_shape) - 1} axes of positions and "
            "channels last: give a window with one number for each axis of positions."
        )


def per_axis(value: int | tuple[int, ...], rank: int, what: str) -> tuple[int, ...]:
    """A number for each axis.

    Args:
        value: One for all, or one for each.
        rank: Number of axes.
        what: Its name, for the message.

    Returns:
        As many numbers as axes.

    Raises:
        ValueError: If there are too few or many, or one is not positive.
    """
    values = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(values) != rank or any(one < 1 for one in values):
        raise ValueError(
            f"`{what}` must be a positive number, or one for each of the {rank} axes "
            f"of the window; got {value}."
        )
    return values


def padded(array: Array, axes: Sequence[int], axis: Axis) -> Array:
    """Add positions at the ends of some axes of an array, and zeros between them.

    Args:
        array: The array.
        axes: Which of its axes.
        axis: How.

    Returns:
        A larger array.
    """
    ends = (0, axis.gaps) if axis.circular else (axis.low, axis.high)
    if any((*ends, axis.gaps)):
        here, elsewhere = (ends[0], ends[1], axis.gaps), (0, 0, 0)
        config = [here if at in axes else elsewhere for at in _all(array)]
        array = lax.pad(array, jnp.zeros((), array.dtype), config)
    if not axis.circular:
        return array
    around = [(axis.low, axis.high) if at in axes else (0, 0) for at in _all(array)]
    return jnp.pad(array, around, mode="wrap")


def _all(array: Array) -> range:
    return range(array.ndim)


def window_sum(
    array: Array, axes: Sequence[int], axis: Axis, *, settle: bool = False
) -> Array:
    """Sum over the positions of each window, which moves along some axes together.

    Args:
        array: Values at positions.
        axes: Axes of the array that the window moves along; two make a diagonal.
        axis: The window.
        settle: Whether to write padded values down before they are added, on a CPU;
            see `covariance.settled`. An accelerator reads the few values around from
            its cache: on an H200 a Myrtle kernel takes 0.7 to 0.8 of the time.

    Returns:
        One value for each window, along each of the axes.
    """
    array = padded(array, axes, axis)
    if settle and backend() == "cpu":
        array = settled(array)
    total = None
    for offset in range(axis.window):
        start, limit, step = ([value] * array.ndim for value in (0, 0, 1))
        limit = list(array.shape)
        for at in axes:
            start[at] = offset * axis.dilation
            limit[at] = start[at] + (axis.output - 1) * axis.stride + 1
            step[at] = axis.stride
        part = lax.slice(array, start, limit, step)
        total = part if total is None else total + part
    assert total is not None
    return total


def sum_over_windows(array: Array, windows: Sequence[Axis], *, paired: bool) -> Array:
    """Sum covariances over the offsets of shared windows, axis by axis.

    Args:
        array: Covariances whose last axes are those of positions.
        windows: One for each axis.
        paired: Whether each axis is there twice, once for either side.

    Returns:
        Covariances between windows.
    """
    first = array.ndim - len(windows) * (2 if paired else 1)
    for number, window in enumerate(windows):
        at = first + number * (2 if paired else 1)
        along = (at, at + 1) if paired else (at,)
        array = window_sum(array, along, window, settle=True)
    return array


def strided_mask(mask: Array | None, windows: Sequence[Axis]) -> Array | None:
    """Which windows are there: those whose middle is.

    Args:
        mask: Of positions, along the last axes; None if all are there.
        windows: One for each axis.

    Returns:
        The mask of windows.
    """
    if mask is None:
        return None
    for number, window in enumerate(windows):
        mask = jnp.take(mask, window.centers, axis=mask.ndim - len(windows) + number)
    return mask
