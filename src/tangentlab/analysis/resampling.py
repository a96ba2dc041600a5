"""How far a number would move with other tasks, or other seeds: the bootstrap.

>>> import numpy as np
>>> found = bootstrap(mean, np.array([1.0, 2.0, 3.0]))
>>> found.value
2.0
>>> found.low >= 1.0 and found.high <= 3.0
True
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Float
from numpy.typing import ArrayLike

NUM = 10_000
"""How often data are drawn again."""

_LEVEL = 0.95
_TAIL = (1 - _LEVEL) / 2

Statistic = Callable[..., np.ndarray]
"""Reduces the last axis of its arguments, which are resampled together."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number with its 95 % interval.

    Attributes:
        value: Of the data themselves.
        low: Lower end of the interval.
        high: Upper end.
        replicates: Of resampled data, where the number exists.
    """

    value: float
    low: float
    high: float
    replicates: Float[np.ndarray, " r"]

    def doubt(self, threshold: float | int, *, above: bool) -> float:
        """One-sided bootstrap p-value of lying beyond a threshold.

        Args:
            threshold: The threshold.
            above: Beyond means above it, else below.

        Returns:
            The share of replicates that are not beyond it; never 0. NaN where there
            are no replicates.
        """
        if not len(self.replicates) or np.isnan(self.value):
            return float("nan")
        beyond = self.replicates > threshold if above else self.replicates < threshold
        return float((1 + (~beyond).sum()) / (1 + len(beyond)))


def bootstrap(
    statistic: Statistic, *columns: ArrayLike, num: int = NUM, seed: int = 0
) -> Estimate:
    """Percentile interval of a statistic, by drawing rows with replacement.

    Rows are what is exchangeable: tasks, with one value in each column, so that paired
    values stay together; or seeds, with the number that each gave. It is a little too
    narrow for a handful of rows, as every bootstrap.

    Args:
        statistic: `statistic(*columns) -> (...)`, reducing the last axis.
        *columns: Arrays of one length.
        num: How often to draw.
        seed: Decides the draws.

    Returns:
        The estimate. Draws without a value (a correlation of constants) are left out.

    Raises:
        ValueError: If the columns are empty or of unequal lengths.
    """
    values = [np.asarray(column, float) for column in columns]
    lengths = {column.shape for column in values}
    if len(lengths) != 1 or values[0].ndim != 1 or not len(values[0]):
        raise ValueError(
            "The bootstrap needs columns of one length, at least 1, got shapes "
            f"{', '.join(str(column.shape) for column in values)}."
        )
    t = len(values[0])
    rows = np.random.default_rng(seed).integers(0, t, (num, t))
    replicates = np.asarray(statistic(*(column[rows] for column in values)))
    replicates = replicates[~np.isnan(replicates)]
    value = float(statistic(*values))
    if np.isnan(value) or not len(replicates):
        return Estimate(value, float("nan"), float("nan"), replicates)
    low, high = np.quantile(replicates, [_TAIL, 1 - _TAIL])
    return Estimate(value, float(low), float(high), replicates)


def exactly(value: float | int) -> Estimate:
    """A number without any chance in it, as an estimate.

    Args:
        value: The number.

    Returns:
        Its interval is the number itself.
    """
    return Estimate(
        float(value), float(value), float(value), np.full(NUM, value, float)
    )


def mean(values: Float[np.ndarray, "*s t"]) -> Float[np.ndarray, "*s"]:
    """The mean along the last axis, for `bootstrap`.

    Args:
        values: Numbers.

    Returns:
        Their means.
    """
    return np.asarray(np.mean(values, axis=-1))


def mean_gap(
    a: Float[np.ndarray, "*s t"], b: Float[np.ndarray, "*s t"]
) -> Float[np.ndarray, "*s"]:
    """The mean of paired differences `a - b` along the last axis, for `bootstrap`.

    Args:
        a: One side.
        b: The other, on the same tasks.

    Returns:
        Mean differences.
    """
    return np.asarray(np.mean(np.subtract(a, b), axis=-1))


def mean_interval(values: Float[np.ndarray, "s t"]) -> Float[np.ndarray, "2 t"]:
    """Student's 95 % interval of means over few seeds.

    Args:
        values: One row per seed.

    Returns:
        Lower and upper ends; NaN for a single seed, which knows no spread.
    """
    s = len(values)
    if s < 2:
        return np.full((2, *values.shape[1:]), np.nan)
    half = scipy.stats.t.ppf(1 - _TAIL, s - 1) * values.std(0, ddof=1) / np.sqrt(s)
    return np.stack([values.mean(0) - half, values.mean(0) + half])
