"""Resampling of images and the like, position by position a fixed linear map.

>>> ImageResize((4, 4)).output_shape((8, 8, 3))
(4, 4, 3)
"""

from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array

from .._types import Params
from .covariance import Covariance, Side, equal_positions, map_arrays
from .flow import Batch, zero_outside
from .layer import LinearLayer
from .signal import Need, Step

_ROUNDING = 1e-6  # below it a weight of a position in another is none


@dataclass(frozen=True)
class ImageResize(LinearLayer):
    """Resampling of positions, as `jax.image.resize`.

    Attributes:
        positions: Number of positions along each axis afterwards.
        method: `"linear"`, `"nearest"`, `"cubic"`, `"lanczos3"` or `"lanczos5"`.
        antialias: Whether to smooth first when positions become fewer.
    """

    positions: tuple[int, ...]
    method: Literal["linear", "nearest", "cubic", "lanczos3", "lanczos5"] = "linear"
    antialias: bool = True

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            The new positions, the same channels.

        Raises:
            ValueError: If the numbers of axes differ.
        """
        if len(input_shape) - 1 != len(self.positions):
            raise ValueError(
                f"{self!r} gives {len(self.positions)} axes of positions, but one "
                f"input has shape {input_shape}: name one number for each axis of "
                "positions, without the channels."
            )
        return (*self.positions, input_shape[-1])

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
        self.output_shape(x.shape[1:])
        mask = None if batch.mask is None else jnp.asarray(batch.mask)
        x = self._along(x, x.shape[1:-1], 1, 1)
        return zero_outside(Batch(x, self._mask(mask, batch.x.shape[1:-1])))

    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Covariance after the layer.

        Args:
            covariance: Of the input, between all pairs of positions.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        positions, rank = step.before.shape[:-1], step.before.rank

        def resize(k: Array) -> Array:
            k = self._along(k, positions, k.ndim - 2 * rank, 2)
            return equal_positions(k, rank) if step.after == Need.SAME else k

        first, second = (
            Side(self._mask(side.mask, positions)) for side in covariance.sides
        )
        return map_arrays(covariance, resize)._replace(sides=(first, second))

    def _along(
        self, array: Array, positions: tuple[int, ...], first: int, times: int
    ) -> Array:
        """Resample the axes from `first` on, each of which is there `times` times."""
        for number, size in enumerate(positions):
            matrix = self._matrix(size, self.positions[number], array)
            for at in range(first + number * times, first + (number + 1) * times):
                array = jnp.moveaxis(jnp.tensordot(array, matrix, (at, 1)), -1, at)
        return array

    def _matrix(self, before: int, after: int, like: Array) -> Array:
        eye = jnp.eye(before, dtype=like.dtype)
        shape = (after, before)
        return jax.image.resize(eye, shape, self.method, antialias=self.antialias)

    def _mask(self, mask: Array | None, positions: tuple[int, ...]) -> Array | None:
        """A position is there if any is of those it is made of."""
        if mask is None:
            return None
        first = mask.ndim - len(positions)
        for number, size in enumerate(positions):
            matrix = self._matrix(size, self.positions[number], mask)
            matrix = jnp.abs(matrix) > _ROUNDING
            at = first + number
            mask = jnp.tensordot(mask, matrix.astype(mask.dtype), (at, 1))
            mask = jnp.moveaxis(mask, -1, at)
        return (mask > 0).astype(mask.dtype)
