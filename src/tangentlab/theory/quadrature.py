"""Gaussian expectations by integration, to check closed forms against."""

import math

import scipy

from .checking import check_at_least

_TOLERANCE = 1e-13


def relu_expectation(cosine: float | int, degree: int) -> float:
    r"""Expected product of rectified powers of two correlated normal variables.

    $$\mathbb E[s_+^k\, (\xi s + \sqrt{1 - \xi^2}\, z)_+^k]$$

    for independent standard normal $s, z$. The inner expectation is that of a rectified
    power of a normal variable, by its recursion in the degree; the outer one is
    adaptive quadrature. Shares nothing with `arccosine_kernel`, which is its closed
    form for unit vectors.

    Args:
        cosine: $\xi$, strictly between -1 and 1.
        degree: $k$, 0 or more.

    Returns:
        The expectation, to about 1e-12.

    Raises:
        ValueError: If the cosine is not between -1 and 1.

    Reference:
        Cho and Saul, "Kernel methods for deep learning", NeurIPS 2009, whose closed
        form it checks.
    """
    check_at_least("degree", degree, 0)
    if not -1 < cosine < 1:
        raise ValueError(
            f"`cosine` must be strictly between -1 and 1, got {cosine}: at the ends "
            "both variables are one."
        )
    spread = math.sqrt(1 - cosine**2)

    def integrand(s: float) -> float:
        inner = _rectified_power(cosine * s, spread, degree)
        return s**degree * inner * math.exp(-(s**2) / 2) / math.sqrt(2 * math.pi)

    # The inner function turns within a width of spread / cosine of 0.
    turns = [min(spread * c, 20.0) for c in (1.0, 4.0, 10.0)]
    edges = [0.0, *sorted({*turns, 6.0, 20.0}), 40.0]
    parts = zip(edges[:-1], edges[1:], strict=True)
    found = [
        scipy.integrate.quad(integrand, a, b, epsabs=_TOLERANCE, limit=200)[0]
        for a, b in parts
    ]
    return float(sum(found))


def _rectified_power(mean: float | int, spread: float | int, degree: int) -> float:
    """Return E of the rectified power of a normal variable, by parts."""
    ratio = mean / spread
    below = float(scipy.special.ndtr(ratio))
    if degree == 0:
        return below
    density = spread * math.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi)
    current = mean * below + density
    for k in range(2, degree + 1):
        below, current = current, mean * current + (k - 1) * spread**2 * below
    return current
