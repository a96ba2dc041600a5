r"""Trace, norm, effective rank and alignment of a kernel that is known by products.

A random vector $z$ of signs has $E\,z^\top K z = \mathrm{tr} K$ (Hutchinson) and
$E\,\|K z\|^2 = \|K\|_F^2$. With $Q$ an orthonormal basis of $K S$ for random $S$
(Hutch++), what lies in $Q$ is computed exactly,

$$\mathrm{tr} K = \mathrm{tr}(Q^\top K Q) + \mathrm{tr}(P K P), \quad
  \|K\|_F^2 = \|K Q\|_F^2 + \mathrm{tr}(P K^2 P), \quad P = I - Q Q^\top$$

and probes $P z$ estimate the small rest of both.

Reference:
    Meyer, Musco, Musco and Woodruff, "Hutch++: optimal stochastic trace estimation",
    SOSA 2021, arXiv:2010.09649.

>>> import jax
>>> import numpy as np
>>> K = np.diag([3.0, 1.0, 0.0, 0.0, 0.0, 0.0])
>>> found = probe_kernel(lambda V: K @ V, 6, 9, key=jax.random.key(0))
>>> found.trace.round(9).tolist(), found.trace_error.round(9).tolist()
(4.0, 0.0)
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from .._checks import check_known
from .._keys import AnyKey, as_key
from .._types import AnyArray, PRNGKey
from ..spectra.checking import check_product
from .targets import check_targets

Method = Literal["hutch++", "hutchinson"]
Product = Callable[[Float[np.ndarray, "n k"]], Any]
"""Multiplies a symmetric matrix with columns, for any number of them."""

_LEAST = {"hutchinson": 2, "hutch++": 6}  # products; two probes make an error


class ProbedKernel(eqx.Module):
    r"""Estimates, each with its standard error.

    Attributes:
        trace: Of the kernel.
        trace_error: Its standard error, over the probes; 0 where products saw all.
        frobenius: $\|K\|_F$.
        frobenius_error: Its standard error.
        participation_ratio: $(\mathrm{tr} K)^2 / \|K\|_F^2$, an effective rank.
        participation_ratio_error: Its standard error.
        alignment: $y^\top K y / (\|y\|^2 \|K\|_F)$ for each target, whose numerator is
            exact; empty without targets.
        alignment_error: Its standard error.
        num_products: How many columns the kernel was multiplied with.
    """

    trace: Float[np.ndarray, ""]
    trace_error: Float[np.ndarray, ""]
    frobenius: Float[np.ndarray, ""]
    frobenius_error: Float[np.ndarray, ""]
    participation_ratio: Float[np.ndarray, ""]
    participation_ratio_error: Float[np.ndarray, ""]
    alignment: Float[np.ndarray, " k"]
    alignment_error: Float[np.ndarray, " k"]
    num_products: int


class ProbedDistance(eqx.Module):
    """An estimated kernel distance.

    Attributes:
        distance: See `tl.kernel_distance`.
        distance_error: Its standard error, over the probes.
    """

    distance: Float[np.ndarray, ""]
    distance_error: Float[np.ndarray, ""]


def probe_kernel(
    product: Product,
    n: int,
    num: int,
    *,
    key: AnyKey,
    method: Method = "hutch++",
    targets: Float[AnyArray, "n ..."] | None = None,
    centered: bool = False,
) -> ProbedKernel:
    r"""Estimate numbers about a kernel from its products with random vectors.

    The error of Hutchinson's trace falls as $1 / \sqrt{m}$ with $m$ products; that of
    Hutch++ as $1 / m$ for any positive semi-definite matrix, and faster where
    eigenvalues decay.

    Args:
        product: Multiplies the kernel with a numpy array (n, k), for any k.
        n: Number of samples.
        num: How many products to spend on probes: 2 at least, or 6 for Hutch++.
        key: Draws the probes.
        method: `"hutch++"` spends a third of the products on a basis, and a third on
            what the kernel does in it; `"hutchinson"` probes alone.
        targets: Targets at the samples, a product each.
        centered: Of the centered kernel $H K H$ instead, whose alignment is the
            `centered_alignment`.

    Returns:
        The estimates.

    Raises:
        ValueError: If there are too few products, or the method is unknown.
    """
    key = as_key(key)
    check_known("method", method, get_args(Method))
    if num < _LEAST[method]:
        raise ValueError(
            f"An error takes at least {_LEAST[method]} products with {method}, got "
            f"num={num}."
        )
    y = np.zeros((n, 0))
    if targets is not None:
        y = np.asarray(check_targets("targets", targets, n), np.float64)
    times = _checked(product, centered)
    sketch = min(num // 3, n) if method == "hutch++" else 0
    found = _probe(times, n, sketch, num - 2 * sketch, key)
    energy = (y * times(y)).sum(axis=0) if y.shape[1] else np.zeros(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _estimates(found, energy / (y**2).sum(axis=0), num + y.shape[1])


def probe_distance(
    product_1: Product,
    product_2: Product,
    n: int,
    num: int,
    *,
    key: AnyKey,
    centered: bool = False,
) -> ProbedDistance:
    r"""Estimate the cosine distance between two kernels that are known by products.

    $\langle K, L\rangle_F = E\,\langle K z, L z\rangle$, and likewise both norms, from
    the same probes: what they share cancels.

    Args:
        product_1: Multiplies one kernel with a numpy array (n, k), for any k.
        product_2: Multiplies the other.
        n: Number of samples.
        num: How many products with each, 2 at least.
        key: Draws the probes.
        centered: Between the centered kernels instead: one less `tl.analysis.cka`.

    Returns:
        The distance.

    Raises:
        ValueError: If there are fewer than two probes.
    """
    key = as_key(key)
    if num < 2:
        raise ValueError(f"An error takes at least 2 probes, got num={num}.")
    Z = _signs(key, n, num)
    A, B = (_checked(product, centered)(Z) for product in (product_1, product_2))
    with np.errstate(divide="ignore", invalid="ignore"):
        A, B = (made / np.sqrt((made**2).sum() / num) for made in (A, B))
        gaps = ((A - B) ** 2).sum(axis=0) / 2
        distance = gaps.mean()
        # The derivative of the cosine, by both norms and by the product, at one.
        lengths = ((A**2).sum(axis=0) + (B**2).sum(axis=0)) / 2 - 1
        influence = gaps - distance - distance * lengths
        error = np.sqrt((influence**2).sum() / (num - 1) / num)
    return ProbedDistance(np.asarray(distance), np.asarray(error))


class _Probed(NamedTuple):
    """What products tell.

    Attributes:
        exact: The parts of trace and squared norm that are known exactly.
        samples: For each probe, its estimates of the rest of both.
    """

    exact: Float[np.ndarray, " 2"]
    samples: Float[np.ndarray, "m 2"]


def _probe(times: Product, n: int, sketch: int, probes: int, key: PRNGKey) -> _Probed:
    first, second = jax.random.split(key)
    exact, Q = np.zeros(2), np.zeros((n, 0))
    if sketch:
        Q, _ = np.linalg.qr(times(_signs(first, n, sketch)))
        inside = times(Q)
        exact = np.array([(Q * inside).sum(), (inside**2).sum()])
    Z = _signs(second, n, probes)
    Z = Z - Q @ (Q.T @ Z)
    made = times(Z)
    samples = np.stack([(Z * made).sum(axis=0), (made**2).sum(axis=0)], axis=1)
    return _Probed(exact, samples)


def _estimates(
    found: _Probed, energies: Float[np.ndarray, " k"], num: int
) -> ProbedKernel:
    """Values, and their errors to first order in those of trace and squared norm."""
    trace, squares = found.exact + found.samples.mean(axis=0)
    covariance = np.cov(found.samples, rowvar=False) / len(found.samples)
    norm, ratio = np.sqrt(squares), trace**2 / squares
    slope = np.array([2 * trace / squares, -ratio / squares])
    norm_error = np.sqrt(covariance[1, 1]) / (2 * norm)
    return ProbedKernel(
        trace=np.asarray(trace),
        trace_error=np.asarray(np.sqrt(covariance[0, 0])),
        frobenius=np.asarray(norm),
        frobenius_error=np.asarray(norm_error),
        participation_ratio=np.asarray(ratio),
        participation_ratio_error=np.asarray(np.sqrt(slope @ covariance @ slope)),
        alignment=energies / norm,
        alignment_error=energies / norm * (norm_error / norm),
        num_products=num,
    )


def _checked(product: Product, centered: bool) -> Product:
    """Products in float64 that were looked at."""

    def times(V: np.ndarray) -> np.ndarray:
        made = np.asarray(product(_center(V) if centered else V), np.float64)
        check_product(V, made)
        return _center(made) if centered else made

    return times


def _center(V: np.ndarray) -> np.ndarray:
    return V - V.mean(axis=0)[None, :]


def _signs(key: PRNGKey, n: int, num: int) -> np.ndarray:
    return np.asarray(jax.random.rademacher(key, (n, num)), np.float64)
