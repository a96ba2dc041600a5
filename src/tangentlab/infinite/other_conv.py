"""Convolutions with weights of their own at each position, and transposed ones."""

import math
from dataclasses import dataclass

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from .._checks import check_known
from .._types import Params, PRNGKey
from .conv import Windowed, move_sides, numbers
from .covariance import Covariance, map_arrays, on_equal_positions, spread
from .flow import Batch, zero_outside
from .signal import Need, Step
from .windows import (
    PADDINGS,
    Axis,
    check_window,
    padded,
    per_axis,
    strided_mask,
    sum_over_windows,
)


@dataclass(frozen=True)
class ConvTranspose(Windowed):
    """A transposed convolution: strides make positions more, not fewer.

    As `jax.lax.conv_transpose`: zeros are put between positions, then a window moves
    along them. Weights have the variance of those of `Conv` with the same window.

    Attributes:
        window: Positions of the window along each axis.
        strides: Outputs for each input, one number or one an axis.
        padding: `"SAME"`, `"VALID"` or `"CIRCULAR"`.
    """

    def windows(self, input_shape: tuple[int, ...]) -> tuple[Axis, ...]:
        """The window along each axis.

        Args:
            input_shape: Shape of one input.

        Returns:
            One an axis.
        """
        check_window("ConvTranspose", input_shape, self.window)
        check_known("padding", self.padding, PADDINGS)
        strides = per_axis(self.strides, len(self.window), "strides")
        sizes = zip(input_shape[:-1], self.window, strides, strict=True)
        return tuple(_transposed(*each, self.padding) for each in sizes)


def _transposed(size: int, window: int, stride: int, padding: str) -> Axis:
    both = window + stride - 2
    if padding == "VALID":
        both, low = both + max(window - stride, 0), window - 1
    else:
        low = window - 1 if stride > window - 1 else math.ceil(both / 2)
    high = both - low
    if padding == "CIRCULAR":  # the zeros behind the last position are there already
        high -= stride - 1
    return Axis(size, window, 1, 1, low, high, stride - 1, padding == "CIRCULAR")


@dataclass(frozen=True)
class ConvLocal(Windowed):
    """A convolution whose weights and biases differ from position to position.

    Outputs at different positions are then uncorrelated.

    Attributes:
        window: Positions of the window along each axis.
        strides: Steps between windows, one number or one an axis.
        padding: `"SAME"`, `"VALID"` or `"CIRCULAR"`.
    """

    def need(self, after: Need) -> Need:
        """Equal positions are enough.

        Args:
            after: What is wanted of the output.

        Returns:
            What is needed of the input.
        """
        return min(after, Need.SAME)

    def init(self, key: PRNGKey, input_shape: tuple[int, ...]) -> Params:
        """Draw weights `(*windows, positions of one x channels, width)`, and biases.

        Args:
            key: Random key.
            input_shape: Shape of one input.

        Returns:
            The parameters.
        """
        outputs, fan_in = self.output_shape(input_shape), self.fan_in(input_shape)
        return self.draw(key, (*outputs[:-1], fan_in, self.width), outputs, fan_in)

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer.

        Args:
            params: The parameters.
            batch: What comes in.

        Returns:
            What goes out.
        """
        x = jnp.asarray(batch.x)
        shape, windows = x.shape[1:], self.windows(x.shape[1:])
        for number, axis in enumerate(windows):
            x = padded(x, (number + 1,), axis)
        sums = lax.conv_general_dilated_local(
            x,
            params["weight"],
            [axis.stride for axis in windows],
            "VALID",
            self.window,
            dimension_numbers=numbers(len(windows)),
        )
        outputs = self.scaled(sums, params, self.fan_in(shape))
        mask = None if batch.mask is None else jnp.asarray(batch.mask)
        batch = batch._replace(x=outputs, mask=strided_mask(mask, windows))
        return zero_outside(batch)

    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Covariance after the layer.

        Args:
            covariance: Of the input, between equal positions.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        shape, rank = step.before.shape, step.before.rank
        windows, size = self.windows(shape), math.prod(self.window)

        def mean(k: Array) -> Array:
            return sum_over_windows(k, windows, paired=False) / size

        moved = move_sides(map_arrays(covariance, mean), windows)
        fan_in, with_ntk = self.fan_in(shape), step.with_ntk
        made = self.weighted(moved, fan_in, rank, Need.SAME, with_ntk=with_ntk)
        if step.after == Need.SAME:
            return made
        positions = tuple(axis.output for axis in windows)
        return map_arrays(
            made, lambda k: on_equal_positions(spread(k, 0, rank), positions)
        )
