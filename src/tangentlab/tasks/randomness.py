"""One key for each sample, so that splits and sizes do not disturb each other."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Key, Shaped

from .._linalg import blocks
from .._types import PRNGKey

Sampler = Callable[..., jax.Array]
"""A function of `jax.random` that takes a key, a shape and a dtype."""

_BLOCK = 4096  # samples drawn at once


def sample_keys(key: PRNGKey, num_train: int, num_test: int) -> Key[jax.Array, " n"]:
    """A key for each sample, train then test.

    Sample i of a split has the same key whatever the sizes of the splits are.

    Args:
        key: Decides all of them.
        num_train: Number of training samples.
        num_test: Number of test samples.

    Returns:
        The keys.
    """
    train_key, test_key = jax.random.split(key)
    numbered = jax.vmap(jax.random.fold_in, in_axes=(None, 0))
    return jnp.concatenate(
        [
            numbered(train_key, jnp.arange(num_train, dtype=jnp.uint32)),
            numbered(test_key, jnp.arange(num_test, dtype=jnp.uint32)),
        ]
    )


def draw(
    sampler: Sampler,
    keys: Key[jax.Array, " n"],
    shape: tuple[int, ...] = (),
    dtype: type[np.generic] = np.float32,
) -> Shaped[np.ndarray, "n ..."]:
    """Draw an array for each sample.

    The dtype is fixed, for JAX draws other numbers where 64 bits are switched on.

    Args:
        sampler: `jax.random.uniform`, `normal` or `bits`.
        keys: One for each sample.
        shape: Shape of one draw.
        dtype: Type of its entries.

    Returns:
        The draws, stacked over the samples, in host memory.
    """
    parts = [
        np.asarray(_draw_block(sampler, keys[rows], shape, dtype))
        for rows in blocks(len(keys), _BLOCK)
    ]
    return np.concatenate(parts)


@partial(jax.jit, static_argnums=(0, 2, 3))
def _draw_block(sampler, keys, shape, dtype):
    return jax.vmap(lambda each: sampler(each, shape, dtype))(keys)
