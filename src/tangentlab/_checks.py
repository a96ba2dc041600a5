"""Argument checks that stages share: what is wrong, what came, how to fix it."""

import operator
import sys
from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

import jax
import numpy as np

from ._types import Inputs


class AccuracyWarning(UserWarning):
    """Some of what was asked for is not known to the accuracy asked for."""


@runtime_checkable
class Shaped(Protocol):
    """Whatever has a shape: an array, in memory or on disk."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Its length along each axis."""
        ...


def check_known(what: str, name: str, known: Iterable[str]) -> None:
    """Raise unless `name` is one of the known names.

    Args:
        what: The kind of thing looked up, for the message.
        name: The name received.
        known: Every name there is.

    Raises:
        ValueError: If `name` is unknown; lists the known ones.
    """
    known = sorted(known)
    if name not in known:
        raise ValueError(f"Unknown {what} {name!r}. Known: {', '.join(known)}.")


def outside() -> int:
    """How far up the stack the code is that called this package.

    Returns:
        The `stacklevel` for a warning of the function that asks.
    """
    frame, level = sys._getframe(1).f_back, 2
    while frame and frame.f_globals.get("__name__", "").split(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    return level


def is_whole(value: Any) -> bool:
    """Whether something is a whole number, such as 2, `np.int64(2)` or `jnp.array(2)`.

    Args:
        value: Anything.

    Returns:
        False for all else, `2.0` and `True` too.
    """
    try:
        operator.index(value)
    except TypeError:
        return False
    return not isinstance(value, bool)


def check_square(name: str, array: Shaped) -> None:
    """Raise unless the array is a square matrix.

    Args:
        name: Name of the argument.
        array: The array received.

    Raises:
        ValueError: If it is not two-dimensional with equal sides.
    """
    if len(array.shape) != 2 or array.shape[0] != array.shape[1]:
        raise ValueError(
            f"`{name}` must be a square Gram matrix (n, n), got shape {array.shape}."
        )


def check_same_rows(name_1: str, array_1: Shaped, name_2: str, array_2: Shaped) -> None:
    """Raise unless both arrays have the same length along axis 0.

    Args:
        name_1: Name of the first argument.
        array_1: First array.
        name_2: Name of the second argument.
        array_2: Second array.

    Raises:
        ValueError: If the leading axes differ.
    """
    if array_1.shape[:1] != array_2.shape[:1]:
        raise ValueError(
            f"`{name_1}` and `{name_2}` must describe the same n samples, got shapes "
            f"{array_1.shape} and {array_2.shape}. Directions are columns: transpose "
            f"`{name_2}` if it holds them as rows."
        )


def batch_size(name: str, x: Inputs) -> int:
    """Length of the leading axis that all leaves of a batch share.

    Args:
        name: Name of the argument, for the message.
        x: An array or a pytree of arrays.

    Returns:
        The number of samples, at least 1.

    Raises:
        ValueError: If there are no arrays, or of numbers JAX does not have, no samples,
            or leaves of unequal length.
    """
    leaves = jax.tree.leaves(x)
    _check_arrays(name, leaves)
    shapes = [jax.numpy.shape(leaf) for leaf in leaves]
    if not shapes:
        raise ValueError(f"`{name}` holds no array: pass samples along a leading axis.")
    lengths = {shape[:1] for shape in shapes}
    if len(lengths) > 1 or lengths == {()}:
        raise ValueError(
            f"All arrays in `{name}` need the same leading batch axis, got shapes "
            f"{', '.join(map(str, shapes))}."
        )
    ((n,),) = lengths
    if n == 0:
        raise ValueError(
            f"`{name}` is empty: got shapes {', '.join(map(str, shapes))}."
        )
    return n


def _check_arrays(name: str, leaves: list[Any]) -> None:
    """Refuse numbers in the place of arrays, and arrays that JAX does not take."""
    if leaves and all(isinstance(leaf, bool | int | float | str) for leaf in leaves):
        raise ValueError(
            f"`{name}` holds {type(leaves[0]).__name__} in the place of arrays, as a "
            f"list does: pass `np.asarray({name})`."
        )
    for leaf in leaves:
        if not isinstance(leaf, np.ndarray):
            continue
        if leaf.dtype.hasobject or leaf.dtype.kind in "SUmM":
            raise ValueError(
                f"`{name}` holds an array of dtype {leaf.dtype}: make it one of "
                f"numbers, as in `{name}.astype(np.float32)`."
            )
        if not leaf.dtype.isnative:
            raise ValueError(
                f"`{name}` holds an array of dtype {leaf.dtype.str!r}, whose bytes are "
                f"in another order than this machine's: pass `{name}.astype("
                f"{name}.dtype.newbyteorder('='))`."
            )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an accelerator had too little memory.

    Args:
        error: What was raised.

    Returns:
        True for XLA's own error of that kind.
    """
    ran = isinstance(error, jax.errors.JaxRuntimeError)
    return ran and "RESOURCE_EXHAUSTED" in str(error)
