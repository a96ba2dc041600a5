"""Targets at samples: a vector, or several as columns."""

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from .._types import AnyArray


def check_targets(name: str, targets: AnyArray, n: int) -> AnyArray:
    """Targets as columns.

    Args:
        name: Name of the argument, for the message.
        targets: What was given.
        n: Number of samples.

    Returns:
        The targets, `(n, k)`; in host memory where values are known.

    Raises:
        ValueError: If they do not fit the samples, or are not real-valued.
    """
    shape = jnp.shape(targets)
    if len(shape) not in (1, 2) or shape[0] != n or 0 in shape:
        raise ValueError(
            f"`{name}` must hold values at the {n} samples, ({n},), or several targets "
            f"as columns, ({n}, k), got shape {shape}."
        )
    if not jnp.issubdtype(targets.dtype, jnp.floating):
        raise ValueError(
            f"`{name}` must be real-valued, got dtype {targets.dtype}: labels 0 and 1 "
            "become `2.0 * y - 1.0`."
        )
    columns = targets if isinstance(targets, Tracer) else np.asarray(targets)
    return columns[:, None] if len(shape) == 1 else columns
