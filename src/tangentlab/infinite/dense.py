"""The fully connected layer; at several positions the same one at each.

>>> import jax
>>> layer = Dense(3)
>>> params = layer.init(jax.random.key(0), (5,))
>>> layer.apply(params, jax.numpy.ones((2, 5))).shape
(2, 3)
"""

from dataclasses import dataclass

import jax.numpy as jnp

from .._types import Params, PRNGKey
from .covariance import Covariance
from .flow import Batch, zero_outside
from .signal import Step
from .weights import WeightedLayer


@dataclass(frozen=True)
class Dense(WeightedLayer):
    """Weighted sums of all channels, at each position; see `WeightedLayer`."""

    weight_std: float = 1.0
    bias_std: float | None = 0.0

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input.

        Returns:
            The same positions, with `width` channels.
        """
        return (*input_shape[:-1], self.width)

    def init(self, key: PRNGKey, input_shape: tuple[int, ...]) -> Params:
        """Draw weights `(channels, width)`, and biases.

        Args:
            key: Random key.
            input_shape: Shape of one input.

        Returns:
            The parameters.
        """
        fan_in = input_shape[-1]
        return self.draw(key, (fan_in, self.width), (self.width,), fan_in)

    def forward(self, params: Params, batch: Batch) -> Batch:
        """The finite layer.

        Args:
            params: The parameters.
            batch: What comes in.

        Returns:
            What goes out.
        """
        x = jnp.asarray(batch.x)
        outputs = self.scaled(
            x @ self.weight_of(params, x.shape[-1]), params, x.shape[-1]
        )
        return zero_outside(batch._replace(x=outputs))

    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Covariance after the layer.

        Args:
            covariance: Of the input.
            step: This layer's part.

        Returns:
            Covariance of the output.
        """
        before = step.before
        return self.weighted(
            covariance,
            before.shape[-1],
            before.rank,
            step.after,
            with_ntk=step.with_ntk,
        )
