"""Runs a plan on an accelerator: features and the Gram matrix never leave it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..._progress import Advance
from ..._types import AnyArray
from ..features import Feature, Outer, Rows, Source, Values, sites_of
from ..packing import Pass
from ..planning import Plan, Problem
from ..planning import plan as make_plan
from ..reading.backward import Factors
from . import device, probing
from .compiling import call
from .device import Precision
from .filling import Filled, Side, run_network
from .forming import Later
from .layout import Layout
from .setting import Setting, settle
from .warming import compile_ahead

Sides = Callable[[Pass], tuple[Side, Side | None]]
"""What a pass has left of the examples along the rows, and of those along the columns,
None if these are the same."""


def side(
    source: Source,
    plan: Plan,
    problem: Problem,
    values: Values,
    precision: Precision,
    one: Pass,
    x: Sequence[AnyArray],
) -> Side:
    """Run the network on the examples along one side of a block.

    Args:
        source: The network.
        plan: What to do.
        problem: The computation; its size does not matter.
        values: Values of the parameters.
        precision: Of the products.
        one: A pass of the plan.
        x: Arrays of the examples.

    Returns:
        What the products of any block with these examples take.
    """
    n = len(x[0])
    alone = replace(problem, n=n, m=n, symmetric=True)
    setting = settle(source, plan, alone, precision)
    return _run_network(setting, one, setting.left, values, x)


def run(
    source: Source,
    plan: Plan,
    problem: Problem,
    values: Values,
    x: Sequence[Sequence[AnyArray]],
    precision: Precision,
    advance: Advance,
    sides: Sides | None = None,
) -> Array:
    """Compute a Gram matrix on the device.

    Args:
        source: The network.
        plan: What to do; its panel holds all examples.
        problem: The size of the computation.
        values: Values of the parameters.
        x: Arrays of the examples along the rows, and of those along the columns.
        precision: Of the products.
        advance: Told the number of pairs of examples done, times passes.
        sides: Has what `side` returns for the examples of this block; by default the
            network runs.

    Returns:
        The Gram matrix, `(n, m)`, or `(n, c, m, c)` in full.
    """
    setting = settle(source, plan, problem, precision)
    compile_ahead(setting, values, x)
    K = jnp.zeros((setting.left.rows, setting.right.rows), setting.dtype)
    sides = _computed(setting, values, x) if sides is None else sides
    K, alive, probed = _accumulate(K, setting, values, sides, advance)
    woken = [f for f in plan.idle if alive.intersection(sites_of(source, f))]
    if woken:  # zero in the first chunk, but not in all
        more = settle(
            source, make_plan(source, woken, problem, plan.memory), problem, precision
        )
        K, *_ = _accumulate(K, more, values, _computed(more, values, x), _ignore)
    block = setting.exact_block(setting.features + tuple(woken))
    exact = call(block, values, *probed, runs_once=True)
    K = _finish(K, setting)
    found, symmetric = _found_block(K, setting), problem.symmetric
    probing.judge(probing.error(found, exact, symmetric=symmetric), precision)
    return K


def _ignore(_: Any) -> None:
    pass


def _accumulate(
    K: Array, setting: Setting, values: Values, sides: Sides, advance: Advance
) -> tuple[Array, set[int], tuple[Factors | None, ...]]:
    """Add the products of all features.

    Args:
        K: The sum so far, whose memory is reused.
        setting: The plan and its arrays.
        values: Values of the parameters.
        sides: Has what each pass leaves of the examples.
        advance: Told the number of pairs of examples done, times passes.

    Returns:
        The sum, which idle sites were not zero, and factors of the probes along rows
        and columns.
    """
    problem, alive, probed = setting.problem, set(), ()
    for one in setting.passes:
        left, right = sides(one)
        right = right or left
        probed = probed or (left.probed, right.probed)
        left, right = left.filled, right.filled
        alive.update(np.asarray(setting.idle_sites)[np.asarray(left.alive)].tolist())
        K = _add_filled(K, setting, left, right)
        K.block_until_ready()
        later = [
            Later(setting.source, setting.kept_as, layout, values, filled.kept)
            for layout, filled in ((setting.left, left), (setting.right, right))
        ]
        del left, right
        for feature in one.later:
            K = _add_later(K, setting, feature, later)
            K.block_until_ready()
        advance(problem.n * problem.m)
    return K, alive, probed


def _computed(
    setting: Setting, values: Values, x: Sequence[Sequence[AnyArray]]
) -> Sides:
    """Both sides, by running the network."""

    def sides(one: Pass) -> tuple[Side, Side | None]:
        left = _run_network(setting, one, setting.left, values, x[0])
        if setting.problem.symmetric:
            return left, None
        return left, _run_network(setting, one, setting.right, values, x[1])

    return sides


def _run_network(
    setting: Setting,
    one: Pass,
    layout: Layout,
    values: Values,
    x: Sequence[AnyArray],
) -> Side:
    probes = setting.probes(layout) if one == setting.passes[0] else None
    return run_network(
        setting.source,
        one,
        setting.idle_sites,
        setting.kept_as,
        layout,
        values,
        x,
        probes,
    )


def _add_filled(K: Array, setting: Setting, left: Filled, right: Filled) -> Array:
    for R, S in zip(left.slabs, right.slabs, strict=True):
        K = _add_rows(K, setting, R, S)
    for a, b in zip(left.pairs, right.pairs, strict=True):
        K = _add_outer(K, setting, a, b)
    return K


def _add_later(
    K: Array, setting: Setting, feature: Feature, later: list[Later]
) -> Array:
    left, right = later
    symmetric = setting.problem.symmetric
    if isinstance(feature, Outer):
        pair = left.pair(feature)
        return _add_outer(K, setting, pair, pair if symmetric else right.pair(feature))
    assert isinstance(feature, Rows)
    if symmetric:
        for slabs in left.slices(feature):
            for R in slabs:
                K = _add_rows(K, setting, R, R)
        return K
    for ours, theirs in zip(left.slices(feature), right.slices(feature), strict=True):
        for R, S in zip(ours, theirs, strict=True):
            K = _add_rows(K, setting, R, S)
    return K


def _add_rows(K: Array, setting: Setting, R: Array, S: Array) -> Array:
    tile, pairs = setting.tiling()
    return call(device.rows_adder(tile, setting.precision), K, R, S, pairs)


def _add_outer(K: Array, setting: Setting, a: list[Array], b: list[Array]) -> Array:
    tile, pairs = setting.tiling(a[0].shape[2])
    return call(device.outer_adder(tile, setting.precision), K, a, b, pairs)


def _finish(K: Array, setting: Setting) -> Array:
    """The whole matrix of the lower triangle, without what was added to fill tiles."""
    problem, left, right = setting.problem, setting.left, setting.right
    if problem.symmetric:
        (side, _), pairs = setting.tiling()
        K = call(device.mirror(side), K, pairs)
    n, m = problem.n * left.each, problem.m * right.each
    K = K if K.shape == (n, m) else K[:n, :m]
    return K.reshape(problem.n, left.each, problem.m, right.each) if problem.full else K


def _found_block(K: Array, setting: Setting) -> Array:
    """The block of the probes in the result."""
    rows, columns = (setting.probes(s) for s in (setting.left, setting.right))
    if setting.problem.full:
        return K[rows][:, :, columns]
    return K[rows][:, columns]
