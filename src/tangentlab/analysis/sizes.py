r"""How large a kernel is, and over how many directions it is spread.

>>> import numpy as np
>>> size = kernel_size(np.diag([2.0, 2.0, 0.0]))
>>> float(size.trace), float(size.participation_ratio)
(4.0, 2.0)
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from .._checks import check_square
from .._types import AnyArray
from ..kernels import TiledGram
from ..spectra.multiplying import diagonal
from .strips import inner_product


class KernelSize(eqx.Module):
    r"""Numbers about a Gram matrix that need no eigenvalue.

    Attributes:
        trace: Sum of its eigenvalues.
        frobenius: Root of the sum of their squares.
        participation_ratio: $(\mathrm{tr} K)^2 / \|K\|_F^2$, an effective rank: n where
            all eigenvalues are equal, 1 where there is but one. `tl.spectra.summary`
            has the rank by entropy too. NaN for a kernel of zeros.
    """

    trace: Float[AnyArray, ""]
    frobenius: Float[AnyArray, ""]
    participation_ratio: Float[AnyArray, ""]


def kernel_size(K: Float[AnyArray | TiledGram, "n n"]) -> KernelSize:
    """Trace, norm and effective rank of a Gram matrix, without its spectrum.

    Args:
        K: Symmetric Gram matrix; one on disk is streamed.

    Returns:
        The numbers.
    """
    check_square("K", K)
    squares = inner_product(K, K)
    if isinstance(K, Tracer):
        trace = jnp.trace(K)
        return KernelSize(trace, squares**0.5, trace**2 / squares)
    trace, squares = np.asarray(diagonal(K).sum()), np.asarray(squares)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.asarray(trace**2 / squares)
    return KernelSize(trace, np.asarray(squares**0.5), ratio)
