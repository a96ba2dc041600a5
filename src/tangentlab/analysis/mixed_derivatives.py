r"""Derivatives of the parameter gradient along directions of input space.

$M u = \partial_\epsilon \nabla_\theta f_\theta(x + \epsilon u)$: forward mode over
reverse mode, for several directions and samples at once.
"""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .._types import AnyArray, Apply, Params
from ..kernels.matrix_free.lanes import windows
from ..kernels.planning import backend
from ..kernels.selection import Selection

Block = tuple[tuple[int, int, int], ...]
"""Some parameters: for each differentiated leaf, from which entry to which."""

_ROWS = {"cpu": 64, "gpu": 512}  # pairs of a sample and a direction at once


def check_one_output(apply: Apply, params: Params, x: AnyArray) -> None:
    """Raise unless a network has one output.

    Args:
        apply: The network.
        params: Its parameters.
        x: Samples.

    Raises:
        ValueError: If it has several.
    """
    outputs = jax.eval_shape(apply, params, x[:1]).shape[1]
    if outputs != 1:
        raise ValueError(
            f"Directions are those of one output, this network has {outputs}: pick "
            "one, such as `lambda p, x: apply(p, x)[:, :1]`."
        )


def mixed_gram(
    apply: Apply,
    chosen: Selection,
    x: Float[AnyArray, "n ..."],
    pieces: Sequence[Block],
) -> Float[np.ndarray, "d d"]:
    r"""$\bar M^\top \bar M$ for the mean $\bar M$ over samples.

    Args:
        apply: The network with one output.
        chosen: Its parameters.
        x: The samples.
        pieces: The parameters in blocks, each of which fits memory.

    Returns:
        The matrix, in float64, input dimensions flattened.
    """
    n, shape = len(x), x.shape[1:]
    d = int(np.prod(shape))
    rows = _ROWS[backend()]
    chunk = min(n, rows)
    width = max(w for w in range(1, max(1, rows // chunk) + 1) if d % w == 0)
    total = np.zeros((d, d))
    for block in pieces:
        add = jax.jit(partial(_add, apply, chosen, block), donate_argnums=0)
        size = sum(stop - start for _, start, stop in block)
        M = jnp.zeros((d, size), chosen.leaves[0].dtype)
        for window in windows(n, chunk):
            samples = jnp.asarray(x[window.items])
            weights = _weights(window.done, len(samples), n, samples.dtype)
            for start in range(0, d, width):
                axes = np.eye(width, d, start).reshape(width, *shape)
                U = jnp.asarray(axes, samples.dtype)
                M = add(M, chosen.leaves, samples, weights, U, start)
        total += np.asarray(_gram(M), np.float64)
    return total


def mixed_derivative(
    gradient: Callable[[Array], list[Array]], x: Array, u: Array
) -> list[Array]:
    """How a gradient changes when all samples move along a direction.

    Args:
        gradient: The gradient, as a function of the samples.
        x: The samples.
        u: The direction, of the shape of a sample.

    Returns:
        The derivative, like the gradient.
    """
    along = jnp.broadcast_to(u[None], x.shape)
    return jax.jvp(gradient, (x,), (along,))[1]


def weighted_gradient(
    apply: Apply, chosen: Selection, leaves: list[Array], x: Array, weights: Array
) -> list[Array]:
    """Gradient of a weighted sum of outputs, multipliers included.

    Args:
        apply: The network with one output.
        chosen: Which parameters, and their multipliers.
        leaves: Values of these parameters.
        x: Samples.
        weights: A number for each.

    Returns:
        A gradient for each leaf.
    """

    def summed(leaves: list[Array]) -> Array:
        outputs = apply(chosen.rebuild(leaves), x)[:, 0]
        return jnp.sum(outputs * weights.astype(outputs.dtype))

    with jax.default_matmul_precision("highest"):
        made = jax.grad(summed)(leaves)
    return [g * root for g, root in zip(made, chosen.roots, strict=True)]


def _add(
    apply: Apply,
    chosen: Selection,
    block: Block,
    M: Float[Array, "d q"],
    leaves: list[Array],
    x: Array,
    weights: Array,
    U: Array,
    start: int | Array,
) -> Float[Array, "d q"]:
    """Add what a chunk of samples contributes to some rows of a block."""
    some = sorted({leaf for leaf, _, _ in block})

    def gradient(x: Array) -> list[Array]:
        made = weighted_gradient(apply, chosen, leaves, x, weights)
        return [made[leaf] for leaf in some]

    def row(u: Array) -> Array:
        made = dict(zip(some, mixed_derivative(gradient, x, u), strict=True))
        parts = [made[leaf].ravel()[first:last] for leaf, first, last in block]
        return jnp.concatenate([part.astype(M.dtype) for part in parts])

    made = jax.vmap(row)(U)
    at = (start, jnp.zeros_like(start))
    before = jax.lax.dynamic_slice(M, at, made.shape)
    return jax.lax.dynamic_update_slice(M, before + made, at)


@jax.jit
def _gram(M: Float[Array, "d q"]) -> Float[Array, "d d"]:
    return jnp.matmul(M, M.T, precision="highest")


def _weights(done: int, num: int, n: int, dtype: np.dtype) -> Array:
    """What each sample of a window counts in the mean; nothing, if it was counted."""
    return jnp.asarray((np.arange(num) >= done) / n, dtype)
