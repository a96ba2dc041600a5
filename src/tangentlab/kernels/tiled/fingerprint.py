"""What a Gram matrix was computed of, as a handful of hashes.

Kept apart, so that a folder of another computation can say what differs. The network's
is that of its derivative, traced: with the rules of custom derivatives in it, and the
arrays that it closes over.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..._linalg import blocks
from ..._types import AnyArray
from ..compat import body_of, is_literal
from ..network import Network

_BLOCK_BYTES = 2**24
_ADDRESS = re.compile("0x[0-9a-fA-F]+")  # in the text of a function without a name


def fingerprint(
    network: Network, x_1: Sequence[AnyArray], x_2: Sequence[AnyArray] | None
) -> dict[str, str]:
    """Hash what a Gram matrix is computed of.

    Args:
        network: The network, read, with values of its parameters.
        x_1: Arrays of the examples along the rows.
        x_2: Arrays of the examples along the columns; None if they are the same.

    Returns:
        Hashes by what they are of.
    """
    values, chosen = network.values, network.differentiated
    return {
        "network": _of_network(network, x_1),
        "params": hash_parts(*network.names, *values.leaves),
        "trainable": hash_parts(str(chosen)),
        "scale": hash_parts(*(values.roots[leaf] for leaf in chosen)),
        "x_1": hash_parts(*x_1),
        "x_2": "" if x_2 is None else hash_parts(*x_2),
    }


def _of_network(network: Network, x: Sequence[AnyArray]) -> str:
    leaves = network.values.leaves
    real = [i for i, v in enumerate(leaves) if jnp.issubdtype(v.dtype, jnp.floating)]

    def derivative(leaves, example):
        def outputs(chosen):
            changed = dict(enumerate(leaves)) | dict(zip(real, chosen, strict=True))
            return network.function(list(changed.values()), example)

        values, pull_back = jax.vjp(outputs, [leaves[i] for i in real])
        return values, pull_back(jnp.ones_like(values))

    example = [jax.ShapeDtypeStruct(a.shape[1:], a.dtype) for a in x]
    with jax.default_matmul_precision("highest"):
        traced = jax.make_jaxpr(derivative)(list(leaves), example)
    return hash_traced(traced)


def hash_traced(traced: Any) -> str:
    """Hash a traced function: its equations, and the arrays that it closes over.

    Args:
        traced: What `jax.make_jaxpr` returns.

    Returns:
        The hash.
    """
    return hash_parts(_ADDRESS.sub("", str(traced)), *_arrays_in(traced))


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
            part = jax.random.key_data(part)
        digest.update(f"array {np.shape(part)} {jnp.result_type(part)} ".encode())
        for block in _blocks_of(part):
            digest.update(np.ascontiguousarray(block).tobytes())
    return digest.hexdigest()


def _blocks_of(array: Any) -> Iterator[np.ndarray]:
    if np.ndim(array) == 0:
        yield np.asarray(array)
        return
    each = max(1, array.nbytes // max(1, len(array)))
    for rows in blocks(len(array), max(1, _BLOCK_BYTES // each)):
        yield np.asarray(array[rows])
