"""Which parameters of the published ResNet18 have a gradient at initialization.

A parameter has one on some of the inputs if the gradient of a randomly weighted sum of
their outputs is not 0 there: random weights cancel nothing. With a smooth activation
the structure of the network alone decides; a ReLU is off on all of a few inputs in some
channels, which takes a few parameters more away.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from ..._linalg import blocks
from ..._types import Params
from ...models import Activation, resnet18
from ..stages.seeds import Seed

PUBLISHED = 180_033
"""What the layers of the paper's code have outside of residual branches."""
ACTIVATIONS: tuple[Activation, ...] = ("gelu", "relu")
"""Those of the paper, whose configurations name both for this network."""
_CHUNK = 64  # inputs at once


def count_active(seed: Seed, x: Float[np.ndarray, "n h w 3"]) -> None:
    """Count parameters by layer for each activation, unless it was done before.

    Args:
        seed: Its number.
        x: Inputs; a parameter is active if it has a gradient on one of them.
    """
    if seed.has("active"):
        return
    params = resnet18(x.shape[1:]).init(jax.random.key(seed.number))  # of either
    counts = {name: _by_layer(_active(params, x, name)) for name in ACTIVATIONS}
    layers = counts[ACTIVATIONS[0]]
    seed.save(
        "active",
        layer=np.array(list(layers)),
        total=np.array([total for _, total in layers.values()]),
        **{
            name: np.array([active for active, _ in found.values()])
            for name, found in counts.items()
        },
    )


def part_of(layer: str) -> str:
    """To which part of a ResNet18 a layer belongs.

    Args:
        layer: Its name, such as `block_2_1/norm_2`.

    Returns:
        The part, such as `last norm of each branch`.
    """
    block, _, name = layer.rpartition("/")
    if not block:
        return {"stem": "stem", "stem_norm": "norm of the stem"}.get(layer, "head")
    return {
        "norm_2": "last norm of each branch",
        "projection": "projections",
        "projection_norm": "norms of projections",
    }.get(name, "inside the branches")


def _active(
    params: Params, x: np.ndarray, activation: Activation, width: int = 64
) -> PyTree:
    model = resnet18(x.shape[1:], activation=activation, width=width)
    weights = jax.random.normal(jax.random.key(0), (len(x),), np.float32)

    @jax.jit
    def add(seen: PyTree, params: Params, some: Array, weights: Array) -> PyTree:
        def weighted(params: Params) -> Array:
            return model.apply(params, some)[:, 0] @ weights

        gradient = jax.grad(weighted)(params)
        return jax.tree.map(lambda s, g: s | (g != 0), seen, gradient)

    seen = jax.tree.map(lambda leaf: np.zeros(leaf.shape, bool), params)
    for rows in blocks(len(x), _CHUNK):
        seen = add(seen, params, jnp.asarray(x[rows]), weights[rows])
    return jax.tree.map(np.asarray, seen)


def _by_layer(seen: PyTree) -> dict[str, tuple[int, int]]:
    """How many parameters of each layer are active, and how many there are."""
    layers: dict[str, tuple[int, int]] = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(seen):
        words = [str(getattr(entry, "key", entry)) for entry in path[:-1]]
        name = "/".join(words)
        active, total = layers.get(name, (0, 0))
        layers[name] = active + int(leaf.sum()), total + leaf.size
    return layers
