"""Layers without weights that move or choose positions.

>>> Slice(slice(1, 3), 0).output_shape((5, 5, 8))
(2, 8)
"""

import math
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array

from .._types import Params
from .covariance import Covariance, Side, map_arrays
from .flow import Batch
from .layer import LinearLayer
from .signal import Need, Signal, Step


@dataclass(frozen=True)
class Identity(LinearLayer):
    """Nothing happens: the shortcut of a residual block."""

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            The same.
        """
        return input_shape

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer.

        Args:
            params: None.
            batch: What comes in.

        Returns:
            The same.
        """
        return batch

    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Covariance after the layer.

        Args:
            covariance: Of the input.
            step: This layer's part.

        Returns:
            The same.
        """
        return covariance


@dataclass(frozen=True)
class Flatten(LinearLayer):
    """Positions become channels. Only covariances between equal positions matter."""

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            One axis.
        """
        return (math.prod(input_shape),)

    def signal(self, before: Signal) -> Signal:
        """Channels of different positions have different variances.

        Args:
            before: What comes in.

        Returns:
            What goes out.
        """
        gaussian = before.gaussian and math.prod(before.shape[:-1]) == 1
        shape = self.output_shape(before.shape)
        return before._replace(shape=shape, gaussian=gaussian)

    def need(self, after: Need) -> Need:
        """Equal positions are enough.

        Args:
            after: What is wanted of the output.

        Returns:
            What is needed of the input.
        """
        return min(after, Need.SAME)

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer.

        Args:
            params: None.
            batch: What comes in.

        Returns:
            What goes out.
        """
        return Batch(batch.x.reshape(len(batch.x), -1))  # on the host it stays there

    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Covariance after the layer: a mean, for each position has as many channels.

        Args:
            covariance: Of the input.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        rank = step.before.rank

        def mean(k: Array) -> Array:
            return k.mean(tuple(range(k.ndim - rank, k.ndim))) if rank else k

        return map_arrays(covariance, mean)._replace(sides=(Side(), Side()))


@dataclass(frozen=True, init=False)
class Slice(LinearLayer):
    """Some of the positions; an index instead of a slice removes its axis.

    Attributes:
        index: For each axis of positions `(start, stop, step)`, or one index; axes
            that are not mentioned stay.
    """

    index: tuple[int | tuple[int | None, int | None, int | None], ...]

    def __init__(self, *index: int | slice):
        made = tuple(
            part if isinstance(part, int) else (part.start, part.stop, part.step)
            for part in index
        )
        object.__setattr__(self, "index", made)

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            Its shape, channels untouched.

        Raises:
            ValueError: If there are more indices than axes, or nothing is left.
        """
        positions = input_shape[:-1]
        if len(self.index) > len(positions):
            raise ValueError(
                f"{self!r} has {len(self.index)} indices, but one input has shape "
                f"{input_shape}: give at most one for each axis of positions; channels "
                "cannot be sliced."
            )
        shape = []
        for number, size in enumerate(positions):
            part = self.index[number] if number < len(self.index) else (None,) * 3
            if not isinstance(part, int):
                shape.append(len(range(*slice(*part).indices(size))))
            elif not -size <= part < size:
                raise ValueError(f"{self!r}: there is no position {part} of {size}.")
        if 0 in shape:
            raise ValueError(f"{self!r} leaves nothing of an input of {input_shape}.")
        return (*shape, input_shape[-1])

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer.

        Args:
            params: None.
            batch: What comes in.

        Returns:
            What goes out.
        """
        mask = None if batch.mask is None else jnp.asarray(batch.mask)[self._key(1)]
        return Batch(jnp.asarray(batch.x)[self._key(1)], mask)

    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Covariance after the layer.

        Args:
            covariance: Of the input.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        rank, twice = step.before.rank, 2 if step.after == Need.PAIRS else 1

        def choose(k: Array, times: int) -> Array:
            return k[self._key(k.ndim - rank * times, times)]

        first, second = (
            Side(None if side.mask is None else choose(side.mask, 1))
            for side in covariance.sides
        )
        moved = map_arrays(covariance, lambda k: choose(k, twice))
        return moved._replace(sides=(first, second))

    def _key(self, leading: int, times: int = 1) -> tuple[int | slice, ...]:
        parts = [p if isinstance(p, int) else slice(*p) for p in self.index]
        return (*[slice(None)] * leading, *(p for p in parts for _ in range(times)))
