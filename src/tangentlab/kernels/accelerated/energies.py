r"""Energies $\|J^\top v\|^2 = v^\top K v$ on an accelerator, without a Gram matrix.

Slabs of gradients of all examples are formed as for a Gram matrix, but meet targets in
place of one another: $n k$ multiply-adds a parameter in place of $n^2 / 2$, and the
squares of what comes out are all that is kept.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from ..._progress import Advance
from ..._types import AnyArray
from ..features import Rows, Source, Values, sites_of
from ..planning import Plan, Problem
from ..planning import plan as make_plan
from ..reading.backward import Factors
from . import probing
from .compiling import ahead, call
from .device import Precision, contract_rows, starts
from .filling import run_network
from .forming import Later
from .layout import empty_slabs
from .placing import operand
from .setting import Setting, settle
from .warming import compile_side


class Targets(NamedTuple):
    """What gradients are summed with.

    Attributes:
        groups: Targets that are zero outside a group of examples, `(rows, k)` as
            operands of products, for each group; with `fast` in two halves, since what
            rounding takes from labels of two values does not cancel.
        tiles: First and last tile of rows that a group touches.
        probe: Those of the examples on which the result is compared.
        width: How many targets there are.
    """

    groups: list[Array]
    tiles: tuple[tuple[int, int], ...]
    probe: Array
    width: int


class _Job(NamedTuple):
    """A plan, laid out, and what it is applied to."""

    setting: Setting
    values: Values
    x: Sequence[AnyArray]
    targets: Targets
    advance: Advance


def energies(
    source: Source,
    plan: Plan,
    problem: Problem,
    values: Values,
    x: Sequence[AnyArray],
    precision: Precision,
    v: np.ndarray,
    groups: Sequence[slice],
    advance: Advance,
) -> np.ndarray:
    """Squared norms of gradients summed with targets.

    Args:
        source: The network.
        plan: What to do, without features in pairs; its panel holds all examples.
        problem: The size of the computation.
        values: Values of the parameters.
        x: Arrays of the examples.
        precision: Of the products.
        v: Targets as columns, `(n, k)`.
        groups: Runs of examples that cover all of them, once each.
        advance: Told the number of examples done, for each pass.

    Returns:
        Energies of all examples, then of each group alone, `(1 + groups, k)`.
    """
    setting = settle(source, plan, problem, precision)
    targets = _targets(setting, v, groups)
    _compile_ahead(setting, values, x, targets)
    job = _Job(setting, values, x, targets, advance)
    total = jnp.zeros((len(groups) + 2, v.shape[1]), setting.dtype)
    total, alive, probed = _accumulate(total, job)
    woken = [f for f in plan.idle if alive.intersection(sites_of(source, f))]
    if woken:  # zero in the first chunk, but not in all
        made = make_plan(source, woken, problem, plan.memory)
        made = replace(made, chunk=min(made.chunk, plan.chunk))
        more = settle(source, made, problem, precision)
        again = job._replace(setting=more, targets=_targets(more, v, groups))
        total, *_ = _accumulate(total, again._replace(advance=_ignore))
    block = setting.exact_block(setting.features + tuple(woken))
    exact = np.asarray(call(block, values, probed, probed, runs_once=True), np.float64)
    some = v[: len(exact)].astype(np.float64)
    found = np.asarray(total, np.float64)
    error = probing.error_of_energies(found[-1], some, exact)
    probing.judge(error, precision, of="energies differ from those")
    return found[:-1]


def _ignore(_: Any) -> None:
    pass


def _targets(setting: Setting, v: np.ndarray, groups: Sequence[slice]) -> Targets:
    rows, tile = setting.left.rows, setting.left.tile
    halved = setting.precision == "fast"
    probes = slice(0, len(setting.probes(setting.left)))

    def cut(some: slice, size: int) -> Array:
        made = np.zeros((size, v.shape[1]), v.dtype)
        made[some] = v[some]
        array = jnp.asarray(made, setting.dtype)
        return operand(array, "high" if halved else setting.precision)

    tiles = [(some.start // tile, -(-some.stop // tile)) for some in groups]
    made = [cut(some, rows) for some in groups]
    return Targets(made, tuple(tiles), cut(probes, probes.stop), v.shape[1])


def _compile_ahead(
    setting: Setting, values: Values, x: Sequence[AnyArray], targets: Targets
) -> None:
    """Start to compile all that is called."""
    kept_as, layout = setting.kept_as, setting.left
    (R,) = jax.eval_shape(partial(empty_slabs, 1, kept_as, layout))
    add = _adder(targets.tiles, layout.tile, setting.precision)
    shape = len(targets.groups) + 2, targets.width
    total = jax.ShapeDtypeStruct(shape, setting.dtype)
    ahead(add, total, R, targets.groups, targets.probe)
    made = compile_side(setting, layout, values, x)
    probes = _probes(setting)
    ahead(probing.some_of, made, probes)
    probed = jax.eval_shape(probing.some_of, made, probes)
    block = setting.exact_block(setting.features)
    ahead(block, values, probed, probed, runs_once=True)


def _probes(setting: Setting) -> np.ndarray:
    """The first examples, which lie in one run of rows."""
    return np.arange(len(setting.probes(setting.left)), dtype=np.int32)


def _accumulate(total: Array, job: _Job) -> tuple[Array, set[int], Factors]:
    """Add the energies of all features.

    Args:
        total: The sum so far, whose memory is reused.
        job: What to add.

    Returns:
        The sum, which idle sites were not zero, and factors of the probes.
    """
    setting, alive, probed = job.setting, set(), None
    idle = np.asarray(setting.idle_sites)
    for number, one in enumerate(setting.passes):
        probes = None if number else _probes(setting)
        common = setting.source, one, setting.idle_sites, setting.kept_as
        side = run_network(*common, setting.left, job.values, job.x, probes)
        probed, filled = probed or side.probed, side.filled
        alive.update(idle[np.asarray(filled.alive)].tolist())
        total = _add(total, job, filled.slabs)
        total.block_until_ready()
        kept = setting.kept_as, setting.left, job.values, filled.kept
        rest = Later(setting.source, *kept)
        del side, filled
        for feature in one.later:
            assert isinstance(feature, Rows)
            for slabs in rest.slices(feature):
                total = _add(total, job, slabs)
            total.block_until_ready()
        job.advance(setting.problem.n)
    assert probed is not None
    return total, alive, probed


def _add(total: Array, job: _Job, slabs: Sequence[Array]) -> Array:
    setting, targets = job.setting, job.targets
    add = _adder(targets.tiles, setting.left.tile, setting.precision)
    for R in slabs:
        total = call(add, total, R, targets.groups, targets.probe)
    return total


@lru_cache(maxsize=32)
def _adder(tiles: tuple[tuple[int, int], ...], tile: int, precision: Precision) -> Any:
    """The function that adds the energies of a slab of parameters.

    Args:
        tiles: First and last tile of rows of each group.
        tile: Rows of a tile.
        precision: Of the products.

    Returns:
        A function of the energies, whose memory is reused, a slab `(rows, width)`,
        targets of each group `(rows, k)`, and those of the probes.
    """

    def meet(R: Array, V: Array, ends: tuple[int, int]) -> Array:
        def one(t, summed):
            a, b = (
                lax.dynamic_slice(m, starts(t * tile, 0), (tile, m.shape[1]))
                for m in (V, R)
            )
            return summed + contract_rows(a, b, precision)

        shape = jax.eval_shape(partial(contract_rows, precision=precision), V, R)
        return lax.fori_loop(*ends, one, jnp.zeros(shape.shape, shape.dtype))

    @partial(jax.jit, donate_argnums=0)
    def add(total, R, groups, probe):
        met = [meet(R, V, ends) for V, ends in zip(groups, tiles, strict=True)]
        seen = contract_rows(probe, R[: len(probe)], precision)
        every = sum(met[1:], met[0])
        squares = [(each * each).sum(axis=1) for each in (every, *met, seen)]
        return total + jnp.stack(squares).astype(total.dtype)

    return add
