"""All that a run on an accelerator calls, compiled side by side before it starts."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..._types import AnyArray
from ..features import Outer, Rows, Source, Values
from ..packing import Pass
from . import device, probing
from .compiling import ahead
from .filling import (
    Filled,
    compiled_factors,
    compiled_fill,
    empty,
)
from .forming import columns_of_slice, compiled_pair, compiled_slice, slice_of
from .layout import Layout, empty_pair, empty_slabs
from .setting import Setting

_INTEGER = jax.ShapeDtypeStruct((), np.int32)


def compile_ahead(
    setting: Setting, values: Values, x: Sequence[Sequence[AnyArray]]
) -> None:
    """Start to compile all that a run calls.

    Args:
        setting: The plan and its arrays.
        values: Values of the parameters.
        x: Arrays of the examples along the rows, and of those along the columns.
    """
    _products(setting)
    sides = [(setting.left, x[0])]
    if not setting.problem.symmetric:
        sides.append((setting.right, x[1]))
    probed = []
    for layout, arrays in sides:
        made = compile_side(setting, layout, values, arrays)
        probes = setting.probes(layout)
        ahead(probing.some_of, made, probes)
        probed.append(jax.eval_shape(probing.some_of, made, probes))
    block = setting.exact_block(setting.features)
    ahead(block, values, probed[0], probed[-1], runs_once=True)


def compile_side(
    setting: Setting, layout: Layout, values: Values, x: Sequence[AnyArray]
) -> Any:
    """Start to compile what runs the network and forms features of one side.

    Args:
        setting: The plan and its arrays.
        layout: Where the examples of the side lie.
        values: Values of the parameters.
        x: Arrays of the examples.

    Returns:
        The shapes of the factors of a chunk.
    """
    made = compile_network(setting.source, values, x, layout.chunk)
    for one in setting.passes:
        _fill(setting, one, layout, values, made)
    return made


def compile_network(
    source: Source, values: Values, x: Sequence[AnyArray], chunk: int
) -> Any:
    """Start to compile the network's backward pass.

    Args:
        source: The network.
        values: Values of the parameters.
        x: Arrays of the examples.
        chunk: Examples that run through the network at once.

    Returns:
        The shapes of what it returns.
    """
    batch = [jax.ShapeDtypeStruct((chunk, *a.shape[1:]), jnp.result_type(a)) for a in x]
    function = compiled_factors(source)
    ahead(function, values, batch)
    return jax.eval_shape(function, values, batch)


def _fill(setting: Setting, one: Pass, layout: Layout, values: Values, made):
    source, kept_as, idle = setting.source, setting.kept_as, setting.idle_sites
    buffers: Filled = jax.eval_shape(partial(empty, source, one, idle, kept_as, layout))
    ahead(compiled_fill(source, one, idle, kept_as), buffers, values, made, _INTEGER)
    for feature in one.later:
        assert isinstance(feature, Outer | Rows)
        kept = {site: buffers.kept[site] for site in feature.piece.sites}
        if isinstance(feature, Outer):
            pair = jax.eval_shape(partial(empty_pair, feature, kept_as, layout))
            write = compiled_pair(source, feature, kept_as, layout.chunk)
            ahead(write, pair, values, kept, _INTEGER)
            continue
        count = kept_as.slabs(columns_of_slice(feature, kept_as))
        slabs = jax.eval_shape(partial(empty_slabs, count, kept_as, layout))
        part = slice_of(feature, kept_as)
        write = compiled_slice(source, part, kept_as, layout.chunk)
        ahead(write, slabs, values, kept, _INTEGER, _INTEGER)


def _products(setting: Setting) -> None:
    K = jax.ShapeDtypeStruct((setting.left.rows, setting.right.rows), setting.dtype)
    kept_as, layouts = setting.kept_as, (setting.left, setting.right)
    tile, tiles = setting.tiling()
    if any(not isinstance(f, Outer) for f in setting.features):
        slabs = [
            jax.eval_shape(partial(empty_slabs, 1, kept_as, side))[0]
            for side in layouts
        ]
        ahead(device.rows_adder(tile, setting.precision), K, *slabs, tiles)
    for feature in setting.features:
        if isinstance(feature, Outer):
            pairs = [
                jax.eval_shape(partial(empty_pair, feature, kept_as, side))
                for side in layouts
            ]
            small, places = setting.tiling(feature.piece.positions)
            ahead(device.outer_adder(small, setting.precision), K, *pairs, places)
    if setting.problem.symmetric:
        ahead(device.mirror(tile[0]), K, tiles)
