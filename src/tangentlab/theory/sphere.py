r"""Kernels on the sphere: their spectrum by degree, and when they are universal.

A kernel that depends on the cosine alone has the spherical harmonics for
eigenfunctions, one eigenvalue a degree:

>>> import numpy as np
>>> zonal_eigenvalues(lambda t: 1 + t + t**2, dim=3, num=3).round(6).tolist()
[1.333333, 0.333333, 0.133333]
>>> [harmonic_multiplicity(3, degree) for degree in range(4)]
[1, 3, 5, 7]
"""

import math
from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import scipy
from jax.core import Tracer
from jaxtyping import Array, Float

from .._types import AnyArray
from .checking import check_at_least, check_finite

_NODES = 200  # the integrand is analytic in the angle


def with_constant_coordinate(x: Float[AnyArray, "n d"]) -> Float[Array, "n e"]:
    r"""Points of the sphere with a bias coordinate, on a sphere again.

    $$x \mapsto (x / \|x\|, 1) / \sqrt 2$$

    On this set, $\{\|x\| = 1, x_{d+1} = 1 / \sqrt 2\}$, the first-layer ReLU kernel is
    universal; without the constant it cannot fit odd degrees above 1.

    Args:
        x: Points, as rows; none of them 0.

    Returns:
        Points of unit norm with one more coordinate.

    Raises:
        ValueError: If a point is 0, which has no place on the sphere.

    Reference:
        The UBC lecture (CPSC 532S, March 2022); Telgarsky, "Deep learning theory
        lecture notes", section 4.
    """
    x = jnp.asarray(x)
    norms = jnp.linalg.norm(x, axis=1, keepdims=True)
    if not isinstance(norms, Tracer) and not bool((norms > 0).all()):
        raise ValueError(
            f"`x` holds a point that is 0, in row {int(jnp.argmin(norms))}, which has "
            "no direction: leave it out, or shift the data."
        )
    unit = x / norms
    ones = jnp.ones((len(x), 1), x.dtype)
    return jnp.concatenate([unit, ones], axis=1) / 2**0.5


def harmonic_multiplicity(dim: int, degree: int) -> int:
    r"""Number of independent spherical harmonics of one degree.

    $$N(d, \ell) = \frac{2 \ell + d - 2}{\ell} \binom{\ell + d - 3}{\ell - 1}$$

    Args:
        dim: $d$, of the space around the sphere $S^{d-1}$, 2 or more.
        degree: $\ell$.

    Returns:
        The dimension of the space.

    Reference:
        Atkinson and Han, "Spherical harmonics and approximations on the unit sphere",
        2012.
    """
    check_at_least("dim", dim, 2)
    check_at_least("degree", degree, 0)
    if degree == 0:
        return 1
    ways = math.comb(degree + dim - 3, degree - 1)
    return (2 * degree + dim - 2) * ways // degree


def zonal_eigenvalues(
    kernel: Callable[[np.ndarray], AnyArray], *, dim: int, num: int
) -> Float[np.ndarray, " k"]:
    r"""Eigenvalues of a kernel of cosines on the uniform sphere, degree by degree.

    $$\lambda_\ell = \frac{\int_0^\pi \kappa(\cos\varphi) P_\ell(\cos\varphi)
      \sin^{d-2}\varphi\,d\varphi}{\int_0^\pi \sin^{d-2}\varphi\,d\varphi}$$

    (Funk and Hecke), with the Legendre polynomial $P_\ell$ of dimension $d$, $P_\ell(1)
    = 1$. Each has multiplicity `harmonic_multiplicity(dim, degree)`, and these sum up
    to the trace: $\kappa(1) = \sum_\ell N(d, \ell) \lambda_\ell$. Integrated in the
    angle, where $\arccos$ and its roots are smooth.

    Args:
        kernel: $\kappa$, elementwise on an array of cosines.
        dim: $d$, 2 or more.
        num: How many degrees, from 0 on.

    Returns:
        $\lambda_0, \lambda_1, \dots$. Rounding, about 1e-15 of $\kappa(1)$ for a kernel
        in float64, may leave an eigenvalue of 0 slightly below it.

    Reference:
        Atkinson and Han, "Spherical harmonics and approximations on the unit sphere",
        2012.
    """
    check_at_least("dim", dim, 2)
    check_at_least("num", num, 1)
    nodes, weights = scipy.special.roots_legendre(_NODES + num)
    angles = (nodes + 1) * np.pi / 2
    t = np.cos(angles)
    measure = weights * np.sin(angles) ** (dim - 2)
    values = np.asarray(kernel(t), np.float64)
    check_finite("kernel", values)
    measured = values * measure / measure.sum()
    before, current = np.zeros_like(t), np.ones_like(t)
    found = []
    for degree in range(num):
        found.append(measured @ current)
        ahead = (2 * degree + dim - 2) * t * current - degree * before
        before, current = current, (ahead / (degree + dim - 2) if degree else t)
    return np.array(found)


def zonal_energies(
    function: Callable[[np.ndarray], AnyArray], *, dim: int, num: int
) -> Float[np.ndarray, " k"]:
    r"""Energy of a function of one direction in each degree.

    For $f(x) = g(\beta^\top x)$ with a unit vector $\beta$ and $x$ uniform on the
    sphere, $g = \sum_\ell g_\ell N(d, \ell) P_\ell$ has the energies $N(d, \ell)
    g_\ell^2$, which add up to $\mathbb E f(x)^2$. Over the eigenvalues of a kernel they
    add up to its squared norm there, $\sum_\ell N(d, \ell) g_\ell^2 / \lambda_\ell$,
    the limit of $Y^\top H^{-1} Y$ for many samples.

    Args:
        function: $g$, elementwise on an array of numbers in [-1, 1].
        dim: $d$, 2 or more.
        num: How many degrees, from 0 on.

    Returns:
        The energies.

    Reference:
        Atkinson and Han, "Spherical harmonics and approximations on the unit sphere",
        2012.
    """
    found = zonal_eigenvalues(function, dim=dim, num=num)
    counts = [harmonic_multiplicity(dim, degree) for degree in range(num)]
    return found**2 * np.array(counts, np.float64)


def universality_coefficients(num: int) -> Float[np.ndarray, " k"]:
    r"""Maclaurin coefficients behind the universality of the first-layer ReLU kernel.

    Of $z \mapsto (z + \frac12) \big(\frac12 - \frac{1}{2 \pi} \arccos(z +
    \frac12)\big)$, the kernel between points with the constant coordinate $1 / \sqrt
    2$ as a function of the product $z$ of the others. All are positive, which makes the
    kernel universal (Steinwart). The notes' restatement of the kernel in that proof is
    garbled.

    With $(1 - u^2) g' = u g$ for $g = (1 - u^2)^{-1/2}$, the coefficients of $g$ about
    $u = \frac12$ obey $\frac34 (k + 1) g_{k+1} = (k + \frac12) g_k + k g_{k-1}$.

    Args:
        num: How many, from the constant on.

    Returns:
        The coefficients.

    Reference:
        The UBC lecture (CPSC 532S, March 2022); Steinwart, "On the influence of the
        kernel on the consistency of support vector machines", JMLR 2001.
    """
    check_at_least("num", num, 1)
    g = [(3 / 4) ** -0.5, (3 / 4) ** -0.5 * 2 / 3]
    for k in range(1, num):
        g.append(((k + 1 / 2) * g[k] + k * g[k - 1]) / (3 / 4 * (k + 1)))
    series = np.array([1 / 3, *(g[k] / (2 * np.pi * (k + 1)) for k in range(num))])
    return series[:num] / 2 + np.concatenate([[0.0], series[: num - 1]])
