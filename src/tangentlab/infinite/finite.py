"""The finite network as an ordinary model."""

import jax.numpy as jnp

from .._types import Params, PRNGKey
from ..models.adapters.function import from_function
from ..models.contract import check_input_shape
from ..models.model import Model
from ..models.samples import with_sample
from .layer import Layer


def model_of(layer: Layer, input_shape: tuple[int, ...], name: str) -> Model:
    """Make a model of a network of layers.

    Args:
        layer: The network.
        input_shape: Shape of one input.
        name: What it is called.

    Returns:
        The model.

    Raises:
        ValueError: If outputs have positions.
    """
    outputs = layer.output_shape(input_shape)
    if len(outputs) != 1:
        raise ValueError(
            f"This network gives outputs of shape {outputs} for one input of shape "
            f"{input_shape}, but a model gives one row of numbers: end it with "
            "Flatten() or GlobalAvgPool(), and Dense."
        )

    def init(key: PRNGKey) -> Params:
        return layer.init(key, input_shape)

    def apply(params, x):
        check_input_shape(x, input_shape)
        return layer.apply(params, x)

    dtype = jnp.zeros(()).dtype
    return from_function(init, with_sample(apply, input_shape, dtype), name=name)
