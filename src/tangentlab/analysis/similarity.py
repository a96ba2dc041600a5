r"""How alike two kernels are, or a kernel and its labels; how fast a kernel turns.

A kernel of zeros gives NaN, never a silent 0. Gram matrices on disk are streamed.

>>> import numpy as np
>>> K = np.diag([1.0, 0.0])
>>> float(kernel_distance(K, 5 * K)), float(kernel_distance(K, np.diag([0.0, 1.0])))
(0.0, 1.0)
"""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from .._checks import check_same_rows, check_square
from .._types import AnyArray
from ..kernels import TiledGram
from ..spectra.checking import as_array
from ..spectra.multiplying import multiply
from .strips import Centered, inner_product, sum_over_strips
from .targets import check_targets

Gram = Float[AnyArray | TiledGram, "n n"]


def kernel_distance(K: Gram, L: Gram) -> Float[AnyArray, ""]:
    r"""Cosine distance between two Gram matrices.

    $$1 - \frac{\langle K, L\rangle_F}{\|K\|_F \|L\|_F}
      = \frac12 \Big\| \frac{K}{\|K\|_F} - \frac{L}{\|L\|_F} \Big\|_F^2$$

    Evaluated as on the right, in float64: two kernels a step of training apart are told
    apart where the cosine has rounded to 1.

    Args:
        K: Gram matrix.
        L: Gram matrix on the same samples.

    Returns:
        The distance; 0 when one is a positive multiple of the other, and at most 1 for
        positive semi-definite matrices.

    Reference:
        Fort et al., "Deep learning versus kernel learning: an empirical study of loss
        landscape geometry and the time evolution of the neural tangent kernel",
        NeurIPS 2020, arXiv:2010.15110.
    """
    K, L = _checked_pair(K, L)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (_over(1.0, inner_product(M, M) ** 0.5) for M in (K, L))

        def squares(_: slice, A: Any, B: Any) -> Any:
            gap = A * a - B * b
            return (gap * gap).sum()

        return _scalar(sum_over_strips(squares, K, L) / 2)


def kernel_velocity(
    kernels: Sequence[Gram], steps: Sequence[float | int] | AnyArray
) -> Float[np.ndarray, " s"]:
    r"""Speed at which a kernel turns in training, a number for each interval.

    $$v_t = d(K_t, K_{t+1}) \,/\, (s_{t+1} - s_t)$$

    with $d$ the `kernel_distance`.

    Args:
        kernels: Gram matrices on the same samples, two at least, as training went on.
        steps: When each was taken: steps, epochs or seconds, increasing.

    Returns:
        One speed fewer than there are kernels.

    Raises:
        ValueError: If there are fewer than two kernels, not one step for each, or steps
            that do not increase.
    """
    times = np.asarray(steps, np.float64)
    if len(kernels) < 2 or times.shape != (len(kernels),):
        raise ValueError(
            "A velocity needs at least two kernels and the step of each, got "
            f"{len(kernels)} kernels and `steps` of shape {times.shape}."
        )
    intervals = np.diff(times)
    if not (intervals > 0).all():
        raise ValueError(
            f"`steps` must increase, got {times.tolist()}: pass the kernels in the "
            "order of training."
        )
    pairs = zip(kernels[:-1], kernels[1:], strict=True)
    return np.array([float(kernel_distance(K, L)) for K, L in pairs]) / intervals


def centered_alignment(K: Gram, y: Float[AnyArray, "n ..."]) -> Float[AnyArray, "..."]:
    r"""Alignment of the centered kernel with targets, free of scale.

    $$\frac{\langle K_c,\, y y^\top\rangle_F}{\|K_c\|_F\,\|y\|^2}, \quad
      K_c = H K H, \quad H = I - 1 1^\top / n$$

    Args:
        K: Symmetric Gram matrix.
        y: A target at the samples, `(n,)`, or several as columns. Only what is left of
            it after centering can align: labels of a balanced task lose nothing.

    Returns:
        Numbers in [0, 1] for a positive semi-definite kernel; 1 for $K = y y^\top$ with
        a centered `y`.

    Reference:
        Baratin et al., "Implicit regularization via neural feature alignment", AISTATS
        2021, arXiv:2008.00938.
    """
    K, y = as_array(K), as_array(y)
    check_square("K", K)
    check_same_rows("K", K, "y", y)
    columns = check_targets("y", y, K.shape[0])
    traced = isinstance(K, Tracer) or isinstance(columns, Tracer)
    xp = jnp if traced else np
    columns = xp.asarray(columns, K.dtype if traced else np.float64)
    inside = columns - columns.mean(axis=0)[None, :]
    if traced:
        product = jnp.matmul(jnp.asarray(K), inside, precision="highest")
    else:
        product = multiply(K, np.asarray(inside))
    energy, length = (inside * product).sum(axis=0), (columns**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = xp.asarray(energy / (_centered_norm(K) * length))
    return found[..., 0] if jnp.ndim(y) == 1 else found


def cka(K: Gram, L: Gram) -> Float[AnyArray, ""]:
    r"""Centered kernel alignment: the cosine between two centered Gram matrices.

    $$\langle K_c, L_c\rangle_F \,/\, \|K_c\|_F \|L_c\|_F$$

    Pass `Y @ Y.T` as `L` for the alignment with labels of several classes.

    Args:
        K: Symmetric Gram matrix.
        L: Symmetric Gram matrix on the same samples.

    Returns:
        A number in [0, 1] for positive semi-definite kernels; 1 where one is a positive
        multiple of the other but for constants.

    Reference:
        Kornblith et al., "Similarity of neural network representations revisited", ICML
        2019, arXiv:1905.00414.
    """
    K, L = _checked_pair(K, L)
    center_K, center_L = Centered(K), Centered(L)

    def products(rows: slice, A: Any, B: Any) -> Any:
        return (center_K(rows, A) * center_L(rows, B)).sum()

    with np.errstate(divide="ignore", invalid="ignore"):
        norms = _centered_norm(K) * _centered_norm(L)
        return _scalar(_over(sum_over_strips(products, K, L), norms))


def _centered_norm(K: Any) -> Any:
    center = Centered(K)

    def squares(rows: slice, A: Any) -> Any:
        inside = center(rows, A)
        return (inside * inside).sum()

    return sum_over_strips(squares, K) ** 0.5


def _over(a: Any, b: Any) -> Any:
    """A quotient; that by zero is not an exception, as it is for Python's numbers."""
    return a / b if isinstance(b, Tracer) else np.asarray(a) / np.asarray(b)


def _scalar(value: Any) -> Any:
    return value if isinstance(value, Tracer) else np.asarray(value)


def _checked_pair(K: Any, L: Any) -> tuple[Any, Any]:
    """Two Gram matrices on the same samples; nested lists become arrays."""
    K, L = as_array(K), as_array(L)
    check_square("K", K)
    check_square("L", L)
    check_same_rows("K", K, "L", L)
    return K, L
