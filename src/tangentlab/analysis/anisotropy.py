r"""Neural anisotropy directions (NADs): where in input space a network looks first.

For $g_u(x) = u^\top x$ with Gaussian inputs, the alignment of the tangent kernel is
$\|\bar M u\|^2$ with $\bar M = E_x[\nabla^2_{x,\theta} f_{\theta}(x)]$ (Theorem 1 of
the paper, `stein.py`). Directions of input space by decreasing alignment are the right
singular vectors of $\bar M$; the paper takes $M$ at the origin for the mean.

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770.

>>> import jax.numpy as jnp
>>> apply = lambda w, x: x @ (w * jnp.array([[3.0], [1.0]]))
>>> found = nads(apply, jnp.ones((2, 1)), (2,))
>>> found.energies.tolist(), abs(found.directions).tolist()
([9.0, 1.0], [[1.0, 0.0], [0.0, 1.0]])
"""

import math
import warnings
from collections.abc import Iterator

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PyTree

from .._types import AnyArray, Apply, Params
from ..kernels.planning import free_memory
from ..kernels.request import Precision, Request
from ..kernels.selection import Selection, select
from ..models import check_apply
from ..models.contract import check_input_shape
from ..spectra import AccuracyWarning, spectrum
from .mixed_derivatives import Block, check_one_output, mixed_gram

_COPIES = 3  # of a block: the sum, what is added to it, and room to turn it round
_SOLVED_TO = 8  # roundings of the largest energy, times the root of their number


class Nads(eqx.Module):
    r"""Neural anisotropy directions.

    Attributes:
        directions: $u_i$, of the shape of a sample and unit norm, by decreasing energy;
            `tl.tasks.direction(directions[i], index=i)` makes a task of one.
        energies: $\|\bar M u_i\|^2$, the squared singular values.
        resolution: Energies are known up to about this.
        num_resolved: How many energies lie above it; later directions are rounding, an
            arbitrary basis of what the network does not see.
    """

    directions: Float[np.ndarray, "d ..."]
    energies: Float[np.ndarray, " d"]
    resolution: float
    num_resolved: int


def nads(
    apply: Apply,
    params: Params,
    input_shape: tuple[int, ...],
    x: Float[AnyArray, "n ..."] | None = None,
    *,
    trainable: PyTree | None = None,
    scale: PyTree | None = None,
    precision: Precision = "float32",
    memory: int | None = None,
) -> Nads:
    r"""All NADs of a network, at the origin or averaged over samples.

    Exact: $\bar M^\top \bar M$ of derivatives of the parameter gradient along each of
    the d axes of input space, `d n` of them, accumulated over blocks of parameters;
    $\bar M$ itself, p by d, is never stored.

    Args:
        apply: The network with one output, `apply(params, x) -> (n, 1)`, twice
            differentiable at the samples. At the origin of a network with zero biases
            a ReLU has derivative 0 and nothing is left: take a smooth activation.
        params: Where to differentiate it.
        input_shape: Shape of one sample.
        x: Samples to average over; None for the origin alone.
        trainable: Prefix of `params` with booleans; False leaves parameters out.
        scale: Prefix of `params` with non-negative multipliers.
        precision: `"float64"`, or that of the network.
        memory: Bytes that may be used; a share of what is free by default. Less memory
            means more, smaller blocks, each of which runs the network again.

    Returns:
        The directions and their energies.

    Raises:
        ValueError: If the network has several outputs, samples are of another shape or
            not finite, or all energies are zero.
    """
    request = Request("mean", trainable, scale, precision, memory)
    request.check()
    shape = tuple(input_shape)
    with request.context():
        params = request.cast(params)
        chosen = select(params, trainable, scale)
        at = np.zeros((1, *shape), chosen.leaves[0].dtype) if x is None else x
        check_input_shape(at, shape)
        at = request.cast(jnp.asarray(at))
        check_apply(apply, params, at)
        check_one_output(apply, params, at)
        pieces = list(_blocks_of(chosen, math.prod(shape), memory))
        total = mixed_gram(apply, chosen, at, pieces)
        if chosen.leaves[0].dtype != np.float64:
            total = total.astype(np.float32)  # as exact as it is
    if not np.isfinite(total).all():
        raise ValueError(
            "A second derivative of the network is NaN or infinite: look at the "
            "parameters, at `x`, and for a derivative that does not exist there."
        )
    if not total.any():
        raise ValueError(
            "The gradient does not change with the input at all, so there are no "
            "directions. At the origin with zero biases the derivative of a ReLU is 0: "
            'use activation="gelu" or another smooth one, or pass samples as `x`.'
        )
    with warnings.catch_warnings():  # how many are resolved is told
        warnings.simplefilter("ignore", AccuracyWarning)
        found = spectrum(total)
    directions = np.asarray(found.eigenvectors, np.float64).T.reshape(-1, *shape)
    energies = np.asarray(found.eigenvalues, np.float64)
    # Rounding of the matrix, and of its decomposition, which is in double precision.
    exact = _SOLVED_TO * math.sqrt(len(energies)) * np.finfo(np.float64).eps
    resolution = max(found.resolution, exact * float(energies[0]))
    return Nads(directions, energies, resolution, int((energies >= resolution).sum()))


def _blocks_of(chosen: Selection, d: int, memory: int | None) -> Iterator[Block]:
    """Parameters in blocks, of which each fits memory d times over."""
    room = free_memory() if memory is None else memory
    item = max(leaf.dtype.itemsize for leaf in chosen.leaves)
    limit = max(1, room // (_COPIES * d * item))
    block, used = [], 0
    for leaf, values in enumerate(chosen.leaves):
        start = 0
        while start < values.size:
            stop = min(values.size, start + limit - used)
            block.append((leaf, start, stop))
            used, start = used + stop - start, stop
            if used == limit:
                yield tuple(block)
                block, used = [], 0
    if block:
        yield tuple(block)
