"""How many pairs of examples go through the network at once.

All layers run over one tile of pairs before the next tile is begun. On a CPU tiles are
small, so that covariances stay in cache from layer to layer; on an accelerator as large
as a share of its memory.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import jax

from .._jaxprs import body_of
from .._quantities import bytes_in_words
from ..kernels.planning import backend, free_memory
from .compiled import Kinds, notes_of, pairs_of
from .flow import Batch
from .layer import Layer

_TARGET = {"cpu": 5 * 2**17, "gpu": 2**30}  # bytes of the largest array of a tile
_CHUNK_TARGET = {"cpu": 2**24, "gpu": 2**30}  # the same of a chunk of examples
_SHARED = 128  # examples of a tile that serve as a chunk, too
_LARGEST = {"cpu": 1024, "gpu": 8192}  # rows and columns of a tile
_ARRAYS = 8  # arrays of the largest size that are there at once, at most
_DISK_TARGET = {"cpu": 2**34, "gpu": 2**40}  # the same bytes, for a tile on disk
_DISK_LARGEST = {"cpu": 2048, "gpu": 16384}


class Cuts(NamedTuple):
    """How a kernel is cut.

    Attributes:
        chunk: Examples that meet themselves at once.
        rows: Rows of a tile of pairs.
        columns: Columns of a tile.
        pair_bytes: Bytes of the largest array that belongs to one pair.
    """

    chunk: int
    rows: int
    columns: int
    pair_bytes: int


def cut(
    layer: Layer,
    kinds: Kinds,
    batches: tuple[Batch, Batch],
    memory: int | None,
    *,
    kept: bool,
) -> Cuts:
    """Decide on tiles that fit memory.

    Args:
        layer: The network.
        kinds: Which kernels.
        batches: Examples along the rows, and along the columns.
        memory: Bytes that may be used; a share of what is free by default.
        kept: Whether the result stays in memory; else it goes to disk.

    Returns:
        The cuts.

    Raises:
        ValueError: If not even one pair fits; says what would.
    """
    memory = free_memory() if memory is None else memory
    pair, own, noted = _sizes(layer, kinds, tuple(map(_outline, batches)))
    n, m = (batch.x.shape[0] for batch in batches)
    itemsize = batches[0].x.dtype.itemsize
    fixed = _fixed(batches, noted)
    fixed += len(kinds) * n * m * itemsize if kept else 0
    room = (memory - fixed) // _ARRAYS
    if room < max(pair, own):
        raise ValueError(
            f"This kernel does not fit {bytes_in_words(memory)}: "
            f"{bytes_in_words(fixed + _ARRAYS * max(pair, own))} are needed, of which "
            f"{bytes_in_words(fixed)} for examples, what is kept of them, and the "
            "result. Allow more with `memory=`, compute fewer samples at a time"
            + (", or write `nngp` or `ntk` to disk with `store=`." if kept else ".")
        )
    where = backend()
    pairs = max(1, min(_TARGET[where], room) // pair)
    side = min(math.isqrt(pairs), _LARGEST[where])
    columns = _even(m, side)
    rows = _even(n, min(pairs // columns, _LARGEST[where]))
    chunk = _even(max(n, m), max(1, min(_CHUNK_TARGET[where], room) // own))
    if _SHARED <= rows <= chunk:
        chunk = rows
    return Cuts(chunk, rows, columns, pair)


def needed_bytes(
    layer: Layer, kinds: Kinds, batches: tuple[Batch, Batch], cuts: Cuts
) -> int:
    """Bytes that a kernel takes which goes to disk, cut like this.

    Args:
        layer: The network.
        kinds: Which kernels.
        batches: Examples along the rows, and along the columns.
        cuts: How it is cut.

    Returns:
        The number of bytes; at most the `memory` that it was cut for.
    """
    pair, own, noted = _sizes(layer, kinds, tuple(map(_outline, batches)))
    largest = max(cuts.rows * cuts.columns * pair, cuts.chunk * own)
    return _fixed(batches, noted) + _ARRAYS * largest


def _fixed(batches: tuple[Batch, Batch], noted: int) -> int:
    """Bytes of examples, of their parts, and of what is kept of each."""
    different = {id(batch): batch for batch in batches}.values()
    examples = sum(map(_bytes, jax.tree.leaves(list(different))))
    return 2 * (examples + sum(batch.x.shape[0] for batch in different) * noted)


def disk_side(cuts: Cuts, longest: int) -> int:
    """Rows and columns of a tile on disk, which is done in minutes.

    Args:
        cuts: How the kernel is cut.
        longest: Number of examples.

    Returns:
        The side.
    """
    where = backend()
    side = math.isqrt(_DISK_TARGET[where] // cuts.pair_bytes)
    return _even(longest, max(1, min(side, _DISK_LARGEST[where])))


def _even(length: int, most: int) -> int:
    """Size of the parts when as few as possible, of at most so many, cover a length."""
    most = min(max(most, 1), length)
    return math.ceil(length / math.ceil(length / most))


Outline = tuple[tuple[tuple[int, ...], Any] | None, ...]
"""Shapes and dtypes of the parts of one example."""


def _outline(batch: Batch) -> Outline:
    return tuple(None if a is None else (a.shape[1:], a.dtype) for a in batch)


def _some(outline: Outline, count: int) -> Any:
    parts = [None if part is None else ((count, *part[0]), part[1]) for part in outline]
    structs: Any = [None if p is None else jax.ShapeDtypeStruct(*p) for p in parts]
    return Batch(*structs)


@lru_cache(maxsize=256)
def _sizes(
    layer: Layer, kinds: Kinds, outlines: tuple[Outline, Outline]
) -> tuple[int, int, int]:
    """Bytes of the largest array of a pair, of an example, and of its notes."""

    def traced(*counts: int) -> tuple[list[int], list[int], int]:
        some = tuple(map(_some, outlines, counts))
        notes = tuple(jax.eval_shape(lambda b: notes_of(layer, b), b) for b in some)
        pairs = jax.make_jaxpr(lambda b, n: pairs_of(layer, kinds, b, n, None))
        own = jax.make_jaxpr(lambda b: notes_of(layer, b))
        noted = sum(map(_bytes, jax.tree.leaves(notes[0])))
        return _array_sizes(pairs(some, notes)), _array_sizes(own(some[0])), noted

    # What belongs to pairs, and not to examples alone, grows with both sides. Sides of
    # one are left out: JAX writes products of such arrays down differently.
    (few, own, noted), (many, _, _) = traced(2, 3), traced(4, 9)
    pairs = [size for size, more in zip(few, many, strict=True) if more >= 6 * size]
    return max(pairs) // 6, max(own, default=2) // 2, noted // 2


def _bytes(array: Any) -> int:
    return math.prod(array.shape) * array.dtype.itemsize


def _array_sizes(traced: Any) -> list[int]:
    """Bytes of every array that a traced function makes on its way."""
    sizes = []
    for equation in body_of(traced).equations:
        sizes += [_bytes(v.aval) for v in equation.outvars if hasattr(v.aval, "dtype")]
        for part in equation.params.values():
            sizes += _array_sizes(part) if hasattr(part, "eqns") else []
    return sizes
