"""Layer normalization and dropout."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array

from .._types import Params
from .covariance import (
    Covariance,
    map_arrays,
    on_equal_positions,
    outer,
    repeated,
    variances,
)
from .flow import Batch, zero_outside
from .layer import Layer, LinearLayer
from .signal import Need, Signal, Step


@dataclass(frozen=True)
class LayerNorm(Layer):
    """Each example less its mean, divided by its standard deviation.

    Attributes:
        over_positions: Whether mean and deviation are over channels and positions;
            else over channels, at each position.
        epsilon: Added to the variance.
    """

    over_positions: bool = False
    epsilon: float = 1e-12

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            The same.
        """
        return input_shape

    def signal(self, before: Signal) -> Signal:
        """Refuse inputs whose mean is not zero.

        Args:
            before: What comes in.

        Returns:
            The same.

        Raises:
            ValueError: If channels of the input are not draws of one Gaussian process.
        """
        if not before.gaussian:
            raise ValueError(
                "LayerNorm follows a layer whose outputs are not Gaussian with mean "
                "zero, such as a nonlinearity: put it right after Dense or Conv."
            )
        return before

    def need(self, after: Need) -> Need:
        """Variances, whatever is wanted of the output.

        Args:
            after: What is wanted.

        Returns:
            What is needed of the input.
        """
        return max(after, Need.SAME)

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer.

        Args:
            params: None.
            batch: What comes in.

        Returns:
            What goes out.
        """
        x = jnp.asarray(batch.x)
        axes = tuple(range(1, x.ndim)) if self.over_positions else (x.ndim - 1,)
        share: Array | float = 1.0
        if self.over_positions and batch.mask is not None:
            share = _share(jnp.asarray(batch.mask))[..., None]
        mean = x.mean(axes, keepdims=True) / share
        centered = zero_outside(batch._replace(x=x - mean)).x
        variance = (jnp.asarray(centered) ** 2).mean(axes, keepdims=True) / share
        return batch._replace(x=centered * lax.rsqrt(variance + self.epsilon))

    def own(
        self, covariance: Covariance, step: Step
    ) -> tuple[Covariance | None, Array]:
        """Covariance of each example with itself; notes what it is divided by.

        Args:
            covariance: Of the input.
            step: This layer's part.

        Returns:
            Covariance of the output, and one over the deviation at each position.
        """
        q = variances(covariance, step.before.rank, self.need(step.after))
        if self.over_positions:
            mask = covariance.sides[0].mask
            share = 1.0 if mask is None else _share(mask)
            q = jnp.broadcast_to(_mean(q) / share, q.shape)
        factor = lax.rsqrt(q + self.epsilon)
        if step.after == Need.NOTHING:
            return None, factor
        return self.cross(covariance, (factor, factor), step), factor

    def cross(
        self, covariance: Covariance, notes: tuple[Array, Array], step: Step
    ) -> Covariance:
        """Covariance of two sets of examples.

        Args:
            covariance: Of the input.
            notes: One over the deviations of either side.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        first, second = outer(*notes, step.before.rank, step.after)
        return map_arrays(covariance, lambda k: k * first * second)


def _mean(values: Array) -> Array:
    """Mean over positions, which are all axes but the first."""
    return values.mean(tuple(range(1, values.ndim)), keepdims=True)


def _share(mask: Array) -> Array:
    """Share of the positions that are there; 1 for an example without any."""
    share = _mean(mask)
    return jnp.where(share > 0, share, 1)


@dataclass(frozen=True)
class Dropout(LinearLayer):
    """Channels set to zero at random, the others made larger.

    The finite networks of this library draw nothing at random while they run, and have
    dropout switched off. With `training` the kernel is that of a network with fresh
    dropout for each example: an example's covariance with itself grows, others stay.

    Attributes:
        keep: Probability of keeping a channel.
        training: Whether dropout is on; such a layer has a kernel, but no `apply`.
    """

    fixed: ClassVar[bool] = False

    keep: float
    training: bool = False

    def __post_init__(self):
        """Refuse what is no probability.

        Raises:
            ValueError: If nothing would be kept, or more than everything.
        """
        if not 0 < self.keep <= 1:
            raise ValueError(
                "`keep` is the probability of keeping a channel and must lie above 0 "
                f"and not above 1, got {self.keep}."
            )

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            The same.
        """
        return input_shape

    def signal(self, before: Signal) -> Signal:
        """What is switched on and off is not Gaussian.

        Args:
            before: What comes in.

        Returns:
            What goes out.
        """
        return before._replace(gaussian=False) if self.training else before

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer, with dropout switched off.

        Args:
            params: None.
            batch: What comes in.

        Returns:
            The same.

        Raises:
            ValueError: If dropout is on.
        """
        if self.training:
            raise ValueError(
                "Dropout(training=True) has a kernel, but no finite network here: "
                "networks of this library draw nothing at random while they run. Build "
                "the finite one with training=False."
            )
        return batch

    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Covariance after the layer.

        Args:
            covariance: Of the input.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        if not self.training or covariance.same is None:
            return covariance
        rank = step.before.rank
        same = repeated(covariance.same, rank, step.after)
        if step.after == Need.PAIRS:
            same = on_equal_positions(same, step.before.shape[:-1])
        factor = 1 + (1 / self.keep - 1) * same
        return map_arrays(covariance, lambda k: k * factor)
