"""Kernels of a network on sets of examples: checks, tiles, results."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._checks import batch_size, check_known
from .._progress import progress_bar
from ..kernels import host
from ..kernels.request import Request
from .calls import Examples
from .combining import Serial
from .compiled import Kinds, diagonals_of, notes_of, pairs_of
from .cutting import cut
from .flow import Batch, as_batch
from .layer import Layer, LinearLayer
from .running import Problem, Told, both_sides, in_chunks, run_tiles
from .signal import Signal


def evaluate(
    layer: Layer, kinds: Kinds, x_1: Examples, x_2: Examples | None, request: Request
) -> tuple[Array, ...]:
    """Kernels between two sets of examples, in memory.

    Args:
        layer: The network.
        kinds: Which kernels.
        x_1: Examples along the rows.
        x_2: Examples along the columns; None if they are the same.
        request: Precision, memory and progress.

    Returns:
        One Gram matrix a kind.
    """
    with request.context():
        problem = prepare(layer, kinds, x_1, x_2, request)
        n, m = problem.shape
        rest = problem.layer  # what is left where inputs went through the first layers
        if problem.traced:
            notes_1, notes_2 = (notes_of(rest, batch) for batch in problem.batches)
            dtype = problem.batches[0].x.dtype
            same = jnp.eye(n, dtype=dtype) if problem.symmetric else None
            return pairs_of(rest, kinds, problem.batches, (notes_1, notes_2), same)
        cuts = cut(rest, kinds, problem.batches, request.memory, kept=True)
        sides = both_sides(problem, cuts)
        made = [host.zeros((n, m), problem.batches[0].x.dtype) for _ in kinds]
        with progress_bar("Kernel", n * m, show=request.progress, unit="pairs") as bar:
            told = Told(bar, n * m, mirrored=problem.symmetric)
            whole = slice(0, n), slice(0, m)
            for tile in run_tiles(problem, cuts, sides, whole):
                for K, values in zip(made, tile.values, strict=True):
                    K[tile.rows, tile.columns] = values
                told.tile(tile)
            told.rest()
        own = sides[0].diagonals(whole[0]) if problem.symmetric else {}
        for kind, K in zip(kinds, made, strict=True):
            if problem.symmetric:
                host.mirror(K)
            if kind in own:
                np.fill_diagonal(K, own[kind])
            check_finite(K, (0, 0), problem)
        return tuple(jax.device_put(K) for K in made)


def prepare(
    layer: Layer, kinds: Kinds, x_1: Examples, x_2: Examples | None, request: Request
) -> Problem:
    """Check what is asked for.

    Args:
        layer: The network.
        kinds: Which kernels.
        x_1: Examples along the rows.
        x_2: Examples along the columns; None if they are the same.
        request: Precision, memory and progress.

    Returns:
        The problem.

    Raises:
        ValueError: If examples are not alike, or outputs of the network have positions.
    """
    check_known("precision", request.precision, ("float32", "float64"))
    request.check()
    named = {"x_1": x_1} | ({} if x_2 is None else {"x_2": x_2})
    batches = [as_batch(name, request.cast(x)) for name, x in named.items()]
    for name, batch in zip(named, batches, strict=True):
        batch_size(name, batch)
    first, second = batches[0], batches[-1]
    alike = [(b.x.shape[1:], b.x.dtype, b.graph is None) for b in (first, second)]
    if alike[0] != alike[1]:
        raise ValueError(
            "`x_1` and `x_2` must hold examples of one shape and dtype, both with a "
            f"graph or both without; got {alike[0][:2]} and {alike[1][:2]}."
        )
    check_network(layer, tuple(first.x.shape[1:]))
    layer, batches = _applied(layer, batches)
    return Problem(layer, kinds, (batches[0], batches[-1]), x_2 is None)


def _applied(layer: Layer, batches: list[Batch]) -> tuple[Layer, list[Batch]]:
    """Apply fixed maps at the start of a network to the inputs themselves."""
    while isinstance(layer, Serial):
        first, rest = layer.layers[0], layer.layers[1:]
        if isinstance(first, Serial):
            layer = Serial((*first.layers, *rest))
        elif isinstance(first, LinearLayer) and first.fixed and rest:
            batches = [first.forward((), batch) for batch in batches]
            layer = Serial(rest)
        else:
            break
    return layer, batches


def check_network(layer: Layer, input_shape: tuple[int, ...]) -> None:
    """Refuse a network that has no kernel between examples.

    Args:
        layer: The network.
        input_shape: Shape of one input.

    Raises:
        ValueError: If outputs have positions.
    """
    after = layer.signal(Signal(input_shape))
    if after.rank:
        raise ValueError(
            f"The outputs of this network have shape {after.shape} for one input of "
            f"shape {input_shape}, so that there is no single kernel between two "
            "examples: end it with Flatten(), GlobalAvgPool() or Slice(...)."
        )


def check_finite(K: np.ndarray, first: tuple[int, int], problem: Problem) -> None:
    """Refuse a kernel that is not finite, and say which examples are to blame.

    Args:
        K: Entries of a kernel.
        first: Number of their first row and column.
        problem: The kernels.

    Raises:
        ValueError: If an entry is NaN or infinite.
    """
    if np.isfinite(K.sum()):  # then its terms are too
        return
    bad = ~np.isfinite(K)
    if not bad.any():
        return
    other = "x_1" if problem.symmetric else "x_2"
    whole = np.flatnonzero(bad.all(1))
    i, j = np.argwhere(bad)[0] + first
    where = f"example {i} of `x_1` with example {j} of `{other}`"
    if len(whole):
        where = f"example {whole[0] + first[0]} of `x_1` ({len(whole)} such examples)"
    raise ValueError(
        f"The kernel is NaN or infinite for {where}: look for it there. Values that "
        "grow beyond the largest number of their dtype become infinite, too: scale "
        'inputs, lower `weight_std`, or use precision="float64".'
    )


def diagonals(layer: Layer, x: Examples, request: Request) -> tuple[Array, Array]:
    """Both kernels of each example with itself.

    Args:
        layer: The network.
        x: The examples.
        request: The precision.

    Returns:
        Two arrays `(n,)`.
    """
    with request.context():
        problem = prepare(layer, ("nngp", "ntk"), x, None, request)
        rest, batch = problem.layer, problem.batches[0]
        if problem.traced:
            return diagonals_of(rest, batch)
        cuts = cut(rest, problem.kinds, problem.batches, request.memory, kept=False)
        return in_chunks(diagonals_of, rest, batch, cuts.chunk)
