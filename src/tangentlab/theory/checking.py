"""Checks of the numbers that theorems take: what is wrong, what came, what to pass."""

import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from .._types import AnyArray


def check_positive(name: str, value: float | int) -> None:
    """Raise unless a number is above zero and finite.

    Args:
        name: Name of the argument, or what it is.
        value: The number received.

    Raises:
        ValueError: If it is not.
    """
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(
            f"{_quoted(name)} must be a finite number above 0, got {value}."
        )


def check_not_negative(name: str, value: float | int) -> None:
    """Raise unless a number is zero or above, and finite.

    Args:
        name: Name of the argument, or what it is.
        value: The number received.

    Raises:
        ValueError: If it is not.
    """
    if not (value >= 0 and math.isfinite(value)):
        raise ValueError(
            f"{_quoted(name)} must be a finite number, 0 or above, got {value}."
        )


def check_probability(name: str, value: float | int) -> None:
    """Raise unless a number is a probability that is neither 0 nor 1.

    Args:
        name: Name of the argument, or what it is.
        value: The number received.

    Raises:
        ValueError: If it is not.
    """
    if not 0 < value < 1:
        raise ValueError(
            f"{_quoted(name)} must be a probability strictly between 0 and 1, such as "
            f"0.05, got {value}."
        )


def check_at_least(name: str, value: int, least: int) -> None:
    """Raise unless a count is large enough.

    Args:
        name: Name of the argument, or what it is.
        value: The count received.
        least: The smallest that has a meaning.

    Raises:
        ValueError: If it is smaller.
    """
    if value < least:
        raise ValueError(f"{_quoted(name)} must be at least {least}, got {value}.")


def check_finite(name: str, array: Float[AnyArray, "..."]) -> None:
    """Raise if an array holds NaN or infinity, which results would hide.

    Args:
        name: Name of the argument.
        array: The array received.

    Raises:
        ValueError: If one entry is not a number.
    """
    bad = ~np.isfinite(np.asarray(array))
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"{_quoted(name)} holds NaN or infinite entries, {int(bad.sum())} of "
            f"{bad.size}, the first at {place}: look for them in the samples that it "
            "was computed from."
        )


def check_signs(y: Float[AnyArray, " n"]) -> None:
    r"""Raise unless all labels are -1 or 1.

    Args:
        y: The labels.

    Raises:
        ValueError: If one is another number.
    """
    others = np.asarray(y)[np.abs(np.asarray(y)) != 1]
    if len(others):
        raise ValueError(
            "The bound is for classes -1.0 and 1.0, which the model interpolates with "
            f"margin 1, got the label {others[0]:g}: classes 0 and 1 become `2.0 * y - "
            "1.0`."
        )


def rounding_of(array: Float[AnyArray, "..."]) -> float:
    """The relative rounding error of an array's entries.

    Args:
        array: Numbers that were computed in its dtype.

    Returns:
        The spacing of numbers at 1; that of float64 for integers.
    """
    exact = not jnp.issubdtype(array.dtype, jnp.floating)
    return float(jnp.finfo(np.float64 if exact else array.dtype).eps)


def _quoted(name: str) -> str:
    """Return names as code and descriptions as they are."""
    return f"`{name}`" if name.isidentifier() else name
