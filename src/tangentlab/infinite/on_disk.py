"""Kernels that go to a folder, tile by tile, as those of `tl.gram` do."""

from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import numpy as np

from .._aside import remove_leftovers
from .._hashing import hash_parts, hash_traced
from .._progress import Advance
from ..cluster.fitness import versions
from ..kernels import host
from ..kernels.planning import backend
from ..kernels.request import Request
from ..kernels.tiled.folder import check_store
from ..kernels.tiled.manifest import Manifest
from ..kernels.tiled.producing import begin, fill_folder
from ..kernels.tiled.tiled_gram import TiledGram
from ..kernels.tiled.tiles import Place
from .calls import Examples
from .compiled import Kinds, notes_of, pairs_of
from .cutting import Cuts, cut, disk_side, needed_bytes
from .evaluating import check_finite, prepare
from .layer import Layer
from .running import Problem, Side, Told, both_sides, run_tiles


class KernelMaker:
    """Computes tiles of a kernel of infinite width, by the plan of their folder."""

    passes = 1
    kept = 1
    feature_bytes = 0

    def __init__(
        self,
        problem: Problem,
        request: Request,
        folder: Path,
        hashes: dict[str, str] | None = None,
    ):
        """Begin a folder, or read the plan of one that was begun.

        Args:
            problem: What is to be computed.
            request: Precision and memory.
            folder: Where to, checked.
            hashes: Its fingerprint, if that is known.
        """
        hashes = fingerprint(problem) if hashes is None else hashes

        def manifest(plan: dict[str, Any]) -> Manifest:
            return Manifest(
                shape=problem.shape,
                symmetric=problem.symmetric,
                dtype=str(problem.batches[0].x.dtype),
                precision=request.precision,
                backend=backend(),
                fingerprint=hashes,
                made_by=versions(),
                plan=plan,
            )

        def plan() -> dict[str, Any]:
            layer, kinds, batches = problem.layer, problem.kinds, problem.batches
            cuts = cut(layer, kinds, batches, request.memory, kept=False)
            needed = needed_bytes(layer, kinds, batches, cuts)
            side = disk_side(cuts, max(problem.shape))
            return {"panel": side, "needed": needed, **cuts._asdict()}

        self.manifest = begin(folder, manifest, plan)
        self._problem = problem
        self._cuts = Cuts(**{name: self.manifest.plan[name] for name in Cuts._fields})

    @cached_property
    def _sides(self) -> tuple[Side, Side]:  # looked at when the first tile needs them
        return both_sides(self._problem, self._cuts)

    def compute(self, place: Place, advance: Advance) -> np.ndarray:
        """Compute a tile.

        Args:
            place: Which one.
            advance: Told the number of pairs of examples done.

        Returns:
            Its entries.
        """
        return _tile(self._problem, self._cuts, self._sides, place, advance)


def store_kernel(
    layer: Layer,
    kinds: Kinds,
    x_1: Examples,
    x_2: Examples | None,
    request: Request,
    folder: Path,
) -> TiledGram:
    """Compute one kernel into a folder, or what is missing there.

    Args:
        layer: The network.
        kinds: Which kernel.
        x_1: Examples along the rows.
        x_2: Examples along the columns; None if they are the same.
        request: Precision, memory and progress.
        folder: Where to.

    Returns:
        The kernel on disk.
    """
    check_store(folder, (x_1, x_2))
    remove_leftovers(folder)
    with request.context():
        problem = prepare(layer, kinds, x_1, x_2, request)
        maker = KernelMaker(problem, request, folder)
        return fill_folder(maker, folder, progress=request.progress)


def _tile(
    problem: Problem,
    cuts: Cuts,
    sides: tuple[Side, Side],
    place: Place,
    advance: Advance,
) -> np.ndarray:
    """A tile on disk, of many small ones; the whole square on the diagonal."""
    rows, columns = place
    made = np.zeros(place.shape, problem.batches[0].x.dtype)
    square = problem.symmetric and rows == columns
    told = Told(advance, made.size, mirrored=square)
    for tile in run_tiles(problem, cuts, sides, place):
        i = slice(tile.rows.start - rows.start, tile.rows.stop - rows.start)
        j = slice(tile.columns.start - columns.start, tile.columns.stop - columns.start)
        made[i, j] = tile.values[0]
        told.tile(tile)
    if square:
        host.mirror(made)
        own = sides[0].diagonals(rows)
        if problem.kinds[0] in own:
            np.fill_diagonal(made, own[problem.kinds[0]])
    check_finite(made, (rows.start, columns.start), problem)
    told.rest()
    return made


def fingerprint(problem: Problem) -> dict[str, str]:
    """Hash what a kernel is computed of.

    Args:
        problem: What is to be computed.

    Returns:
        Hashes by what they are of.
    """
    layer, kinds = problem.layer, problem.kinds
    first, second = problem.batches

    def one(batches):
        notes = [notes_of(layer, batch) for batch in batches]
        return pairs_of(layer, kinds, batches, (notes[0], notes[1]), None)

    ones = jax.tree.map(
        lambda a: jax.ShapeDtypeStruct((1, *a.shape[1:]), a.dtype), (first, second)
    )
    return {
        "network": hash_traced(jax.make_jaxpr(one)(ones)),
        "kernel": hash_parts(*kinds),
        "x_1": hash_parts(*jax.tree.leaves(first)),
        "x_2": "" if problem.symmetric else hash_parts(*jax.tree.leaves(second)),
    }
