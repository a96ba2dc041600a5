"""What a training step does, read from its trace without running it."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from .._jaxprs import body_of


def bytes_of(function: Callable[..., Any], *arguments: Any) -> int:
    """Bytes of all that a function computes on its way.

    Args:
        function: Any function of arrays.
        *arguments: Its arguments.

    Returns:
        The sum over all intermediate results, more than is ever there at once.
    """
    equations = _equations(jax.make_jaxpr(function)(*arguments))
    return sum(_bytes(out.aval) for e in equations for out in e.outvars)


def _bytes(value: Any) -> int:
    counts = jnp.issubdtype(value.dtype, jnp.number)
    return math.prod(value.shape) * value.dtype.itemsize if counts else 0


def _equations(part: Any) -> Iterator[Any]:
    """Equations at every depth that hold no other equations."""
    for body in _bodies(part):
        for equation in body.equations:
            inner = list(_equations(tuple(equation.params.values())))
            yield from inner or [equation]


def _bodies(part: Any) -> Iterator[Any]:
    """Traced functions among the parameters of an equation."""
    if isinstance(part, tuple | list):
        for item in part:
            yield from _bodies(item)
    elif hasattr(part, "eqns"):
        yield body_of(part)
