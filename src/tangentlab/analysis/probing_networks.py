"""Estimates of a network's tangent kernel, for n too large for a Gram matrix.

>>> import jax
>>> import jax.numpy as jnp
>>> apply, x = lambda w, x: jnp.tanh(x @ w), jnp.eye(3)
>>> key, w = jax.random.key(0), jnp.zeros((3, 1))
>>> found = probe_distance_of(apply, w, w + 1.0, x, 5, key=key)
>>> abs(float(found.distance)) < 1e-6  # each example's own parameter, all alike
True
"""

from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, PyTree

from .._checks import batch_size
from .._keys import AnyKey
from .._types import AnyArray, Apply, Inputs, Params
from ..kernels import kernel_product
from ..kernels.request import Outputs, Precision
from .probing import (
    Method,
    ProbedDistance,
    ProbedKernel,
    probe_distance,
    probe_kernel,
)


def probe_kernel_of(
    apply: Apply,
    params: Params,
    x: Inputs,
    num: int,
    *,
    key: AnyKey,
    method: Method = "hutch++",
    targets: Float[AnyArray, "n ..."] | None = None,
    centered: bool = False,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
) -> ProbedKernel:
    """What `probe_kernel` tells, of a network's tangent kernel.

    The trace alone is known exactly: `tl.gram_diagonal(apply, params, x).sum()`.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params: Where to differentiate it.
        x: All samples.
        num: How many products to spend on probes.
        key: Draws the probes.
        method: `"hutch++"` or `"hutchinson"`.
        targets: Targets at the samples, a product each.
        centered: Of the centered kernel instead.
        outputs: With several logits, which kernel; see `tl.gram`.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers.
        precision: See `tl.kernel_product`.
        memory: Bytes that may be used.

    Returns:
        The estimates.
    """
    times = partial(
        _times,
        apply,
        x,
        outputs=outputs,
        trainable=trainable,
        scale=scale,
        precision=precision,
        memory=memory,
    )
    return probe_kernel(
        partial(times, params),
        batch_size("x", x),
        num,
        key=key,
        method=method,
        targets=targets,
        centered=centered,
    )


def probe_distance_of(
    apply: Apply,
    params_1: Params,
    params_2: Params,
    x: Inputs,
    num: int,
    *,
    key: AnyKey,
    centered: bool = False,
    outputs: Outputs = "mean",
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
) -> ProbedDistance:
    """What `probe_distance` tells, between a network's kernels at two places.

    Args:
        apply: The network, `apply(params, x) -> (n, c)`.
        params_1: Where to differentiate it, such as before training.
        params_2: Where else, such as after it.
        x: All samples.
        num: How many products with each kernel, 2 at least.
        key: Draws the probes.
        centered: Between the centered kernels instead: one less `tl.analysis.cka`.
        outputs: With several logits, which kernel; see `tl.gram`.
        trainable: Prefix of the parameters with booleans; False leaves some out.
        scale: Prefix of the parameters with non-negative multipliers.
        precision: See `tl.kernel_product`.
        memory: Bytes that may be used.

    Returns:
        The distance.
    """
    times = partial(
        _times,
        apply,
        x,
        outputs=outputs,
        trainable=trainable,
        scale=scale,
        precision=precision,
        memory=memory,
    )
    products = partial(times, params_1), partial(times, params_2)
    n = batch_size("x", x)
    return probe_distance(*products, n, num, key=key, centered=centered)


def _times(
    apply: Apply, x: Inputs, params: Params, V: np.ndarray, **options: Any
) -> Any:
    return kernel_product(apply, params, x, None, V, **options)
