"""How far parameters moved, and turned, from where they started."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._linalg import HIGHEST
from .._types import Params
from ..models.trees import split_differentiable


def distances(params: Params, start: Params) -> Float[Array, " 2"]:
    r"""Distance and cosine distance between two sets of parameters.

    Args:
        params: Where they are.
        start: Where they started.

    Returns:
        $\|\theta - \theta_0\|_2$ and $1 - \cos(\theta, \theta_0)$.
    """
    origin = jax.tree.leaves(split_differentiable(start)[0])
    ends = jax.tree.leaves(split_differentiable(params)[0])
    moved = [jnp.ravel(a - b) for a, b in zip(ends, origin, strict=True)]
    origin = [jnp.ravel(each) for each in origin]
    squared = _dot(moved, moved)
    cosine = cosine_distance(squared, _dot(moved, origin), _dot(origin, origin))
    return jnp.stack([jnp.sqrt(squared), cosine])


def cosine_distance(
    squared_distance: Float[Array, "*t"],
    overlap: Float[Array, "*t"],
    squared_norm: Float[Array, ""] | Float[Array, "*t"],
) -> Float[Array, "*t"]:
    r"""$1 - \cos(\theta, \theta_0)$ without the difference of nearly equal numbers.

    With $a = \|\theta\|$ and $b = \|\theta_0\|$, $\|\theta - \theta_0\|^2 = (a - b)^2 +
    2 a b (1 - \cos)$, and $a^2 - b^2$ follows from what is small.

    Args:
        squared_distance: $\|\theta - \theta_0\|^2$.
        overlap: $(\theta - \theta_0) \cdot \theta_0$.
        squared_norm: $\|\theta_0\|^2$.

    Returns:
        The cosine distance; NaN where $\theta_0 = 0$.
    """
    gained = squared_distance + 2 * overlap
    b = jnp.sqrt(squared_norm)
    a = jnp.sqrt(squared_norm + gained)
    return (squared_distance - (gained / (a + b)) ** 2) / (2 * a * b)


def _dot(left: list[Array], right: list[Array]) -> Float[Array, ""]:
    parts = [jnp.dot(a, b, precision=HIGHEST) for a, b in zip(left, right, strict=True)]
    dtype = jnp.result_type(*parts)
    return jnp.sum(jnp.stack([part.astype(dtype) for part in parts]))
