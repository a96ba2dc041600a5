"""A spectrum in a few numbers.

>>> import numpy as np
>>> from tangentlab.spectra import spectrum
>>> summary(spectrum(np.eye(4))).participation_ratio
4.0
"""

import equinox as eqx
import numpy as np

from .._checks import is_whole
from .record import Spectrum

_HEAD = 10  # leading eigenvalues that a fit leaves out by default
_MARGIN = 10.0  # how far above the resolution a fit stays by default
_LEAST = 3  # points of a fit


class PowerLaw(eqx.Module):
    r"""A straight line through a spectrum on log axes, $\mu_j = c\,(j+1)^{-\alpha}$.

    Attributes:
        exponent: $\alpha$.
        standard_error: Of the exponent, as if deviations were independent. They are
            not, neighbors deviate together, so that it is a lower limit.
        prefactor: $c$.
        start: First index of the fit.
        stop: One more than its last index.
    """

    exponent: float
    standard_error: float
    prefactor: float
    start: int
    stop: int


class Summary(eqx.Module):
    r"""What a spectrum is like.

    With $p_j = \mu_j / \sum_i \mu_i$ over the computed eigenvalues above zero. Where
    `captured` is less than 1, ranks are those of the computed part.

    Attributes:
        trace: Of the matrix; where unknown, of the computed part.
        captured: Share of the trace in the computed pairs; NaN where it is unknown.
        effective_rank: $\exp(-\sum_j p_j \log p_j)$.
        participation_ratio: $1 / \sum_j p_j^2$.
        trace_over_largest: Trace over the largest eigenvalue.
        power_law: Fit over the default range; None where that has too few points.
    """

    trace: float
    captured: float
    effective_rank: float
    participation_ratio: float
    trace_over_largest: float
    power_law: PowerLaw | None


def summary(spectrum: Spectrum) -> Summary:
    r"""Ranks, trace and decay of a spectrum.

    Args:
        spectrum: With at least one eigenvalue above zero.

    Returns:
        The numbers.

    Raises:
        ValueError: If no eigenvalue is above zero.

    Reference:
        Roy and Vetterli, "The effective rank: a measure of effective dimensionality",
        EUSIPCO 2007, for the exponential of the entropy.
    """
    lam = np.asarray(spectrum.eigenvalues, np.float64)
    if not lam[0] > 0:
        raise ValueError(
            f"The largest eigenvalue is {lam[0]:.3g}: a matrix without eigenvalues "
            "above zero has no rank to speak of."
        )
    p = lam[lam > 0] / lam[lam > 0].sum()
    total = lam.sum() if spectrum.trace is None else spectrum.trace
    start, stop = _default_range(spectrum)
    return Summary(
        trace=float(total),
        captured=float("nan" if spectrum.trace is None else lam.sum() / total),
        effective_rank=float(np.exp(-(p * np.log(p)).sum())),
        participation_ratio=float(1 / (p**2).sum()),
        trace_over_largest=float(total / lam[0]),
        power_law=power_law(spectrum) if stop - start >= _LEAST else None,
    )


def power_law(
    spectrum: Spectrum, start: int | None = None, stop: int | None = None
) -> PowerLaw:
    r"""Fit the decay of eigenvalues, least squares in $\log \mu_j$ on $\log (j + 1)$.

    Indices weigh equally, so that on the log axis the tail outweighs the head.

    Args:
        spectrum: A spectrum.
        start: First index; by default 10, past the head.
        stop: One more than the last; by default before n / 2, where the finite sample
            bends the tail, and where eigenvalues are ten times the resolution.

    Returns:
        The fit and its range.

    Raises:
        ValueError: If the range is not of whole numbers, has fewer than three
            eigenvalues, or reaches below the resolution.
    """
    num = len(spectrum.eigenvalues)
    usual = _default_range(spectrum)
    start, stop = (
        default if given is None else given
        for given, default in zip((start, stop), usual, strict=True)
    )
    if not (is_whole(start) and is_whole(stop)):
        raise ValueError(
            "`start` and `stop` must be whole numbers, the indices of eigenvalues, got "
            f"{start!r} and {stop!r}."
        )
    if start < 0 or stop > num or stop - start < _LEAST:
        raise ValueError(
            f"A fit needs at least {_LEAST} of the {num} eigenvalues past the head and "
            f"above the resolution, got indices {start}..{stop - 1}. Pass `start` "
            "and `stop`, or compute more pairs."
        )
    lam = np.asarray(spectrum.eigenvalues[start:stop], np.float64)
    if lam[-1] < spectrum.resolution or lam[-1] <= 0:
        raise ValueError(
            f"Eigenvalue {stop - 1} is {lam[-1]:.3g}, which is below the resolution "
            f"{spectrum.resolution:.3g}: choose a smaller `stop`."
        )
    x, y = np.log(np.arange(start, stop) + 1.0), np.log(lam)
    spread = ((x - x.mean()) ** 2).sum()
    slope = ((x - x.mean()) * y).sum() / spread
    deviations = y - y.mean() - slope * (x - x.mean())
    variance = (deviations**2).sum() / (len(x) - 2)
    return PowerLaw(
        exponent=float(-slope),
        standard_error=float(np.sqrt(variance / spread)),
        prefactor=float(np.exp(y.mean() - slope * x.mean())),
        start=start,
        stop=stop,
    )


def _default_range(spectrum: Spectrum) -> tuple[int, int]:
    lam, n = np.asarray(spectrum.eigenvalues), spectrum.eigenvectors.shape[0]
    clear = int((lam > _MARGIN * spectrum.resolution).sum())
    return _HEAD, min(clear, max(n // 2, 1))
