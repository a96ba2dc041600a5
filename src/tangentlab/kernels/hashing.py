"""Hashes of what a traced function computes."""

import re
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from .._hashing import hash_parts as hash_parts
from .compat import body_of, is_literal

# What the text of a traced function says of functions inside it: where they lay in
# memory, and what they were called, which one that was sent to a worker forgets. And
# how it is laid out: in a terminal JAX colors it.
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_INCIDENTAL = re.compile(r"0x[0-9a-fA-F]+|\bname=[\w.<>]+|\s")


def hash_traced(traced: Any) -> str:
    """Hash a traced function: its equations, and the arrays that it closes over.

    Args:
        traced: What `jax.make_jaxpr` returns.

    Returns:
        The hash.
    """
    return hash_parts(_essence(str(traced)), *_arrays_in(traced))


def _essence(text: str) -> str:
    return _INCIDENTAL.sub("", _COLORS.sub("", text))


def _arrays_in(part: Any) -> Iterator[Any]:
    """Arrays inside a traced function, which its text leaves out or abbreviates."""
    if isinstance(part, jax.Array | np.ndarray):
        yield part
    elif isinstance(part, tuple | list):
        for item in part:
            yield from _arrays_in(item)
    elif hasattr(part, "eqns"):
        body = body_of(part)
        yield from body.constants.values()
        for equation in body.equations:
            yield from (atom.val for atom in equation.invars if is_literal(atom))
            yield from _arrays_in(tuple(equation.params.values()))
