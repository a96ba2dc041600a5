"""Runs a plan on an accelerator: features and the Gram matrix never leave it."""

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from ..._progress import Advance
from ..._types import AnyArray
from ..features import Feature, Outer, Rows, Source, Values
from ..packing import Pass
from ..planning import Plan, Problem
from ..planning import plan as make_plan
from ..reading.backward import Factors
from . import device, probing
from .compiling import call
from .device import Precision
from .filling import Filled, run_network, sites_of
from .forming import Later
from .setting import Setting, settle
from .warming import compile_ahead


def run(
    source: Source,
    plan: Plan,
    problem: Problem,
    values: Values,
    x: Sequence[Sequence[AnyArray]],
    precision: Precision,
    advance: Advance,
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

    Returns:
        The Gram matrix, `(n, m)`, or `(n, c, m, c)` in full.
    """
    setting = settle(source, plan, problem, precision)
    compile_ahead(setting, values, x)
    K = jnp.zeros((setting.left.rows, setting.right.rows), setting.dtype)
    looked: list[Factors] = []

    def look(made: Factors) -> None:
        looked.append(call(probing.some_of, made, setting.probes))

    K, alive = _accumulate(K, setting, values, x, look, advance)
    woken = [f for f in plan.idle if alive.intersection(sites_of(source, f))]
    if woken:  # zero in the first chunk, but not in all
        more = settle(
            source, make_plan(source, woken, problem, plan.memory), problem, precision
        )
        K, _ = _accumulate(K, more, values, x, _ignore, _ignore)
    block = setting.exact_block(setting.features + tuple(woken))
    exact = call(block, values, looked[0], looked[-1], runs_once=True)
    K = _finish(K, setting)
    probing.judge(probing.error(_found_block(K, setting), exact), precision)
    return K


def _ignore(_: Any) -> None:
    pass


def _accumulate(
    K: Array,
    setting: Setting,
    values: Values,
    x: Sequence[Sequence[AnyArray]],
    look: Callable[[Factors], None],
    advance: Advance,
) -> tuple[Array, set[int]]:
    """Add the products of all features; says which idle sites were not zero."""
    problem, alive = setting.problem, set()
    for number, one in enumerate(setting.passes):
        left, right = _run_network(
            setting, one, values, x, look if not number else _ignore
        )
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
    return K, alive


def _run_network(setting: Setting, one: Pass, values, x, look) -> tuple[Filled, Filled]:
    source, kept_as = setting.source, setting.kept_as
    left = run_network(
        source, one, setting.idle_sites, kept_as, setting.left, values, x[0], look
    )
    if setting.problem.symmetric:
        return left, left
    return left, run_network(
        source, one, (), kept_as, setting.right, values, x[1], look
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
    where = jnp.asarray(setting.probes)
    if setting.problem.full:
        return K[where][:, :, where]
    return K[where][:, where]
