r"""Alignment: how much of a kernel lies along targets, modes or another kernel.

A zero input gives NaN, never a silent 0.

>>> import jax.numpy as jnp
>>> K = jnp.diag(jnp.array([3.0, 1.0]))
>>> float(energy_concentration(K, jnp.array([3.0, 4.0]), 1))
0.6
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from .._checks import batch_size, check_same_rows, check_square
from .._linalg import HIGHEST, blocks, take
from .._types import AnyArray, Apply, Inputs, Params
from ..kernels import TiledGram
from ..models import check_apply
from ..spectra import spectrum

_BLOCK = 1000  # samples differentiated at once


def alignment(
    apply: Apply, params: Params, x: Inputs, targets: Float[AnyArray, "n k"]
) -> Float[Array, " k"]:
    r"""Alignment of the tangent kernel with targets, without a Gram matrix.

    $$\hat\alpha(f) = \Big\|\frac1n \sum_i f(x_i) \nabla_\theta f_\theta(x_i)\Big\|^2
      = n^{-2} f^\top K f$$

    Streamed over samples, one backward pass per target: `O(n k p)` time, `k p` memory.
    Biased upwards by the diagonal of `K`, as every V-statistic.

    Args:
        apply: The network with one output, `apply(params, x) -> (n, 1)`.
        params: Where to differentiate it.
        x: All samples.
        targets: Values of each target at the samples, as columns.

    Returns:
        One alignment per target; $\mu_j / n$ for $f = \sqrt{n} v_j$.

    Raises:
        ValueError: If the targets do not fit the samples, or there are several outputs.
    """
    check_apply(apply, params, x)
    n = batch_size("x", x)
    targets = jnp.asarray(targets)
    if targets.ndim != 2 or len(targets) != n:
        raise ValueError(
            f"`targets` must hold values at the {n} samples as columns, ({n}, k), got "
            f"shape {targets.shape}."
        )
    outputs = jax.eval_shape(apply, params, take(x, slice(0, 1))).shape[1]
    if outputs != 1:
        raise ValueError(
            f"Alignment is of a scalar network, this one has {outputs} outputs: pick "
            "one, such as `lambda p, x: apply(p, x)[:, :1]`."
        )
    free, buffers = eqx.partition(params, eqx.is_inexact_array)

    @jax.jit
    def summed(x: Inputs, f: Float[Array, "b k"]):
        def scalar(free):
            return apply(eqx.combine(free, buffers), x)[:, 0]

        values, pullback = jax.vjp(scalar, free)
        return jax.vmap(pullback, in_axes=1)(f.astype(values.dtype))

    total = None
    for rows in blocks(n, _BLOCK):
        part = summed(take(x, rows), targets[rows])
        total = part if total is None else jax.tree.map(jnp.add, total, part)
    energies = [
        jnp.sum(g.reshape(len(g), -1) ** 2, axis=1) for g in jax.tree.leaves(total)
    ]
    return jnp.sum(jnp.stack(energies), axis=0) / n**2


def energy_concentration(
    K: Float[AnyArray | TiledGram, "n n"], y: Float[AnyArray, " n"], num: int
) -> Float[Array, ""]:
    r"""Share of a target's norm in the leading eigenvectors of a kernel.

    $$c = \|V_k^\top y\|_2 / \|y\|_2$$

    A ratio of norms, not squared: chance level is $\sqrt{k / n}$.

    Args:
        K: Symmetric Gram matrix.
        y: Target at the samples; labels as $\pm 1$, or the constant direction rules.
        num: How many eigenvectors, from 1 to n.

    Returns:
        The concentration, in [0, 1].
    """
    check_same_rows("K", K, "y", y)
    V = jnp.asarray(spectrum(K, num).eigenvectors, K.dtype)
    inside = jnp.matmul(V.T, jnp.asarray(y), precision=HIGHEST)
    return jnp.linalg.norm(inside) / jnp.linalg.norm(jnp.asarray(y))


def kernel_distance(
    K: Float[AnyArray | TiledGram, "n n"], L: Float[AnyArray | TiledGram, "n n"]
) -> Float[Array, ""]:
    r"""Cosine distance between two Gram matrices.

    $$1 - \langle K, L\rangle_F \,/\, \|K\|_F \|L\|_F$$

    Args:
        K: Gram matrix.
        L: Gram matrix on the same samples.

    Returns:
        The distance; 0 exactly when one is a positive multiple of the other.
    """
    check_square("K", K)
    check_square("L", L)
    check_same_rows("K", K, "L", L)
    K, L = jnp.asarray(K), jnp.asarray(L)
    return 1 - jnp.sum(K * L) / (jnp.linalg.norm(K) * jnp.linalg.norm(L))
