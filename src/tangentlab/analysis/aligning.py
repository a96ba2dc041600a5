r"""Alignment: how much of a kernel lies along targets, with or without a Gram matrix.

>>> import jax.numpy as jnp
>>> x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
>>> apply, params = lambda w, x: x @ w, jnp.ones((2, 1))
>>> alignment(apply, params, x, jnp.array([1.0, 1.0])).tolist()
13.0
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float, PyTree

from .._checks import batch_size, check_same_rows, check_square
from .._linalg import blocks, take
from .._types import AnyArray, Apply, Inputs, Params
from ..kernels import TiledGram, gram_diagonal
from ..kernels.request import Outputs, Precision, Request
from ..spectra.multiplying import diagonal, multiply
from .targets import check_targets
from .weighted_gradients import energies as energies_of

_PART = 4096  # samples


class Alignment(eqx.Module):
    r"""Alignment of a kernel with targets, one number for each target.

    Attributes:
        biased: $n^{-2} f^\top K f$, the squared norm of a sample mean. Its expectation
            exceeds the population's alignment by the spread of that mean.
        unbiased: The same without a sample's kernel with itself,
            $(f^\top K f - \sum_i f_i^2 K_{ii}) / n (n - 1)$; it may be negative.
        rayleigh: $f^\top K f / f^\top f$, the Rayleigh quotient; $\mu_j$ for the
            kernel's own eigenvector $v_j$. NaN for a target of zeros.
    """

    biased: Float[AnyArray, "..."]
    unbiased: Float[AnyArray, "..."]
    rayleigh: Float[AnyArray, "..."]


def alignment(
    apply: Apply,
    params: Params,
    x: Inputs,
    targets: Float[AnyArray, "n ..."],
    *,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
) -> Float[AnyArray, "..."]:
    r"""Alignment of the tangent kernel with targets, without a Gram matrix.

    $$\hat\alpha(f) = \Big\|\frac1n \sum_i f(x_i) \nabla_\theta f_\theta(x_i)\Big\|^2
      = n^{-2} f^\top K f$$

    All samples count, chunk by chunk. From three targets on, gradients are formed once
    for a block of targets, and each costs one multiply-add a parameter and sample;
    `memory` decides how many targets make a block. On a GPU and for many targets it is
    the parameters that stream by, a slab of the gradients of all samples at a time.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        targets: Values of a target at the samples, `(n,)`, or of several as columns.
        outputs: With several logits, which kernel; see `tl.gram`. The default is the
            mean over logits of the alignment of each.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers.
        precision: `float64` computes in float64. The others are equal on a CPU; on a
            GPU and from nine targets on they are those of products of gradients with
            targets, as in `tl.gram`: what rounding leaves is relative to the mean
            energy of a random target, not to a smaller one's own.
        memory: Bytes that may be used; a share of what is free by default.

    Returns:
        One alignment per target; $\mu_j / n$ for $f = \sqrt{n} v_j$.

    Reference:
        Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural
        networks actually say about generalization?", NeurIPS 2021, Lemma 1.
    """
    n = batch_size("x", x)
    columns = check_targets("targets", targets, n)
    request = Request(outputs, trainable, scale, precision, memory)
    energies = energies_of(apply, params, x, columns, request)
    return _shaped(energies / n**2, targets)


def alignment_forms(
    apply: Apply,
    params: Params,
    x: Inputs,
    targets: Float[AnyArray, "n ..."],
    *,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
) -> Alignment:
    r"""Alignment in three forms, without a Gram matrix: see `alignment`.

    The unbiased form takes one more pass, for the norms of the gradients.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        targets: Values of a target at the samples, `(n,)`, or of several as columns.
        outputs: With several logits, which kernel; see `tl.gram`.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers.
        precision: `float64` computes in float64. The others are equal on a CPU; on a
            GPU and from nine targets on they are those of products of gradients with
            targets, as in `tl.gram`: what rounding leaves is relative to the mean
            energy of a random target, not to a smaller one's own.
        memory: Bytes that may be used; a share of what is free by default.

    Returns:
        The forms; the unbiased one of a single sample is NaN.
    """
    columns = check_targets("targets", targets, batch_size("x", x))
    request = Request(outputs, trainable, scale, precision, memory)
    energies = energies_of(apply, params, x, columns, request)
    own = _squared_norms(apply, params, x, request)
    return _forms(energies, own, columns, targets)


def gram_alignment(
    K: Float[AnyArray | TiledGram, "n n"], targets: Float[AnyArray, "n ..."]
) -> Alignment:
    r"""Alignment in three forms, of a Gram matrix.

    Args:
        K: Symmetric Gram matrix; one on disk is streamed.
        targets: Values of a target at the samples, `(n,)`, or of several as columns.

    Returns:
        The forms, in float64 where values are known.
    """
    check_square("K", K)
    check_same_rows("K", K, "targets", targets)
    columns = check_targets("targets", targets, K.shape[0])
    if isinstance(K, Tracer) or isinstance(columns, Tracer):
        columns = jnp.asarray(columns, K.dtype)
        product = jnp.matmul(jnp.asarray(K), columns, precision="highest")
        norms = jnp.diagonal(jnp.asarray(K))
        return _forms((columns * product).sum(axis=0), norms, columns, targets)
    columns = np.asarray(columns, np.float64)
    energies = (columns * multiply(K, columns)).sum(axis=0)
    return _forms(energies, diagonal(K), columns, targets)


def _squared_norms(apply: Apply, params: Params, x: Inputs, request: Request) -> Any:
    """The diagonal of the kernel; in parts, for which no memory is planned in n^2."""

    def norms(x: Inputs) -> AnyArray:
        return gram_diagonal(
            apply,
            params,
            x,
            outputs=request.outputs,
            trainable=request.trainable,
            scale=request.scale,
            precision=request.precision,
        )

    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((params, x))):
        return norms(x)
    parts = blocks(batch_size("x", x), _PART)
    return np.concatenate([np.asarray(norms(take(x, rows))) for rows in parts])


def _forms(energies: Any, norms: Any, columns: Any, targets: Any) -> Alignment:
    """The record, from the energies, the diagonal of the kernel and the targets."""
    n = len(columns)
    if isinstance(energies, Tracer):
        squares = jnp.asarray(columns, energies.dtype) ** 2
        norms = jnp.asarray(norms, energies.dtype)
        own, length = norms @ squares, squares.sum(axis=0)
        ends = (energies - own) / max(n * (n - 1), 1), energies / length
    else:
        squares = np.asarray(columns, np.float64) ** 2
        own, length = np.asarray(norms, np.float64) @ squares, squares.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = (energies - own) / np.float64(n * (n - 1)), energies / length
    if n == 1:
        ends = ends[0] * np.nan, ends[1]
    return Alignment(*(_shaped(a, targets) for a in (energies / n**2, *ends)))


def _shaped(found: Any, targets: AnyArray) -> Any:
    """One number for a single target, not an axis of length 1."""
    return found[..., 0] if jnp.ndim(targets) == 1 else found
