"""Theorem 1 on a network: both sides by Monte Carlo, without the bias of a square."""

import numpy as np
from jaxtyping import Float

from ..._types import PRNGKey
from ...analysis import stein_sides
from ..stages.seeds import Seed

DIRECTIONS = ("constant image", "one wave")
"""What the directions are: all pixels equal, and one horizontal wave."""


def check_theorem(seed: Seed, num: int, *, key: PRNGKey) -> None:
    """Both sides and their errors, unless it was done before.

    Args:
        seed: Network, parameters, and the shape of samples.
        num: How many Gaussian samples.
        key: Draws them.
    """
    if seed.has("theorem"):
        return
    directions = smooth_directions(seed.dataset.shape)
    found = stein_sides(seed.model.apply, seed.params, directions, num, key=key)
    seed.save("theorem", **vars(found))


def smooth_directions(shape: tuple[int, ...]) -> Float[np.ndarray, "2 ..."]:
    """Two directions that networks for images see well.

    Args:
        shape: Of a sample; waves run along its second axis, or its only one.

    Returns:
        Unit vectors of that shape.
    """
    axis = min(1, len(shape) - 1)
    wave = np.cos(2 * np.pi * np.arange(shape[axis]) / shape[axis])
    places = [-1 if at == axis else 1 for at in range(len(shape))]
    both = np.stack([np.ones(shape), np.broadcast_to(wave.reshape(places), shape)])
    norms = np.sqrt((both**2).reshape(2, -1).sum(axis=1))
    return both / norms.reshape(2, *[1] * len(shape))
