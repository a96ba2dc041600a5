"""Running over tiles of pairs, and over chunks of single examples."""

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array

from .._linalg import blocks
from .._progress import Advance
from .compiled import Kinds, chunk_compiled, singles_of, tile_compiled
from .cutting import Cuts
from .flow import Batch
from .layer import Layer

_AHEAD = 4  # tiles that are computed while an older one is put in its place


class Problem(NamedTuple):
    """Kernels that are wanted.

    Attributes:
        layer: The network.
        kinds: Which kernels.
        batches: Examples along the rows, and along the columns.
        symmetric: Whether both are the same.
    """

    layer: Layer
    kinds: Kinds
    batches: tuple[Batch, Batch]
    symmetric: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        first, second = self.batches
        return first.x.shape[0], second.x.shape[0]

    @property
    def traced(self) -> bool:
        """Whether the examples have no values yet."""
        return any(isinstance(a, Tracer) for a in jax.tree.leaves(self.batches))


class Tile(NamedTuple):
    """Finished entries.

    Attributes:
        rows: Examples along the rows.
        columns: Examples along the columns.
        values: One array a kind.
    """

    rows: slice
    columns: slice
    values: list[np.ndarray]


class Singles(NamedTuple):
    """What is known of single examples.

    Attributes:
        notes: What pairs will have to know, of rows and of columns.
        diagonals: Kernels of each row with itself by kind, better than a pair of equal
            examples gives them; empty where they are not known.
    """

    notes: tuple[Any, Any]
    diagonals: dict[str, np.ndarray]


def all_singles(problem: Problem, cuts: Cuts) -> Singles:
    """Look at single examples, chunk by chunk.

    Args:
        problem: The kernels.
        cuts: How they are cut.

    Returns:
        What is known of them.
    """
    first, second = problem.batches
    notes, own = in_chunks(singles_of, problem.layer, first, cuts.chunk)
    if not problem.symmetric:
        others, _ = in_chunks(singles_of, problem.layer, second, cuts.chunk)
        return Singles((notes, others), {})
    kinds = {} if own is None else dict(zip(("nngp", "ntk"), own, strict=True))
    diagonals = {kind: np.asarray(values) for kind, values in kinds.items()}
    return Singles((notes, notes), diagonals)


def in_chunks(function: Any, layer: Layer, batch: Batch, chunk: int) -> Any:
    """Compute something for each example, chunk by chunk.

    Args:
        function: Of the network and some examples; returns arrays along these.
        layer: The network.
        batch: The examples.
        chunk: How many at once.

    Returns:
        Arrays along all examples.
    """
    n = len(batch.x)
    chunk = min(chunk, n)
    parts = []
    for rows in blocks(n, chunk):
        start = min(rows.start, n - chunk)  # the last chunk is moved back to be full
        made = chunk_compiled(function, layer, chunk, batch, jnp.int32(start))
        if start < rows.start:
            made = jax.tree.map(lambda a, k=rows.start - start: a[k:], made)
        parts.append(made)
    if len(parts) == 1:
        return parts[0]
    return jax.tree.map(lambda *each: jnp.concatenate(each), *parts)


def run_tiles(
    problem: Problem, cuts: Cuts, notes: tuple[Any, Any], within: tuple[slice, slice]
) -> Iterator[Tile]:
    """Compute tiles that cover a part of the kernels, or its lower triangle.

    Args:
        problem: The kernels.
        cuts: How they are cut.
        notes: What is known of single examples.
        within: Rows and columns of the part.

    Yields:
        Each tile when it is finished.
    """
    sizes = cuts.rows, cuts.columns
    running: deque[tuple[tuple[slice, slice], tuple[int, int], Any]] = deque()
    for place in _places(within, sizes, symmetric=problem.symmetric):
        starts = tuple(
            min(part.start, total - size)
            for part, total, size in zip(place, problem.shape, sizes, strict=True)
        )
        values = tile_compiled(
            problem.layer,
            problem.kinds,
            sizes,
            problem.symmetric,
            problem.batches,
            notes,
            tuple(map(jnp.int32, starts)),
        )
        running.append((place, starts, values))
        if len(running) > _AHEAD:
            yield _finished(*running.popleft())
    while running:
        yield _finished(*running.popleft())


def _places(
    within: tuple[slice, slice], sizes: tuple[int, int], *, symmetric: bool
) -> Iterator[tuple[slice, slice]]:
    down, across = within
    for i in blocks(down.stop - down.start, sizes[0]):
        rows = slice(down.start + i.start, down.start + i.stop)
        for j in blocks(across.stop - across.start, sizes[1]):
            columns = slice(across.start + j.start, across.start + j.stop)
            if not symmetric or columns.start < rows.stop:
                yield rows, columns


def _finished(
    place: tuple[slice, slice], starts: tuple[int, int], values: tuple[Array, ...]
) -> Tile:
    """Wait for a tile, and take what belongs to its place."""
    i, j = (
        slice(part.start - start, part.stop - start)
        for part, start in zip(place, starts, strict=True)
    )
    return Tile(*place, [np.asarray(each)[i, j] for each in values])


class Told:
    """Tells a progress bar of tiles, up to a total."""

    def __init__(self, advance: Advance, total: int, *, mirrored: bool):
        """Nothing is told yet.

        Args:
            advance: Moves the bar by so many pairs.
            total: Pairs in all.
            mirrored: Whether tiles below the diagonal stand for those above, too.
        """
        self._advance, self._left, self._mirrored = advance, total, mirrored

    def tile(self, tile: Tile) -> None:
        """Tell of a tile.

        Args:
            tile: It is finished.
        """
        twice = self._mirrored and tile.columns.stop <= tile.rows.start
        self._tell(tile.values[0].size * (2 if twice else 1))

    def rest(self) -> None:
        """Tell of everything that is left."""
        self._tell(self._left)

    def _tell(self, pairs: int) -> None:
        pairs = min(pairs, self._left)
        self._left -= pairs
        self._advance(pairs)
