r"""Per-example Jacobians, dense: the obvious route, and the oracle of any faster one.

Row $i$ of $J$ is $\nabla_\theta f_\theta(x_i)$, parameters flattened and concatenated
in the order of `jax.tree.leaves`. Memory is `n c p` numbers.

>>> import jax.numpy as jnp
>>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
>>> jacobian(lambda w, x: x @ w, jnp.ones((2, 1)), x).tolist()
[[[1.0, 2.0]], [[3.0, 4.0]]]
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from .._types import Apply, Inputs, Params
from .selection import select


def jacobian(
    apply: Apply,
    params: Params,
    x: Inputs,
    *,
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
) -> Float[Array, "n c p"]:
    r"""Gradient of every output at every sample with respect to every parameter.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Its parameters; integer leaves are buffers and have no columns.
        x: Samples along a leading axis, an array or a pytree of arrays.
        trainable: Prefix of `params` with booleans; columns of False are left out.
        scale: Prefix of `params` with non-negative multipliers $s$; columns are
            multiplied by $\sqrt{s}$, so that $J J^\top$ becomes
            $J\,\mathrm{diag}(s)\,J^\top$.

    Returns:
        The Jacobian, one row per sample and output.
    """
    chosen = select(params, trainable, scale)

    def rows(example: Inputs) -> Float[Array, "c p"]:
        batch = jax.tree.map(lambda leaf: leaf[None], example)
        outputs = jax.jacrev(lambda new: apply(chosen.rebuild(new), batch)[0])
        pairs = zip(outputs(chosen.leaves), chosen.roots, strict=True)
        weighted = [j * (root[None] if root.ndim else root) for j, root in pairs]
        return jnp.concatenate([j.reshape(j.shape[0], -1) for j in weighted], axis=1)

    return jax.vmap(rows)(jax.tree.map(jnp.asarray, x))
