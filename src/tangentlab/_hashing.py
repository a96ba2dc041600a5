"""Hashes of arrays, numbers and text."""

import hashlib
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._linalg import blocks

_BLOCK_BYTES = 2**24


def hash_parts(*parts: Any) -> str:
    """Hash arrays, numbers and text, one after the other.

    Args:
        *parts: What to hash.

    Returns:
        The hash.
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            digest.update(f"text {len(part)} {part}".encode())
            continue
        if jnp.issubdtype(jnp.result_type(part), jax.dtypes.prng_key):
            part = jax.random.key_data(part)
        digest.update(f"array {np.shape(part)} {jnp.result_type(part)} ".encode())
        for block in _blocks_of(part):
            digest.update(np.ascontiguousarray(block).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _blocks_of(array: Any) -> Iterator[np.ndarray]:
    if np.ndim(array) == 0:
        yield np.asarray(array)
        return
    each = max(1, array.nbytes // max(1, len(array)))
    for rows in blocks(len(array), max(1, _BLOCK_BYTES // each)):
        yield np.asarray(array[rows])
