r"""Alignment with what a sample knows of it: an estimate without bias, and its error.

Lemma 1 of the paper bounds the norm of a function by its alignment, $\|\mathbb E[f(x)
\nabla_\theta f_{\theta_0}(x)]\|^2$. On a sample this is the squared norm of a mean, and
so too large; its two sides on the sample itself are `tl.analysis.kernel_norm`.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .._checks import batch_size
from .._linalg import take
from .._types import AnyArray, Apply, Inputs, Params
from ..models import check_apply
from .checking import check_at_least
from .estimates import SquaredMean, squared_norm_of_mean
from .vectors import flatten


def alignment_estimate(
    apply: Apply,
    params: Params,
    x: Inputs,
    f: Float[AnyArray, " n"],
    *,
    num_batches: int = 10,
) -> SquaredMean:
    r"""Alignment for the distribution behind the samples, without a Gram matrix.

    $\|\mathbb E[f(x) \nabla_\theta f_\theta(x)]\|^2$ by inner products of averaged
    gradients over different batches: no bias, and a standard error. `plug_in` is what
    `tl.alignment` returns, and with a batch for each sample `value` is the unbiased
    form of `tl.analysis.alignment_forms`. Cost: one backward pass over the samples,
    `num_batches` gradients in memory.

    Args:
        apply: The network with one output, `apply(params, x) -> (n, 1)`.
        params: Where to differentiate it.
        x: Independent samples.
        f: The function at the samples.
        num_batches: Into how many batches they are cut; 2 for split halves.

    Returns:
        The estimates.

    Raises:
        ValueError: If the function does not fit the samples, there are fewer samples
            than batches, or the network has several outputs.

    Reference:
        The paper, Lemma 1; Hoeffding, "A class of statistics with asymptotically normal
        distribution", 1948, for the estimate.
    """
    check_apply(apply, params, x)
    n = batch_size("x", x)
    if jnp.shape(f) != (n,):
        raise ValueError(
            f"`f` must hold one value at each of the {n} samples, got shape "
            f"{jnp.shape(f)}."
        )
    check_at_least("num_batches", num_batches, 2)
    if n < num_batches:
        raise ValueError(
            f"{n} samples cannot be cut into {num_batches} batches: lower "
            "`num_batches`."
        )
    outputs = jax.eval_shape(apply, params, take(x, slice(0, 1))).shape[1]
    if outputs != 1:
        raise ValueError(
            f"Alignment is of a scalar network, this one has {outputs} outputs: pick "
            "one, such as `lambda p, x: apply(p, x)[:, :1]`."
        )
    center, restore = flatten(params)

    @jax.jit
    def summed(x: Inputs, weights):
        def total(theta):
            values = apply(restore(theta), x)[:, 0]
            return jnp.vdot(weights.astype(values.dtype), values)

        return jax.grad(total)(center)

    ends = np.linspace(0, n, num_batches + 1).astype(int)
    batches = [slice(a, b) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    sums = [np.asarray(summed(take(x, rows), jnp.asarray(f[rows]))) for rows in batches]
    return squared_norm_of_mean(np.stack(sums), np.diff(ends))
