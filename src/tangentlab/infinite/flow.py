"""Examples on their way through a finite network, with what comes along.

>>> import jax.numpy as jnp
>>> lengths = jnp.array([3, 5])
>>> words = Batch(jnp.ones((2, 5, 4)), mask=jnp.arange(5)[None] < lengths[:, None])
>>> [int(length) for length in words.mask.sum(1)]
[3, 5]
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from .._types import AnyArray
from .covariance import Side


class Batch(NamedTuple):
    """Examples of unequal length, or with a graph each.

    Attributes:
        x: Values, `(n, *positions, channels)`.
        mask: True at the positions that are there, `(n, *positions)`; None if all are.
        graph: Weights by which `Aggregate` adds up neighbors, `(n, nodes, nodes)`.
    """

    x: Float[AnyArray, "n ..."]
    mask: Bool[AnyArray, "n ..."] | Float[AnyArray, "n ..."] | None = None
    graph: Float[AnyArray, "n v v"] | None = None


def as_batch(name: str, x: Batch | AnyArray) -> Batch:
    """Examples in the form that layers work on.

    Args:
        name: Name of the argument, for messages.
        x: Examples, an array or a batch.

    Returns:
        The batch, with values 0 where a position is not there.

    Raises:
        TypeError: If values are no array, such as lists.
        ValueError: If values are not real numbers along two axes at least, or mask or
            graph do not fit them.
    """
    batch = x if isinstance(x, Batch) else Batch(x)
    check_array(name, batch.x)
    shape, dtype = jnp.shape(batch.x), jnp.result_type(batch.x)
    if len(shape) < 2 or not jnp.issubdtype(dtype, jnp.floating):
        raise ValueError(
            f"`{name}` must hold floating-point numbers (n, *positions, channels), got "
            f"{dtype} of shape {shape}: give vectors as (n, d), images as (n, height, "
            "width, channels), and convert integers with `.astype('float32')`."
        )
    for what, array, wanted in (
        ("mask", batch.mask, shape[:-1]),
        ("graph", batch.graph, (*shape[:2], shape[1])),
    ):
        if array is not None and jnp.shape(array) != wanted:
            raise ValueError(
                f"The {what} of `{name}` must have shape {wanted}, since its values "
                f"have shape {shape}; got {jnp.shape(array)}."
            )
    made = [
        None if part is None else jnp.asarray(part, dtype)
        for part in (batch.mask, batch.graph)
    ]
    return zero_outside(Batch(_values(batch.x), *made))


def check_array(name: str, x: Any) -> None:
    """Raise unless examples are an array.

    Args:
        name: Name of the argument, for messages.
        x: What was given.

    Raises:
        TypeError: If it is anything else, such as lists, a `Batch` or a network.
    """
    if isinstance(x, Batch):
        raise TypeError(
            f"`{name}` must be an array of examples here, got a Batch: models of "
            "finite networks take no masks and graphs; call `apply(params, batch)`."
        )
    if not (hasattr(x, "shape") and hasattr(x, "dtype")):
        raise TypeError(
            f"`{name}` must be an array of examples (n, *positions, channels), got a "
            f"{type(x).__name__}: make one with `np.asarray(..., 'float32')`."
        )


def _values(x: AnyArray) -> AnyArray:
    """Values in a dtype that JAX has; on the host they stay there, to be cut there."""
    if isinstance(x, np.ndarray):
        return np.asarray(x, jax.dtypes.canonicalize_dtype(x.dtype))
    return jnp.asarray(x)


def side_of(batch: Batch) -> Side:
    """What is known of examples beside their values.

    Args:
        batch: The examples.

    Returns:
        Mask and graph.
    """
    return Side(batch.mask, batch.graph)  # pyright: ignore[reportArgumentType]


def zero_outside(batch: Batch) -> Batch:
    """Zero where a position is not there, whatever the value was.

    Args:
        batch: The examples.

    Returns:
        The batch, unchanged if it has no mask.
    """
    if batch.mask is None:
        return batch
    mask = jnp.asarray(batch.mask)[..., None]
    return batch._replace(x=jnp.where(mask > 0, batch.x * mask, 0))
