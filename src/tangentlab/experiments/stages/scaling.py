"""How a number falls with another: exponents with intervals over seeds."""

import numpy as np
from jaxtyping import Float

from ...analysis import Estimate, over_draws


def slopes(
    x: Float[np.ndarray, " k"],
    values: Float[np.ndarray, "s k"],
    *,
    correction: float | None = None,
) -> Float[np.ndarray, " s"]:
    r"""Exponent of a power law, fitted to each row by least squares of logarithms.

    $$\log v = c + b \log x \;(+\; e\, x^{-q})$$

    Args:
        x: Widths, scales or times; positive.
        values: A row for each seed; positive.
        correction: $q$ of the first correction to the power law, where theory knows
            it; it is fitted, too. None for a plain power law.

    Returns:
        $b$ of each row; NaN where a value is not positive.
    """
    columns = [np.ones_like(x), np.log(x)]
    if correction is not None:
        columns.append(x**-correction)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(values > 0, np.log(values), np.nan)
    return (np.linalg.pinv(np.stack(columns, axis=1)) @ logs.T)[1]


def slope(
    x: Float[np.ndarray, " k"],
    values: Float[np.ndarray, "s k"],
    *,
    correction: float | None = None,
) -> Estimate:
    """The mean exponent with its 95 % interval over rows, Student's.

    Args:
        x: As in `slopes`.
        values: Likewise.
        correction: Likewise.

    Returns:
        The estimate; NaN where a value is not positive.
    """
    found = slopes(x, values, correction=correction)
    if np.isnan(found).any():
        return Estimate(np.nan, np.nan, np.nan, np.empty(0))
    return over_draws(found)


def digits(error: float) -> float:
    """The decimal logarithm of an error, by which exact claims are judged.

    Args:
        error: Not negative.

    Returns:
        Such as -12 for an error of 1e-12; -18 for errors below any rounding, 0
        included. NaN stays NaN.
    """
    return float(np.log10(np.maximum(error, 1e-18)))
