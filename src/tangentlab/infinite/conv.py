"""Convolutions along any number of axes.

>>> import jax
>>> layer = Conv(4, (3, 3), strides=2)
>>> layer.output_shape((8, 8, 3))
(4, 4, 4)
"""

import math
from dataclasses import KW_ONLY, dataclass

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from .._types import Params, PRNGKey
from .covariance import Covariance, Side, map_arrays
from .flow import Batch, zero_outside
from .signal import Need, Step
from .weights import WeightedLayer
from .windows import (
    Axis,
    Padding,
    as_window,
    check_window,
    make_axes,
    padded,
    per_axis,
    strided_mask,
    sum_over_windows,
)


@dataclass(frozen=True)
class Windowed(WeightedLayer):
    """What all layers with weights in a window share.

    Attributes:
        window: Positions of the window along each axis.
        strides: Steps between windows, one number or one an axis.
        padding: `"SAME"`, `"VALID"` or `"CIRCULAR"`.
    """

    window: tuple[int, ...]
    strides: int | tuple[int, ...] = 1
    padding: Padding = "SAME"

    def __post_init__(self):
        """Refuse what has no meaning."""
        super().__post_init__()
        window = as_window(type(self).__name__, self.window, self.padding)
        object.__setattr__(self, "window", window)

    def windows(self, input_shape: tuple[int, ...]) -> tuple[Axis, ...]:
        """The window along each axis.

        Args:
            input_shape: Shape of one input.

        Returns:
            One an axis.
        """
        check_window(type(self).__name__, input_shape, self.window)
        rank = len(self.window)
        strides = per_axis(self.strides, rank, "strides")
        return make_axes(
            input_shape[:-1], self.window, strides, (1,) * rank, self.padding
        )

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            One position a window, `width` channels.
        """
        return (*(axis.output for axis in self.windows(input_shape)), self.width)

    def fan_in(self, input_shape: tuple[int, ...]) -> int:
        """Number of inputs of each output.

        Args:
            input_shape: Shape of one input.

        Returns:
            Channels times positions of the window.
        """
        return input_shape[-1] * math.prod(self.window)

    def init(self, key: PRNGKey, input_shape: tuple[int, ...]) -> Params:
        """Draw weights `(*window, channels, width)`, and biases.

        Args:
            key: Random key.
            input_shape: Shape of one input.

        Returns:
            The parameters.
        """
        self.output_shape(tuple(input_shape))
        shape = (*self.window, input_shape[-1], self.width)
        return self.draw(key, shape, (self.width,), self.fan_in(input_shape))

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer.

        Args:
            params: The parameters.
            batch: What comes in.

        Returns:
            What goes out.
        """
        x = jnp.asarray(batch.x)
        windows = self.windows(x.shape[1:])
        sums = convolve(x, self.weight_of(params, x.shape[-1]), windows)
        outputs = self.scaled(sums, params, self.fan_in(x.shape[1:]))
        mask = None if batch.mask is None else jnp.asarray(batch.mask)
        batch = batch._replace(x=outputs, mask=strided_mask(mask, windows))
        return zero_outside(batch)

    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Covariance after the layer.

        Args:
            covariance: Of the input.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        shape, paired = step.before.shape, step.after == Need.PAIRS
        windows, size = self.windows(shape), math.prod(self.window)

        def mean(k: Array) -> Array:
            return sum_over_windows(k, windows, paired=paired) / size

        moved = move_sides(map_arrays(covariance, mean), windows)
        return self.weighted(
            moved,
            self.fan_in(shape),
            step.before.rank,
            step.after,
            with_ntk=step.with_ntk,
        )


@dataclass(frozen=True)
class Conv(Windowed):
    """A convolution with shared weights.

    Attributes:
        window: Positions of the window along each axis.
        strides: Steps between windows, one number or one an axis.
        padding: `"SAME"`, `"VALID"` or `"CIRCULAR"`.
        dilation: Steps between the positions of a window, likewise.
    """

    _: KW_ONLY
    dilation: int | tuple[int, ...] = 1

    def windows(self, input_shape: tuple[int, ...]) -> tuple[Axis, ...]:
        """The window along each axis.

        Args:
            input_shape: Shape of one input.

        Returns:
            One an axis.
        """
        check_window("Conv", input_shape, self.window)
        rank = len(self.window)
        strides = per_axis(self.strides, rank, "strides")
        dilation = per_axis(self.dilation, rank, "dilation")
        return make_axes(input_shape[:-1], self.window, strides, dilation, self.padding)


def move_sides(covariance: Covariance, windows: tuple[Axis, ...]) -> Covariance:
    """Masks after a window has moved along the positions; graphs end there.

    Args:
        covariance: Of the output, with the sides of the input.
        windows: One an axis.

    Returns:
        The covariance with the sides of the output.
    """
    first, second = (
        Side(strided_mask(side.mask, windows), None) for side in covariance.sides
    )
    return covariance._replace(sides=(first, second))


def convolve(x: Array, weight: Array, windows: tuple[Axis, ...]) -> Array:
    """Sums of weights times inputs over windows.

    Args:
        x: Inputs, `(n, *positions, channels)`.
        weight: `(*window, channels, width)`.
        windows: One an axis.

    Returns:
        `(n, *windows, width)`.
    """
    rank = len(windows)
    for number, axis in enumerate(windows):
        if axis.circular:
            x = padded(x, (number + 1,), axis)
    pads = [(0, 0) if axis.circular else (axis.low, axis.high) for axis in windows]
    return lax.conv_general_dilated(
        x,
        weight,
        [axis.stride for axis in windows],
        pads,
        lhs_dilation=[1 if axis.circular else 1 + axis.gaps for axis in windows],
        rhs_dilation=[axis.dilation for axis in windows],
        dimension_numbers=numbers(rank),
    )


def numbers(rank: int) -> lax.ConvDimensionNumbers:
    """Which axis is which, for JAX: examples first, channels last.

    Args:
        rank: Number of axes of positions.

    Returns:
        The numbers of the axes of inputs, weights and outputs.
    """
    along = tuple(range(1, rank + 1))
    data = (0, rank + 1, *along)
    weights = (rank + 1, rank, *range(rank))
    return lax.ConvDimensionNumbers(data, weights, data)
