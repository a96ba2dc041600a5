"""Products with a kernel in float64, wherever the kernel is.

A float32 kernel is widened strip by strip, so that there is never a float64 copy of it.
On an accelerator this stays there: data center GPUs multiply float64 as fast as full
float32.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from .._compiling import compiled
from .._linalg import blocks

_STRIP = 2**24  # entries of a kernel that are widened at once
_DEVICE_STRIP = 2**27  # likewise on an accelerator


def is_on_accelerator(K: Any) -> bool:
    """Whether an array lies elsewhere than in host memory.

    Args:
        K: Any array.

    Returns:
        True for a JAX array on a GPU or TPU.
    """
    return isinstance(K, jax.Array) and "cpu" not in {d.platform for d in K.devices()}


def multiply(K: Float[Any, "n m"], V: Float[np.ndarray, "m k"]) -> np.ndarray:
    """A product in float64, returned on the host.

    Args:
        K: An array, or whatever has `@`, such as a Gram matrix on disk.
        V: Vectors, as columns.

    Returns:
        `K @ V`.
    """
    if is_on_accelerator(K):
        with jax.enable_x64(True), jax.default_device(next(iter(K.devices()))):
            return np.asarray(multiply_on_device(K, jnp.asarray(V)))
    if isinstance(K, jax.Array):
        K = np.asarray(K)
    if not isinstance(K, np.ndarray):
        return np.asarray(K @ V, np.float64)
    if K.dtype == np.float64:
        return K @ V
    made = np.empty((len(K), V.shape[1]))
    for rows in blocks(len(K), max(1, _STRIP // K.shape[1])):
        np.matmul(K[rows].astype(np.float64), V, out=made[rows])
    return made


def multiply_transposed(
    K: Float[Any, "n m"], V: Float[np.ndarray, "n k"]
) -> np.ndarray:
    """A product with the transpose in float64, on the host.

    Args:
        K: An array, or whatever takes part in `@`.
        V: Vectors, as columns.

    Returns:
        `K.T @ V`.
    """
    if not isinstance(K, np.ndarray | jax.Array):
        return np.asarray(V.T @ K, np.float64).T
    return multiply(K.T, V)


def multiply_on_device(K: Float[Array, "n m"], V: Float[Array, "m k"]) -> Array:
    """A product in float64 where the kernel is; wants 64-bit types switched on.

    Args:
        K: The kernel.
        V: Vectors in float64, as columns, on the same device.

    Returns:
        `K @ V`, in float64.
    """
    rows = blocks(len(K), max(1, _DEVICE_STRIP // K.shape[1]))
    parts = [_strip(K, V, at.start, at.stop - at.start) for at in rows]
    return jnp.concatenate(parts)


@compiled
def matmul_on_device(A: Float[Array, "n m"], B: Float[Array, "m k"]) -> Array:
    """A product that compiles fast.

    Args:
        A: A matrix.
        B: Another.

    Returns:
        `A @ B`.
    """
    return A @ B


@partial(compiled, static_argnums=3)
def _strip(K: Array, V: Array, start: ArrayLike, size: int) -> Array:
    strip = jax.lax.dynamic_slice_in_dim(K, start, size)
    return strip.astype(jnp.float64) @ V


def diagonal(K: Float[Any, "n n"]) -> Float[np.ndarray, " n"]:
    """The diagonal of a kernel, wherever it is.

    Args:
        K: An array, or whatever can be sliced.

    Returns:
        The diagonal in float64.
    """
    if isinstance(K, jax.Array):
        with jax.enable_x64(True):  # or JAX takes no part of a float64 array
            return np.asarray(K.diagonal(), np.float64)
    if hasattr(K, "diagonal"):
        return np.asarray(K.diagonal(), np.float64)
    parts = blocks(K.shape[0], max(1, int(_STRIP**0.5)))
    return np.concatenate([np.asarray(K[i, i], np.float64).diagonal() for i in parts])
