"""Random keys, new style and old."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key, UInt32

from ._types import PRNGKey

AnyKey = PRNGKey | UInt32[Array, "2"]
"""A key by `jax.random.key`, or by the older `jax.random.PRNGKey`."""

AnyKeys = Key[Array, " s"] | UInt32[Array, "s 2"]
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
    if not isinstance(keys, jax.Array):
        return None
    if keys.dtype == jnp.uint32 and keys.ndim and keys.shape[-1] == 2:
        return jax.random.wrap_key_data(keys)
    return keys if jnp.issubdtype(keys.dtype, jax.dtypes.prng_key) else None


def _description(keys: object) -> str:
    if isinstance(keys, jax.Array):
        return f"{keys.dtype} of shape {keys.shape}"
    return type(keys).__name__
