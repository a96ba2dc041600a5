"""Sums over the neighbors in a graph that each example brings along.

>>> import jax
>>> import jax.numpy as jnp
>>> from tangentlab.infinite import Batch
>>> path = jnp.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
>>> graphs = Batch(jnp.arange(3.0).reshape(1, 3, 1), graph=path[None])
>>> Aggregate().apply((), graphs)[0, :, 0].tolist()
[1.0, 3.0, 3.0]
"""

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array

from .._types import Params
from .covariance import Covariance, equal_positions, map_arrays, masked
from .flow import Batch, zero_outside
from .layer import LinearLayer
from .signal import Need, Step

_MISSING = (
    "Aggregate adds up neighbors, but the examples bring no graph along: pass "
    "`Batch(x, graph=weights)` with weights (n, nodes, nodes), and put Aggregate "
    "before layers that change the nodes (Conv, pooling, Slice)."
)


@dataclass(frozen=True)
class Aggregate(LinearLayer):
    """Each node becomes the weighted sum of its neighbors.

    `Batch.graph` holds the weights, `graph[i, v, u]` that of node `u` in node `v`.
    """

    def output_shape(self, input_shape: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of one output.

        Args:
            input_shape: Shape of one input, `(nodes, channels)`.

        Returns:
            The same.

        Raises:
            ValueError: If nodes do not lie along one axis.
        """
        if len(input_shape) != 2:
            raise ValueError(
                "Aggregate needs nodes along one axis, inputs (n, nodes, channels), "
                f"but one input has shape {input_shape}."
            )
        return input_shape

    def need(self, after: Need) -> Need:
        """All pairs of nodes.

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

        Raises:
            ValueError: If there is no graph.
        """
        if batch.graph is None:
            raise ValueError(_MISSING)
        x = jnp.einsum("nvu,nuc->nvc", jnp.asarray(batch.graph), jnp.asarray(batch.x))
        return zero_outside(batch._replace(x=x))

    def propagate(self, covariance: Covariance, step: Step) -> Covariance:
        """Covariance after the layer.

        Args:
            covariance: Of the input, between all pairs of nodes.
            step: This layer's part.

        Returns:
            Covariance of the output.

        Raises:
            ValueError: If there is no graph.
        """
        first, second = (side.graph for side in covariance.sides)
        if first is None or second is None:
            raise ValueError(_MISSING)

        def aggregate(k: Array) -> Array:
            k = first @ k @ jnp.swapaxes(second, -1, -2)
            return equal_positions(k, 1) if step.after == Need.SAME else k

        return masked(map_arrays(covariance, aggregate), 1, step.after)
