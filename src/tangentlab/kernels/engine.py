"""Runs a plan: pair by pair of panels, on the CPU or on an accelerator."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from .._linalg import blocks
from .._progress import Advance
from .._types import AnyArray
from . import host
from .accelerated import accelerator
from .accelerated.device import Precision
from .features import Feature, Source, Values
from .host_side import HostSide, compile_sides, host_side, sharing_features
from .packing import Pass
from .panels import Panels, Share
from .planning import Plan, Problem, backend
from .planning import plan as make_plan
from .traced import energies, leaf_of


class Block(NamedTuple):
    """A finished block of the Gram matrix, summed over all parameters.

    Attributes:
        rows: Examples along the rows.
        columns: Examples along the columns.
        values: Its entries, `(rows, columns)`, or `(rows, c, columns, c)` in full.
    """

    rows: slice
    columns: slice
    values: Any


class Job(NamedTuple):
    """A computation: a network, a plan and the examples.

    Attributes:
        source: The network.
        values: Values of the parameters.
        plan: What to do.
        problem: The size of the computation.
        x_1: Arrays of the examples along the rows.
        x_2: Arrays of the examples along the columns.
        precision: Of the products on an accelerator.
    """

    source: Source
    values: Values
    plan: Plan
    problem: Problem
    x_1: Sequence[AnyArray]
    x_2: Sequence[AnyArray]
    precision: Precision


def panel_pairs(problem: Problem, panel: int) -> list[tuple[slice, slice]]:
    """Pairs of panels that cover a Gram matrix, or its lower triangle.

    Args:
        problem: The size of the computation.
        panel: Examples in a panel.

    Returns:
        Rows and columns of each block.
    """
    return [
        (rows, columns)
        for rows in blocks(problem.n, panel)
        for columns in blocks(problem.m, panel)
        if not problem.symmetric or columns.start <= rows.start
    ]


def run(
    job: Job,
    pairs: Iterable[tuple[slice, slice]],
    advance: Advance,
    kept: int = 1,
    share: Share | None = None,
) -> Iterator[Block]:
    """Compute blocks of a Gram matrix; none depends on which others are asked for.

    Args:
        job: The computation.
        pairs: Which blocks, from `panel_pairs`.
        advance: Told the number of pairs of examples done, times passes.
        kept: Panels along the rows whose features stay in memory, beside one along the
            columns, where one pass computes all features.
        share: Where other processes look for these features, too, on a CPU; not with
            features that are taken for zero.

    Yields:
        Each block when it is finished.
    """
    on_host, plan = backend() == "cpu", job.plan
    again = plan.panel < max(job.problem.n, job.problem.m)
    again = again and (on_host or not plan.idle)
    x_1, x_2 = (  # slices of numpy arrays are no copies
        [np.asarray(a) for a in x] if on_host else x for x in (job.x_1, job.x_2)
    )
    panels = Panels(
        partial(_host_side if on_host else _side, job),
        (x_1, x_2),
        symmetric=job.problem.symmetric,
        group=kept * plan.panel if again and len(plan.passes) == 1 else 0,
        share=sharing_features(share) if share else None,
    )
    compute = _on_host if on_host else _on_accelerator
    for rows, columns in pairs:
        same = job.problem.symmetric and rows == columns
        n, m = rows.stop - rows.start, columns.stop - columns.start
        part = replace(job.problem, n=n, m=m, symmetric=same)
        yield Block(rows, columns, compute(job, part, panels, (rows, columns), advance))


def compile_features(job: Job) -> None:
    """Compile what computes features on a CPU, before the first block is asked for.

    Args:
        job: The computation.
    """
    compile_sides(job.source, job.values, job.plan, job.x_1)


def _on_host(
    job: Job,
    part: Problem,
    panels: Panels,
    pair: tuple[slice, slice],
    advance: Advance,
) -> np.ndarray:
    c = part.num_outputs
    shape = (part.n, c, part.m, c) if part.full else (part.n, part.m)
    K = host.zeros(shape, np.float64 if part.itemsize == 8 else np.float32)
    woken: set[Feature] = set()
    for features in job.plan.passes:
        left, right = panels.pair(features, *pair)
        host.add_products(K, left.features, None if right is None else right.features)
        woken |= left.awake & (left if right is None else right).awake
        advance(part.n * part.m)
    if woken:
        _add_woken(K, job, part, pair, [f for f in job.plan.idle if f in woken])
    if part.symmetric:
        side = part.n * (c if part.full else 1)
        host.mirror(K.reshape(side, side))
    return K


def _add_woken(
    K: np.ndarray,
    job: Job,
    part: Problem,
    pair: tuple[slice, slice],
    woken: Sequence[Feature],
) -> None:
    """Add features that were taken for zero, to the lower triangle at least."""
    rows, columns = pair
    made = make_plan(job.source, woken, part, job.plan.needed)
    x_1, x_2 = [a[rows] for a in job.x_1], [a[columns] for a in job.x_2]
    more = job._replace(plan=made, problem=part, x_1=x_1, x_2=x_2)
    for down, across, values in run(more, panel_pairs(part, made.panel), _ignore):
        K[(down, slice(None), across) if part.full else (down, across)] += values


def _ignore(_: Any) -> None:
    pass


def _host_side(job: Job, one: tuple[Feature, ...], x: Sequence[AnyArray]) -> HostSide:
    return host_side(job.source, job.values, job.plan, one, x)


def _side(job: Job, one: Pass, x: Sequence[AnyArray]) -> accelerator.Side:
    common = job.source, job.plan, job.problem, job.values, job.precision
    return accelerator.side(*common, one, x)


def _on_accelerator(
    job: Job,
    part: Problem,
    panels: Panels,
    pair: tuple[slice, slice],
    advance: Advance,
) -> Array:
    rows, columns = pair
    x = [[a[rows] for a in job.x_1], [a[columns] for a in job.x_2]]
    common = job.source, job.plan, part, job.values, x, job.precision
    return accelerator.run(*common, advance, lambda one: panels.pair(one, *pair))


def by_leaf(job: Job) -> dict[int, np.ndarray]:
    """Gram matrices of single leaves.

    Args:
        job: The computation, each of whose features belongs to one leaf and is formed
            in a pass.

    Returns:
        Gram matrices by leaf.
    """
    problem, parts = job.problem, {}
    dtype = np.float64 if problem.itemsize == 8 else np.float32
    for features in job.plan.passes:
        left = _host_side(job, features, list(job.x_1)).features
        right = None
        if not problem.symmetric:
            right = _host_side(job, features, list(job.x_2)).features
        for i, feature in enumerate(features):
            zeros = host.zeros((problem.n, problem.m), dtype)
            K = parts.setdefault(leaf_of(feature), zeros)
            other = None if right is None else right[i : i + 1]
            host.add_products(K, left[i : i + 1], other)
    for K in parts.values():
        if problem.symmetric:
            host.mirror(K)
    return parts


def diagonal(job: Job) -> np.ndarray:
    """Diagonal of the Gram matrix, chunk by chunk.

    Args:
        job: The computation.

    Returns:
        One number per example.
    """
    function = _energies(job.source, job.plan.features)
    n, chunk = job.problem.n, job.plan.chunk
    made = np.empty(n, np.float64 if job.problem.itemsize == 8 else np.float32)
    for start in range(0, n, chunk):
        at = max(0, min(start, n - chunk))
        batch = [jnp.asarray(a[at : at + chunk]) for a in job.x_1]
        made[at : at + chunk] = function(job.values, batch)
    return made


@lru_cache(maxsize=32)
def _energies(source: Source, features: tuple[Feature, ...]) -> Any:
    return jax.jit(lambda values, x: energies(source, features, values, x))
