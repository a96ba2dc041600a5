"""Finding the directions of one initialization, at the origin and on average."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ..._types import Apply, Params
from ...analysis import nads, subspace_overlap
from ...analysis.anisotropy import Nads
from ..stages.seeds import Seed

LEADING = 10
"""How many directions the paper shows, and how large compared subspaces are."""
_LOOKS = 4  # random samples that tell which parameters have a gradient at all


def find_directions(seed: Seed) -> None:
    """Find and save the directions, unless it was done before.

    The derivative at the origin is computed in float64, since the last energies are
    far below the rounding of the first in float32. The mean over samples, of which the
    leading directions are of use, has the precision of the network.

    Args:
        seed: Network, parameters, and the samples to average over.
    """
    if seed.has("nads"):
        return
    start = time.perf_counter()
    apply, params, shape = seed.model.apply, seed.params, seed.dataset.shape
    mask = active_arrays(apply, params, shape)
    origin = nads(apply, params, shape, trainable=mask, precision="float64")
    mean = nads(apply, params, shape, seed.dataset.x, trainable=mask)
    num = min(LEADING, len(origin.energies))
    tops = [columns(found, num) for found in (origin, mean)]
    seed.save(
        "nads",
        energies=origin.energies,
        directions=origin.directions.astype(np.float32),
        resolution=np.array(origin.resolution),
        num_resolved=np.array(origin.num_resolved),
        mean_energies=mean.energies,
        mean_directions=mean.directions[:num].astype(np.float32),
        mean_resolution=np.array(mean.resolution),
        squared_cosines=np.linalg.svd(tops[0].T @ tops[1], compute_uv=False) ** 2,
        overlap=subspace_overlap(*tops),
        seconds=np.array(time.perf_counter() - start),
    )


def columns(found: Nads, num: int) -> np.ndarray:
    """The leading directions as columns.

    Args:
        found: Directions.
        num: How many.

    Returns:
        Orthonormal columns.
    """
    return found.directions[:num].reshape(num, -1).T


def active_arrays(apply: Apply, params: Params, shape: tuple[int, ...]) -> PyTree:
    """Which arrays of parameters have a gradient at all.

    The published ResNet18 has none in 98 % of its parameters at initialization. A
    gradient that depends smoothly on the input and is exactly 0 at random inputs is 0
    everywhere, and so is its derivative.

    Args:
        apply: The network.
        params: Its parameters.
        shape: Of a sample.

    Returns:
        A boolean for each array, for `trainable` of `nads`.
    """
    x = jax.random.normal(jax.random.key(0), (_LOOKS, *shape), np.float32)

    @jax.jit
    def alive(params: Params) -> PyTree:
        def weighted(params: Params) -> jax.Array:
            outputs = apply(params, x)[:, 0]
            return jnp.sum(outputs * jnp.arange(1.0, _LOOKS + 1, dtype=outputs.dtype))

        return jax.tree.map(lambda g: jnp.any(g != 0), jax.grad(weighted)(params))

    return jax.tree.map(bool, alive(params))
