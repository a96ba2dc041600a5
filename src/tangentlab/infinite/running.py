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
from .compiled import Kinds, chunk_compiled, cut_out, singles_of, tile_compiled
from .cutting import Cuts
from .flow import Batch
from .layer import Layer
from .roughness import warn_if_rough

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


class Side:
    """Examples of one side in parts, and what is known of them, found when needed."""

    def __init__(self, layer: Layer, kinds: Kinds, batch: Batch, size: int, chunk: int):
        """Nothing is known yet.

        Args:
            layer: The network.
            kinds: Which kernels are wanted of pairs.
            batch: All examples.
            size: Examples of a part.
            chunk: Examples that meet themselves at once.
        """
        self._layer, self._kinds, self._batch = layer, kinds, batch
        self._size, self._chunk = size, chunk
        self._parts: dict[int, tuple[Batch, Any, Any]] = {}
        self._warned = False

    def at(self, start: int) -> tuple[Batch, Any]:
        """A part.

        Args:
            start: Its first example.

        Returns:
            The examples, and what pairs will have to know of them.
        """
        return self._part(start)[:2]

    def diagonals(self, some: slice) -> dict[str, np.ndarray]:
        """Kernels of each example with itself, better than a pair of equals gives them.

        Args:
            some: Which examples, from the first of a part on.

        Returns:
            An array a kind; nothing where they would take pairs of positions.
        """
        found: dict[str, list[np.ndarray]] = {}
        for rows in blocks(some.stop - some.start, self._size):
            first = some.start + rows.start
            start = min(first, len(self._batch.x) - self._size)
            own = self._part(start)[2]
            if own is None:
                return {}
            wanted = slice(first - start, some.start + rows.stop - start)
            for kind, values in zip(("nngp", "ntk"), own, strict=True):
                found.setdefault(kind, []).append(np.asarray(values)[wanted])
        return {kind: np.concatenate(parts) for kind, parts in found.items()}

    def _part(self, start: int) -> tuple[Batch, Any, Any]:
        if start not in self._parts:
            batch = cut_out(self._batch, start, self._size)
            found = in_chunks(singles_of, self._layer, batch, self._chunk)
            self._parts[start] = (batch, *found)
            if not self._warned:  # once, not for each part
                self._warned = warn_if_rough(self._layer, found[0], self._kinds)
        return self._parts[start]


def both_sides(problem: Problem, cuts: Cuts) -> tuple[Side, Side]:
    """Examples along the rows, and along the columns.

    Args:
        problem: The kernels.
        cuts: How they are cut.

    Returns:
        Two sides; one and the same where they have the same parts.
    """
    sizes = cuts.rows, cuts.columns
    first, second = (
        Side(problem.layer, problem.kinds, batch, size, cuts.chunk)
        for batch, size in zip(problem.batches, sizes, strict=True)
    )
    same = problem.symmetric and cuts.rows == cuts.columns
    return first, first if same else second


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
    if chunk >= n:
        return chunk_compiled(function, layer, batch)
    parts = []
    for rows in blocks(n, chunk):
        start = min(rows.start, n - chunk)  # the last chunk is moved back to be full
        made = chunk_compiled(function, layer, cut_out(batch, start, chunk))
        if start < rows.start:
            made = jax.tree.map(lambda a, k=rows.start - start: a[k:], made)
        parts.append(made)
    return jax.tree.map(lambda *each: jnp.concatenate(each), *parts)


def run_tiles(
    problem: Problem, cuts: Cuts, sides: tuple[Side, Side], within: tuple[slice, slice]
) -> Iterator[Tile]:
    """Compute tiles that cover a part of the kernels, or its lower triangle.

    Args:
        problem: The kernels.
        cuts: How they are cut.
        sides: Examples along the rows, and along the columns.
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
        batches, notes = zip(*map(Side.at, sides, starts), strict=True)
        values = tile_compiled(
            problem.layer,
            problem.kinds,
            problem.symmetric,
            batches,
            notes,
            tuple(map(np.int32, starts)),
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
