"""Averages and sums over windows of positions, and over all of them.

These mix positions of one example, and so need the covariances between all pairs.
"""

import math
from dataclasses import KW_ONLY, dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._types import Params
from .conv import move_sides
from .covariance import Covariance, Side, equal_positions, map_arrays, masked
from .flow import Batch, zero_outside
from .layer import LinearLayer
from .signal import Need, Step
from .windows import (
    Axis,
    Padding,
    as_window,
    check_window,
    make_axes,
    per_axis,
    strided_mask,
    window_sum,
)


@dataclass(frozen=True)
class SumPool(LinearLayer):
    """Sums over windows.

    Attributes:
        window: Positions of the window along each axis.
        strides: Steps between windows, one number or one an axis.
        padding: `"VALID"`, `"SAME"` or `"CIRCULAR"`.
    """

    window: tuple[int, ...]
    strides: int | tuple[int, ...] = 1
    padding: Padding = "VALID"

    def __post_init__(self):
        """Refuse what has no meaning."""
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

    def factors(self, axis: Axis) -> np.ndarray:
        """What the sum over each window along an axis is multiplied by.

        Args:
            axis: The axis.

        Returns:
            One number a window.
        """
        return np.ones(axis.output)

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            One position a window, the same channels.
        """
        windows = self.windows(input_shape)
        return (*(axis.output for axis in windows), input_shape[-1])

    def need(self, after: Need) -> Need:
        """All pairs of positions.

        Args:
            after: What is wanted of the output.

        Returns:
            What is needed of the input.
        """
        return Need.PAIRS if after else Need.NOTHING

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer.

        Args:
            params: None.
            batch: What comes in.

        Returns:
            What goes out.
        """
        x = jnp.asarray(batch.x)
        windows = self.windows(x.shape[1:])
        for number, axis in enumerate(windows):
            x = self._pool(x, number + 1, axis)
        mask = None if batch.mask is None else jnp.asarray(batch.mask)
        batch = batch._replace(x=x, mask=strided_mask(mask, windows), graph=None)
        return zero_outside(batch)

    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Covariance after the layer.

        Args:
            covariance: Of the input, between all pairs of positions.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        windows, rank = self.windows(step.before.shape), step.before.rank

        def pool(k: Array) -> Array:
            first = k.ndim - 2 * rank
            for number, axis in enumerate(windows):
                for at in (first + 2 * number, first + 2 * number + 1):
                    k = self._pool(k, at, axis, settle=True)
            return equal_positions(k, rank) if step.after == Need.SAME else k

        moved = move_sides(map_arrays(covariance, pool), windows)
        return masked(moved, rank, step.after)

    def _pool(
        self, array: Array, at: int, axis: Axis, *, settle: bool = False
    ) -> Array:
        total = window_sum(array, (at,), axis, settle=settle)
        factors = self.factors(axis)
        if (factors == factors[0]).all():
            return total if factors[0] == 1 else total * float(factors[0])
        shape = [len(factors) if i == at else 1 for i in range(array.ndim)]
        return total * jnp.asarray(factors.reshape(shape), array.dtype)


@dataclass(frozen=True)
class AvgPool(SumPool):
    """Averages over windows.

    Attributes:
        window: Positions of the window along each axis.
        strides: Steps between windows, one number or one an axis.
        padding: `"VALID"`, `"SAME"` or `"CIRCULAR"`.
        count_padding: Whether zeros beyond the edges count; else the average is over
            the positions that are there.
    """

    _: KW_ONLY
    count_padding: bool = True

    def factors(self, axis: Axis) -> np.ndarray:
        """One over the number of positions in each window along an axis.

        Args:
            axis: The axis.

        Returns:
            One number a window.
        """
        if self.count_padding or axis.circular:
            return np.full(axis.output, 1 / axis.window)
        inside = np.pad(np.ones(axis.size), (axis.low, axis.high))
        starts = range(0, axis.output * axis.stride, axis.stride)
        return np.array([1 / inside[i : i + axis.window].sum() for i in starts])


@dataclass(frozen=True)
class GlobalSumPool(LinearLayer):
    """Sums over all positions; those outside of a mask do not count."""

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            Channels alone.

        Raises:
            ValueError: If there are no positions.
        """
        if len(input_shape) < 2:
            raise ValueError(
                f"{type(self).__name__} needs axes of positions before the channels, "
                f"but one input has shape {input_shape}: use it after Conv, or leave "
                "it out."
            )
        return input_shape[-1:]

    def need(self, after: Need) -> Need:
        """All pairs of positions.

        Args:
            after: What is wanted of the output.

        Returns:
            What is needed of the input.
        """
        return Need.PAIRS if after else Need.NOTHING

    def count(self, positions: tuple[int, ...], mask: Array | None) -> Array | float:
        """What the sum is divided by.

        Args:
            positions: Number of positions along each axis.
            mask: Which of them are there, along the last axes; None if all.

        Returns:
            One number, or one for each example.
        """
        del positions, mask
        return 1.0

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer.

        Args:
            params: None.
            batch: What comes in.

        Returns:
            What goes out.
        """
        x = jnp.asarray(batch.x)
        self.output_shape(x.shape[1:])
        total = x.sum(tuple(range(1, x.ndim - 1)))
        mask = None if batch.mask is None else jnp.asarray(batch.mask)
        count = self.count(x.shape[1:-1], mask)
        count = count[:, None] if isinstance(count, Array) else count
        return Batch(total / count)

    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Covariance after the layer.

        Args:
            covariance: Of the input, between all pairs of positions.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        positions, rank = step.before.shape[:-1], step.before.rank
        first, second = (self.count(positions, side.mask) for side in covariance.sides)

        def pool(k: Array) -> Array:
            total = k.sum(tuple(range(k.ndim - 2 * rank, k.ndim)))
            return total / first / second

        return map_arrays(covariance, pool)._replace(sides=(Side(), Side()))


@dataclass(frozen=True)
class GlobalAvgPool(GlobalSumPool):
    """Averages over all positions; those outside of a mask do not count."""

    def count(self, positions: tuple[int, ...], mask: Array | None) -> Array | float:
        """The number of positions.

        Args:
            positions: Number of positions along each axis.
            mask: Which of them are there, along the last axes; None if all.

        Returns:
            One number, or one for each example; 1 for an example without positions.
        """
        if mask is None:
            return float(math.prod(positions))
        count = mask.sum(tuple(range(mask.ndim - len(positions), mask.ndim)))
        return jnp.maximum(count, 1)
