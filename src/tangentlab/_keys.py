"""Random keys, new style and old."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key, UInt32

from ._types import AnyArray, PRNGKey

AnyKey = PRNGKey | UInt32[AnyArray, " words"]
"""A key by `jax.random.key`, or by the older `jax.random.PRNGKey`."""

AnyKeys = Key[Array, " s"] | UInt32[AnyArray, "s words"]
"""Several of them along an axis."""


def as_key(key: AnyKey) -> PRNGKey:
    """Check one random key.

    Args:
        key: The key, new style or old.

    Returns:
        The key, new style: both draw the same numbers.

    Raises:
        ValueError: If it is no random key, or several.
    """
    typed = _typed(key)
    if typed is None or typed.ndim:
        raise ValueError(
            f"`key` must be one random key, got {_description(key)}: pass "
            "`jax.random.key(0)`."
        )
    return typed


def as_keys(keys: AnyKeys) -> Key[Array, " s"]:
    """Check several random keys.

    Args:
        keys: The keys, new style or old.

    Returns:
        The keys, new style.

    Raises:
        ValueError: If they are no random keys along one axis.
    """
    typed = _typed(keys)
    if typed is None or typed.ndim != 1:
        raise ValueError(
            f"`keys` must be random keys along one axis, got {_description(keys)}: "
            "pass `jax.random.split(jax.random.key(0), 3)`."
        )
    return typed


def _typed(keys: object) -> Key[Array, "..."] | None:
    if isinstance(keys, jax.Array | np.ndarray) and keys.dtype == jnp.uint32:
        usual = jax.eval_shape(lambda: jax.random.PRNGKey(0))  # of JAX's generator
        older = keys.shape[-1:] == usual.shape
        return jax.random.wrap_key_data(jnp.asarray(keys)) if older else None
    typed = isinstance(keys, jax.Array)
    return keys if typed and jnp.issubdtype(keys.dtype, jax.dtypes.prng_key) else None


def _description(keys: object) -> str:
    if isinstance(keys, jax.Array | np.ndarray):
        return f"{keys.dtype} of shape {keys.shape}"
    return type(keys).__name__
