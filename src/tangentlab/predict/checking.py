"""What the closed forms refuse, with the messages."""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from ..spectra.checking import as_array


def check_values(*arguments: Any) -> None:
    """Raise if a value is not known, as under `jit`.

    Args:
        arguments: Arrays, or anything else.

    Raises:
        TypeError: If one is traced.
    """
    if any(isinstance(argument, Tracer) for argument in arguments):
        raise TypeError(
            "Closed forms are computed on the host in float64 and cannot be traced: "
            "call them outside `jax.jit`, `jax.grad` and `jax.vmap`."
        )


def check_targets(y: Any, name: str = "y") -> Float[np.ndarray, "..."]:
    """Raise unless targets are finite real numbers, a row for each sample.

    Args:
        y: Targets.
        name: Of the argument, for the message.

    Returns:
        The targets in float64.

    Raises:
        ValueError: If they are of another shape or dtype, or not finite.
    """
    if np.ndim(y) not in (1, 2) or 0 in np.shape(y):
        raise ValueError(
            f"`{name}` must hold one target a sample, (n,), or one for each output, "
            f"(n, c), got shape {np.shape(y)}."
        )
    dtype = y.dtype if hasattr(y, "dtype") else np.asarray(y).dtype
    if not jnp.issubdtype(dtype, jnp.floating):
        raise ValueError(
            f"`{name}` must be real-valued, got dtype {dtype}: classes become rows of "
            "`jax.nn.one_hot(y, num_classes)`, labels 0 and 1 become `2.0 * y - 1.0`, "
            "and amounts `y.astype(float)`."
        )
    return _finite(name, np.asarray(y, np.float64))


def check_start(
    f_0: Any, shape: tuple[int, ...], name: str = "f_0"
) -> Float[np.ndarray, "..."] | None:
    """Raise unless initial outputs fit the targets.

    Args:
        f_0: Outputs of the network before training, or None.
        shape: Of the targets.
        name: Of the argument, for the message.

    Returns:
        The outputs in float64, shaped like the targets.

    Raises:
        ValueError: If they are of another shape, complex or not finite.
    """
    if f_0 is None:
        return None
    if np.shape(f_0) not in (shape, (shape[0], 1) if len(shape) == 1 else shape):
        raise ValueError(
            f"`{name}` must be shaped like the targets, {shape}, got shape "
            f"{np.shape(f_0)}: pass `apply(params, x)`."
        )
    check_not_complex(name, f_0)
    return _finite(name, np.asarray(f_0, np.float64)).reshape(shape)


def check_amount(name: str, value: Any) -> float:
    """Raise unless a number can be added to a diagonal.

    Args:
        name: Of the argument.
        value: The number.

    Returns:
        It as a float.

    Raises:
        ValueError: If it is negative or not finite.
    """
    number = np.asarray(value)
    is_number = number.ndim == 0 and number.dtype.kind in "iuf"
    if not (is_number and 0 <= number < math.inf):
        raise ValueError(f"`{name}` must be a finite number >= 0, got {value}.")
    return float(number)


def check_tolerance(tolerance: float) -> None:
    """Raise unless an error can be asked for.

    Args:
        tolerance: The largest error.

    Raises:
        ValueError: If it is not between 0 and 1.
    """
    if not 0 < tolerance < 1:
        raise ValueError(f"`tolerance` must lie between 0 and 1, got {tolerance}.")


def check_not_complex(name: str, values: Any) -> None:
    """Raise where numbers have imaginary parts, which would be dropped.

    Args:
        name: Of the argument.
        values: An array, or whatever is like one.

    Raises:
        ValueError: If they are complex.
    """
    dtype = as_array(values).dtype
    if jnp.issubdtype(dtype, jnp.complexfloating):
        raise ValueError(f"`{name}` must be real-valued, got dtype {dtype}.")


def check_times(name: str, t: Any) -> Float[np.ndarray, "..."]:
    """Raise unless times are numbers from 0 to infinity.

    Args:
        name: Of the argument.
        t: A time, or an array of times.

    Returns:
        The times in float64.

    Raises:
        ValueError: If one is negative or NaN.
    """
    times = np.asarray(t, np.float64)
    if not (times >= 0).all():
        raise ValueError(f"`{name}` must lie between 0 and infinity, got {t}.")
    return times


def check_rectangle(
    name: str, K: Any, side: tuple[int, ...], other: str
) -> tuple[int, ...]:
    """Raise unless a kernel has the training samples along its last axes.

    Args:
        name: Of the argument.
        K: Kernel between some samples and the training samples.
        side: Axes of the training samples, (n,) or (n, c).
        other: The call that would make it.

    Returns:
        Axes of the other samples, (m,) or (m, c).

    Raises:
        ValueError: If it does not, or is complex.
    """
    shape, axes = shape_of(K), len(side)
    if len(shape) != 2 * axes or shape[axes:] != side or shape[1:axes] != side[1:]:
        wanted = ", ".join(["m", *map(str, side[1:]), *map(str, side)])
        raise ValueError(
            f"`{name}` must hold the kernel between test and training samples, "
            f"({wanted}), got shape {tuple(as_array(K).shape)}: pass `{other}`."
        )
    check_not_complex(name, K)
    return shape[:axes]


def shape_of(K: Any) -> tuple[int, ...]:
    """The shape of a kernel, without the axes of a single output.

    Args:
        K: Kernel, (n, m) or (n, c, m, c).

    Returns:
        Its shape; (n, m) for one between outputs of which there is one.
    """
    shape = tuple(as_array(K).shape)
    return shape[::2] if len(shape) == 4 and shape[1] == shape[3] == 1 else shape


def _finite(name: str, values: np.ndarray) -> np.ndarray:
    bad = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    if bad.any():
        raise ValueError(
            f"`{name}` holds NaN or infinite values, the first in row "
            f"{int(bad.argmax())}."
        )
    return values
