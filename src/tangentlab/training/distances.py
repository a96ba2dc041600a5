r"""How far parameters moved, and turned, from where they started.

In function space both are known from $J \theta_0$ and $\|\theta_0\|^2$, the `origin`.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._checks import batch_size
from .._linalg import HIGHEST, blocks, take
from .._types import Apply, Inputs, Params
from ..models.contract import check_callable
from ..models.trees import split_differentiable

_BLOCK = 1000  # samples at once


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
    pairs = zip(ends, origin, strict=True)
    moved = [_wide(end) - _wide(begin) for end, begin in pairs]
    squared = _dot(moved, moved)
    cosine = cosine_distance(squared, _dot(moved, origin), _dot(origin, origin))
    return jnp.stack([jnp.sqrt(squared), cosine])


def cosine_distance(
    squared_distance: Float[Array, "*t"],
    overlap: Float[Array, "*t"],
    squared_norm: Float[Array, ""],
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
    turned = (squared_distance - (gained / (a + b)) ** 2) / (2 * a * b)
    return jnp.where(b > 0, turned, jnp.nan)


def origin(
    apply: Apply, params: Params, x: Inputs
) -> tuple[Float[Array, " n"], Float[Array, ""]]:
    r"""What `tl.train_dual` needs for weight decay and the cosine distance.

    $$q = J \theta_0, \qquad \|\theta_0\|^2$$

    One Jacobian-vector product, about two forward passes.

    Args:
        apply: The network, with one output.
        params: Its initial parameters $\theta_0$.
        x: All samples, train then test.

    Returns:
        $q$ for each sample, and the squared norm.

    Raises:
        ValueError: If the network has several outputs.

    Example:
        >>> square = lambda w, x: x @ w**2
        >>> q, squared_norm = origin(square, jnp.ones((2, 1)), jnp.eye(2))
        >>> q.tolist(), float(squared_norm)
        ([2.0, 2.0], 2.0)
    """
    check_callable(apply)
    free, buffers = split_differentiable(jax.tree.map(jnp.asarray, params))

    @jax.jit
    def along(free, x):
        return jax.jvp(lambda t: apply(eqx.combine(t, buffers), x), (free,), (free,))[1]

    parts = [along(free, take(x, rows)) for rows in blocks(batch_size("x", x), _BLOCK)]
    q = jnp.concatenate(parts)
    if q.shape[1] != 1:
        raise ValueError(
            "`origin` is defined for a network with one output, this one has "
            f"{q.shape[1]}: return one column from `apply`."
        )
    leaves = jax.tree.leaves(free)
    return q[:, 0], _dot(leaves, leaves)


def _dot(left: list[Array], right: list[Array]) -> Float[Array, ""]:
    parts = [
        jnp.dot(jnp.ravel(a), jnp.ravel(b), precision=HIGHEST)
        for a, b in zip(map(_wide, left), map(_wide, right), strict=True)
    ]
    dtype = jnp.result_type(*parts)
    return jnp.sum(jnp.stack([part.astype(dtype) for part in parts]))


def _wide(leaf: Array) -> Array:
    """At least float32: half precision holds three digits of a norm."""
    return leaf.astype(np.promote_types(leaf.dtype, np.float32))
