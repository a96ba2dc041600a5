r"""Estimates by Monte Carlo, with how far they are to be trusted.

The squared norm of a sample mean is too large by the trace of its covariance. Inner
products of *independent* means have no such bias:

>>> import numpy as np
>>> halves = np.array([[3.0, 1.0], [3.0, -1.0]])  # sums over one sample each
>>> found = squared_norm_of_mean(halves, np.array([1, 1]))
>>> found.plug_in, found.value  # the second coordinate is noise
(9.0, 8.0)
"""

import equinox as eqx
import numpy as np
from jaxtyping import Float, Int

from .._types import AnyArray
from .checking import check_at_least


class MeanEstimate(eqx.Module):
    """A mean over random draws.

    Attributes:
        value: The mean.
        standard_error: Its standard deviation, as estimated from the same draws.
    """

    value: float
    standard_error: float


class SquaredMean(eqx.Module):
    r"""The squared norm of an expectation, $\|\mathbb E g\|^2$, in two estimates.

    Attributes:
        value: Without bias: inner products of means over different batches.
        standard_error: Of the value, by the jackknife over batches, which errs to the
            large side where noise rules; NaN for two batches.
        plug_in: The squared norm of the sample mean, too large by the trace of its
            covariance.
    """

    value: float
    standard_error: float
    plug_in: float


def mean_of(draws: Float[AnyArray, " s"]) -> MeanEstimate:
    """Mean of independent draws.

    Args:
        draws: At least two numbers.

    Returns:
        The mean and its standard error.
    """
    values = np.asarray(draws, np.float64)
    check_at_least("the number of draws", len(values), 2)
    error = values.std(ddof=1) / np.sqrt(len(values))
    return MeanEstimate(float(values.mean()), float(error))


def squared_norm_of_mean(
    sums: Float[AnyArray, "b p"], counts: Int[AnyArray, " b"]
) -> SquaredMean:
    r"""Estimate $\|\mathbb E g\|^2$ from sums of $g$ over batches of samples.

    $$\frac{\|\sum_b S_b\|^2 - \sum_b \|S_b\|^2}{n^2 - \sum_b n_b^2}$$

    averages the inner products of all pairs of different batches, each of which has
    expectation $n_a n_b \|\mathbb E g\|^2$. With two batches it is the split-half
    estimator, with batches of one sample the U-statistic.

    Args:
        sums: $S_b$, the sum of $g$ over each batch, as rows.
        counts: $n_b$, how many samples each batch has.

    Returns:
        The estimate without bias, which may be below zero, and the plug-in one.

    Reference:
        Hoeffding, "A class of statistics with asymptotically normal distribution",
        1948, for the U-statistic; Efron and Stein, "The jackknife estimate of
        variance", 1981, for its error.
    """
    check_at_least("the number of batches", len(sums), 2)
    rows, num = np.asarray(sums, np.float64), np.asarray(counts, np.float64)
    G = rows @ rows.T
    total, own, error = G.sum(), np.diagonal(G), np.nan
    value = _over_pairs(total, own.sum(), num.sum(), (num**2).sum())
    if len(rows) > 2:  # the jackknife leaves out each batch in turn
        without = _over_pairs(
            total - 2 * G.sum(axis=1) + own,
            own.sum() - own,
            num.sum() - num,
            (num**2).sum() - num**2,
        )
        error = np.sqrt((len(rows) - 1) * without.var())
    return SquaredMean(float(value), float(error), float(total / num.sum() ** 2))


def _over_pairs(total, own, n, squares):
    """Mean product of different batches, from sums over all and over equal ones."""
    return (total - own) / (n**2 - squares)
