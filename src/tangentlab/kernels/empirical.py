r"""Gram matrices of the empirical neural tangent kernel.

$$\Theta(x, x') = \langle \nabla_\theta f_\theta(x), \nabla_\theta f_\theta(x')\rangle$$

summed over all parameters, no $1/p$ and no $1/n$, in the parameterization in which
the network is written. This version contracts dense Jacobians, block by block.

>>> import jax.numpy as jnp
>>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
>>> gram(lambda w, x: x @ w, jnp.ones((2, 1)), x).tolist()
[[5.0, 11.0], [11.0, 25.0]]
"""

from collections.abc import Callable
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from .._checks import batch_size
from .._linalg import HIGHEST, blocks, take
from .._progress import progress_bar
from .._types import Apply, Inputs, Params
from ..models import check_apply
from .jacobians import jacobian

Outputs = Literal["mean", "sum"] | int | Callable[[Float[Array, "n c"]], Array]
Rows = Callable[[Inputs], Float[Array, "n q"]]


def gram(
    apply: Apply,
    params: Params,
    x_1: Inputs,
    x_2: Inputs | None = None,
    *,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    memory: int = 2 * 2**30,
    progress: bool = False,
) -> Float[Array, "n m"]:
    r"""Neural tangent kernel between two sets of samples.

    Cost `O(n m c p)` time; memory two blocks of Jacobian rows beside the result.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x_1: Samples along a leading axis, an array or a pytree of arrays.
        x_2: Other samples; None means `x_1` again, and then the lower triangle alone
            is computed and the result is symmetric to the bit.
        outputs: With several logits, `"mean"` of the kernels of the single logits,
            `"sum"` for the kernel of the sum of logits, the index of one logit, or a
            function of the logits `(n, c) -> (n,)` whose kernel is wanted.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers $s$, for
            $J\,\mathrm{diag}(s)\,J^\top$ (layerwise learning rates, or another
            parameterization).
        memory: Bytes that blocks of Jacobian rows may take.
        progress: Show a progress bar.

    Returns:
        The Gram matrix, in the dtype of the network's gradients.

    Raises:
        ValueError: If `apply` breaks the contract (see `tl.models.check_apply`), or
            the samples are empty or do not fit together.
    """
    check_apply(apply, params, x_1)
    n, symmetric = batch_size("x_1", x_1), x_2 is None
    x_2 = x_1 if x_2 is None else x_2
    m = batch_size("x_2", x_2)
    scalar = _reduce_outputs(apply, params, x_1, outputs)

    @jax.jit
    def rows(x: Inputs) -> Float[Array, "b q"]:
        J = jacobian(scalar, params, x, trainable=trainable, scale=scale)
        return J.reshape(len(J), -1) / np.sqrt(J.shape[1]).astype(J.dtype)

    row = jax.eval_shape(rows, take(x_1, slice(0, 1)))
    block = max(1, memory // (2 * row.size * row.dtype.itemsize))
    return _contract(rows, x_1, x_2, (n, m), block, symmetric, progress)


def _reduce_outputs(apply: Apply, params: Params, x: Inputs, outputs: Outputs) -> Apply:
    """The network whose mean kernel over logits is the kernel asked for."""
    num = jax.eval_shape(apply, params, take(x, slice(0, 1))).shape[1]
    if callable(outputs):
        return lambda params, x: outputs(apply(params, x))[:, None]
    if outputs == "mean":
        return apply
    if outputs == "sum":
        return lambda params, x: apply(params, x).sum(axis=1, keepdims=True)
    if isinstance(outputs, int) and -num <= outputs < num:
        return lambda params, x: apply(params, x)[:, outputs, None]
    raise ValueError(
        f'`outputs` must be "mean", "sum", a function, or the index of one of the '
        f"{num} logits, got {outputs!r}."
    )


def _contract(
    rows: Rows,
    x_1: Inputs,
    x_2: Inputs,
    shape: tuple[int, int],
    block: int,
    symmetric: bool,
    progress: bool,
) -> Float[Array, "n m"]:
    """`rows(x_1) @ rows(x_2).T`, one pair of blocks at a time."""
    columns = list(blocks(shape[1], block))
    panels = []
    with progress_bar("Gram matrix", shape[0], show=progress) as advance:
        for i, across in enumerate(blocks(shape[0], block)):
            J_1 = rows(take(x_1, across))
            tiles = []
            for j, down in enumerate(columns[: i + 1] if symmetric else columns):
                J_2 = J_1 if symmetric and j == i else rows(take(x_2, down))
                tiles.append(jnp.matmul(J_1, J_2.T, precision=HIGHEST))
            panel = jnp.concatenate(tiles, axis=1)
            panels.append(jnp.pad(panel, ((0, 0), (0, shape[1] - panel.shape[1]))))
            advance(len(panel))
    K = jnp.concatenate(panels)
    return jnp.tril(K) + jnp.tril(K, -1).T if symmetric else K
