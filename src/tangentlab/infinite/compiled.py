"""The compiled parts of a kernel: notes on single examples, and tiles of pairs."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, PyTree

from ..kernels.host import handed_over
from .flow import Batch
from .inputs import cross_input, own_input
from .layer import Layer
from .signal import Need, Signal, Step

Kinds = tuple[Literal["nngp", "ntk"], ...]
"""Which kernels are wanted."""


def notes_of(layer: Layer, batch: Batch) -> Any:
    """What pairs will have to know of each example.

    Args:
        layer: The network.
        batch: The examples.

    Returns:
        A tree of arrays along the examples.
    """
    need = layer.need(Need.NOTHING)
    if need == Need.NOTHING:
        return None
    with jax.default_matmul_precision("highest"):
        step = Step(_signal(batch), Need.NOTHING, False)
        return layer.own(own_input(batch, need), step)[1]


def singles_of(layer: Layer, batch: Batch) -> tuple[Any, tuple[Array, Array] | None]:
    """Notes, and both kernels of each example with itself where these cost no more.

    Args:
        layer: The network.
        batch: The examples.

    Returns:
        Notes, and two arrays `(n,)`; None in their place where they would take pairs of
        positions.
    """
    if layer.need(Need.SAME) == Need.PAIRS:
        return notes_of(layer, batch), None
    return _own(layer, batch)


def diagonals_of(layer: Layer, batch: Batch) -> tuple[Array, Array]:
    """Both kernels of each example with itself.

    Args:
        layer: The network.
        batch: The examples.

    Returns:
        Two arrays `(n,)`.
    """
    return _own(layer, batch)[1]


def _own(layer: Layer, batch: Batch) -> tuple[Any, tuple[Array, Array]]:
    with jax.default_matmul_precision("highest"):
        covariance = own_input(batch, layer.need(Need.SAME))
        made, notes = layer.own(covariance, Step(_signal(batch), Need.SAME, True))
    assert made is not None
    ntk = jnp.zeros_like(made.nngp) if made.ntk is None else made.ntk
    return notes, (made.nngp, ntk)


def pairs_of(
    layer: Layer,
    kinds: Kinds,
    batches: tuple[Batch, Batch],
    notes: tuple[Any, Any],
    same: Array | None,
) -> tuple[Array, ...]:
    """Kernels of all pairs of examples.

    Args:
        layer: The network.
        kinds: Which kernels.
        batches: Examples along the rows, and along the columns.
        notes: What is known of either.
        same: 1 where row and column are the same example; None if nowhere.

    Returns:
        One array `(n, m)` a kind.
    """
    first = jax.tree.map(lambda note: note[:, None], notes[0])
    second = jax.tree.map(lambda note: note[None], notes[1])
    step = Step(_signal(batches[0]), Need.SAME, "ntk" in kinds)
    with jax.default_matmul_precision("highest"):
        covariance = cross_input(*batches, layer.need(Need.SAME), same)
        made = layer.cross(covariance, (first, second), step)
    ntk = jnp.zeros_like(made.nngp) if made.ntk is None else made.ntk
    results = {"nngp": made.nngp, "ntk": ntk}
    return tuple(results[kind] for kind in kinds)


def _signal(batch: Batch) -> Signal:
    return Signal(tuple(batch.x.shape[1:]))


@partial(jax.jit, static_argnums=(0, 1))
def chunk_compiled(
    function: Callable[[Layer, Batch], Any], layer: Layer, batch: Batch
) -> Any:
    """Something computed for each of some examples.

    Args:
        function: `singles_of` or `diagonals_of`.
        layer: The network.
        batch: The examples.

    Returns:
        Arrays along these examples.
    """
    return function(layer, batch)


@partial(jax.jit, static_argnums=(0, 1, 2))
def tile_compiled(
    layer: Layer,
    kinds: Kinds,
    symmetric: bool,
    batches: tuple[Batch, Batch],
    notes: tuple[Any, Any],
    starts: tuple[Array, Array],
) -> tuple[Array, ...]:
    """Kernels of a tile of pairs.

    Args:
        layer: The network.
        kinds: Which kernels.
        symmetric: Whether rows and columns are of one set of examples.
        batches: Examples of the tile along the rows, and along the columns.
        notes: What is known of either.
        starts: Number of the first row and column.

    Returns:
        One array a kind.
    """
    same = None
    if symmetric:
        i, j = (
            start + jnp.arange(batch.x.shape[0], dtype=start.dtype)
            for start, batch in zip(starts, batches, strict=True)
        )
        same = (i[:, None] == j[None]).astype(jnp.asarray(batches[0].x).dtype)
    return pairs_of(layer, kinds, batches, notes, same)


def cut_out(tree: PyTree, start: int, size: int) -> Any:
    """Some of the examples, on the device.

    Args:
        tree: Arrays along all examples, there or on the host.
        start: The first of them.
        size: How many.

    Returns:
        The same arrays along these examples.
    """

    def one(array):
        if isinstance(array, np.ndarray):
            return handed_over(array[start : start + size])
        return _slice(array, np.int32(start), size)

    return jax.tree.map(one, tree)


@partial(jax.jit, static_argnums=2)
def _slice(array: Array, start: Any, size: int) -> Array:
    return lax.dynamic_slice_in_dim(array, start, size)
