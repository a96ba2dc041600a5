r"""Where the initial parameters stand among the examples' gradients."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._checks import batch_size
from .._linalg import blocks, take
from .._types import Apply, Inputs, Params
from ..models.contract import check_callable
from ..models.trees import split_differentiable

_BLOCK = 1000  # samples at once


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
            f"`origin` is defined for a network with one output, this one has "
            f"{q.shape[1]}."
        )
    squares = [jnp.vdot(leaf, leaf) for leaf in jax.tree.leaves(free)]
    return q[:, 0], jnp.sum(jnp.stack(squares))
