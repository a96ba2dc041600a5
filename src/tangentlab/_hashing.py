"""Hashes of arrays, numbers and text, and of what a traced function computes."""

import hashlib
import re
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ._jaxprs import body_of, is_literal
from ._linalg import blocks

_BLOCK_BYTES = 2**24
_CALLBACK = "callback"  # in the names of JAX's primitives that call Python
_PRINTS = "debug_callback"  # has no result

# What the text of a traced function says of functions inside it: where they lay in
# memory, and what they were called, which one that was sent to a worker forgets. And
# how it is laid out: in a terminal JAX colors it.
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_INCIDENTAL = re.compile(r"0x[0-9a-fA-F]+|\bname=[\w.<>]+|\s")


def hash_parts(*parts: Any) -> str:
    """Hash arrays, numbers and text, one after the other.

    Args:
        *parts: What to hash.

    Returns:
        The hash.
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            digest.update(f"text {len(part)} {part}".encode())
            continue
        if jnp.issubdtype(jnp.result_type(part), jax.dtypes.prng_key):
            with jax.ensure_compile_time_eval():  # it has a value, also under `jit`
                part = jax.random.key_data(part)
        digest.update(f"array {np.shape(part)} {jnp.result_type(part)} ".encode())
        for block in _blocks_of(part):
            digest.update(np.ascontiguousarray(block).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _blocks_of(array: Any) -> Iterator[np.ndarray]:
    if np.ndim(array) == 0:
        yield np.asarray(array)
        return
    each = max(1, array.nbytes // max(1, len(array)))
    for rows in blocks(len(array), max(1, _BLOCK_BYTES // each)):
        with jax.ensure_compile_time_eval():
            block = np.asarray(array[rows])
        yield block


def hash_traced(traced: Any) -> str:
    """Hash a traced function: its equations, and the arrays that it closes over.

    Args:
        traced: What `jax.make_jaxpr` returns.

    Returns:
        The hash.
    """
    return hash_parts(_essence(str(traced)), *_arrays_in(traced))


def calls_python(traced: Any) -> bool:
    """Whether a traced function calls Python, of which its trace tells nothing.

    Args:
        traced: What `jax.make_jaxpr` returns.

    Returns:
        True for callbacks whose results it uses: two with one hash may compute
        different things.
    """
    return any(
        _CALLBACK in name and name != _PRINTS
        for name in (equation.primitive.name for equation in _equations_in(traced))
    )


def closes_over_tracers(traced: Any) -> bool:
    """Whether a traced function closes over values that are not known.

    Args:
        traced: What `jax.make_jaxpr` returns.

    Returns:
        True inside another function that is traced, where it has no hash.
    """
    return any(isinstance(part, Tracer) for part in _arrays_in(traced))


def _essence(text: str) -> str:
    return _INCIDENTAL.sub("", _COLORS.sub("", text))


def _equations_in(part: Any) -> Iterator[Any]:
    """Equations of a traced function, and of those inside them."""
    if isinstance(part, tuple | list):
        for item in part:
            yield from _equations_in(item)
    elif hasattr(part, "eqns"):
        for equation in body_of(part).equations:
            yield equation
            yield from _equations_in(tuple(equation.params.values()))


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
