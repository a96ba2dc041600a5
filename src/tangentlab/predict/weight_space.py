r"""The parameters behind a prediction.

>>> import jax.numpy as jnp
>>> import tangentlab as tl
>>> x = jnp.array([[1.0, 0.0], [1.0, 1.0]])
>>> apply, params_0 = lambda w, x: x @ w, jnp.zeros((2, 1))
>>> fitted = tl.predict.ridgeless(tl.gram(apply, params_0, x), jnp.array([1.0, 3.0]))
>>> weights(apply, params_0, x, fitted).round(4).tolist()
[[1.0], [2.0]]
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from .._checks import batch_size
from .._linalg import blocks, take
from .._types import Apply, Inputs, Params
from ..kernels.selection import select
from ..models.contract import check_callable
from .record import Solution

_BLOCK = 1000  # samples at once


def weights(
    apply: Apply,
    params_0: Params,
    x: Inputs,
    solution: Solution,
    *,
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
) -> Params:
    r"""The parameters of the linearized network that a solution stands for.

    $$\theta = \theta_0 + \operatorname{diag}(s)\, J^\top \beta$$

    `tl.linearize(apply, params_0)(weights(...), x_new)` is `evaluate(...)`. One
    backward pass over the training samples; $J$ is never formed.

    Args:
        apply: The network whose kernel was used.
        params_0: Where that was computed.
        x: The training samples.
        solution: For one time; with several outputs computed from `tl.gram_full`.
        trainable: As it was passed to `tl.gram`.
        scale: As it was passed to `tl.gram`.

    Returns:
        Parameters like `params_0`, in their dtype.

    Raises:
        ValueError: If the solution is for several times, or has no counterpart in
            weight space.

    Reference:
        The CentraleSupelec lecture (class 5, January 2025): $w_\infty - w_0 = \Phi
        H^{-1} (Y - h_0)$, here for any coefficients.
    """
    check_callable(apply)
    n, selection = batch_size("x", x), select(params_0, trainable, scale)

    @jax.jit
    def pull(leaves, x, beta):
        outputs, back = jax.vjp(lambda new: apply(selection.rebuild(new), x), leaves)
        return back(beta.astype(outputs.dtype))[0]

    beta = _one_per_output(solution, jax.eval_shape(apply, params_0, x).shape)
    change = [jnp.zeros_like(leaf) for leaf in selection.leaves]
    for rows in blocks(n, _BLOCK):
        part = pull(selection.leaves, take(x, rows), jnp.asarray(beta[rows]))
        change = [c + p for c, p in zip(change, part, strict=True)]
    moved = zip(selection.leaves, selection.roots, change, strict=True)
    return selection.rebuild([leaf + root**2 * step for leaf, root, step in moved])


def _one_per_output(solution: Solution, shape: tuple[int, ...]) -> np.ndarray:
    """Coefficients as (n, c), like the network's outputs."""
    beta, several = solution.coefficients, len(shape) == 2 and shape[1] > 1
    if beta.ndim != solution.num_axes:
        raise ValueError(
            "Parameters belong to one time, but the solution has coefficients of shape "
            f"{beta.shape}: compute it for a single time or number of steps."
        )
    if several and not solution.is_full:
        raise ValueError(
            f"The network has {shape[1]} outputs, but the solution comes of one kernel "
            "that they share, which no parameters have: compute it from "
            "`tl.gram_full`, or make a network of one output of it, such as "
            "`lambda params, x: apply(params, x)[:, :1]`."
        )
    if beta.size != np.prod(shape):
        raise ValueError(
            f"The network's outputs at `x` have shape {shape}, the coefficients "
            f"{beta.shape}: pass the training samples, and a solution for one column "
            "of targets if the network has one output."
        )
    return beta.reshape(shape)
