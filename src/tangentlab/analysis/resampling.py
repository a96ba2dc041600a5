"""How far a number would move with other tasks, or other seeds.

Tasks are many and their statistics are all sorts: they are resampled. Seeds are few,
and the number is a mean over them: Student's interval holds what it promises with three
of them, where a bootstrap misses the truth in one case of four.

>>> import numpy as np
>>> found = bootstrap(mean, np.arange(41.0))
>>> found.value, bool(14 < found.low < 18), bool(22 < found.high < 26)
(20.0, True, True)
>>> found = over_draws([1.0, 2.0, 3.0])
>>> found.value, round(found.low, 2), round(found.high, 2)
(2.0, -0.48, 4.48)
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Float
from numpy.typing import ArrayLike

NUM = 10_000
"""How often data are drawn again, and how many quantiles stand for a distribution."""

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
        replicates: Of resampled data, where the number exists; or quantiles of what
            stands for them.
    """

    value: float
    low: float
    high: float
    replicates: Float[np.ndarray, " r"]

    def doubt(self, threshold: float | int, *, above: bool) -> float:
        """One-sided p-value of lying beyond a threshold.

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

    def beyond(self, threshold: float | int, *, above: bool) -> "Estimate":
        """How far a number lies beyond a threshold, so that 0 is the threshold.

        Args:
            threshold: The threshold.
            above: Beyond means above it, else below.

        Returns:
            The number less the threshold, or the other way round.
        """
        sign = 1 if above else -1
        ends = [sign * (end - threshold) for end in (self.low, self.high)]
        low, high = ends if above else reversed(ends)
        value = sign * (self.value - threshold)
        return Estimate(value, low, high, sign * (self.replicates - threshold))


def bootstrap(
    statistic: Statistic, *columns: ArrayLike, num: int = NUM, seed: int = 0
) -> Estimate:
    """Percentile interval of a statistic, by drawing rows with replacement.

    Rows are what is exchangeable, such as tasks, with one value in each column, so that
    paired values stay together. It is too narrow for a handful of rows: take
    `over_draws` for a mean over seeds.

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


def over_draws(values: Sequence[float | int] | Float[np.ndarray, " s"]) -> Estimate:
    """The mean over a few independent draws, such as seeds, with Student's interval.

    Args:
        values: One number a draw.

    Returns:
        The estimate. Its replicates are quantiles of Student's distribution, so that
        `Estimate.doubt` is the p-value of a t-test, rounded up by at most 1e-4. A
        single draw knows no spread: its interval is the number itself, there are no
        replicates, and nothing can be decided by it.

    Raises:
        ValueError: If there are no values.
    """
    numbers = np.asarray(values, float)
    if numbers.ndim != 1 or not len(numbers):
        raise ValueError(f"A mean needs a list of values, got shape {numbers.shape}.")
    value, n = float(numbers.mean()), len(numbers)
    if n == 1 or not np.isfinite(numbers).all():
        return Estimate(value, value, value, np.empty(0))
    error = float(numbers.std(ddof=1) / np.sqrt(n))
    half = float(scipy.stats.t.ppf(1 - _TAIL, n - 1)) * error
    replicates = value + error * _student_quantiles(n - 1)
    return Estimate(value, value - half, value + half, replicates)


@functools.lru_cache(maxsize=64)
def _student_quantiles(degrees: int) -> Float[np.ndarray, " r"]:
    levels = np.arange(1, NUM + 1) / (NUM + 1)
    return scipy.stats.t.ppf(levels, degrees)


def distance(found: Estimate, target: float | int) -> Estimate:
    """How far a number is from another one, on whichever side.

    Args:
        found: The number.
        target: The other one.

    Returns:
        The distance. It lies below a limit with all of its interval where the number
        lies within the limit of the target with all of its own.
    """
    ends = abs(found.low - target), abs(found.high - target)
    low = 0.0 if found.low <= target <= found.high else min(ends)
    away = np.abs(found.replicates - target)
    return Estimate(abs(found.value - target), low, max(ends), away)


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
