"""Features of all examples on an accelerator, chunk by chunk.

One run of the network fills slabs of rows, pairs of inputs and deltas, and whatever is
kept to form features of later; what is kept is turned into slabs and pairs without the
network.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool

from ..._types import AnyArray
from ..features import (
    Feature,
    Outer,
    Source,
    Values,
    factors,
    form,
    sites_of,
)
from ..forms import cost
from ..packing import Pass
from ..reading.backward import Factors
from . import probing
from .compiling import call
from .layout import Form, Layout, empty_pair, empty_slabs
from .placing import place_pair, place_rows


class Filled(NamedTuple):
    """What a run of the network leaves on the device.

    Attributes:
        slabs: Rows, `(rows, width)` each.
        pairs: Inputs `(g, rows, p, i)` and deltas `(g, rows, p, o)`, for each feature.
        kept: Inputs and deltas as the network made them, by site.
        alive: Of the features taken for zero, which are not.
    """

    slabs: list[Array]
    pairs: list[list[Array]]
    kept: dict[int, list[Array]]
    alive: Bool[Array, " idle"]


class Side(NamedTuple):
    """Examples along one side of a block, run through the network.

    Attributes:
        filled: What that leaves.
        probed: Factors of the examples on which the result is compared; None if they
            are not asked for.
    """

    filled: Filled
    probed: Factors | None


@lru_cache(maxsize=32)
def compiled_factors(source: Source) -> Any:
    """The network's backward pass, one function for all passes of a plan.

    Args:
        source: The network.

    Returns:
        A function of the parameters' values and a batch.
    """
    return jax.jit(partial(factors, source))


def columns_of(source: Source, features: Sequence[Feature], form: Form) -> int:
    """Columns that the rows among some features have together.

    Args:
        source: The network.
        features: The features.
        form: In which form they are kept.

    Returns:
        Their number.
    """
    total = sum(
        cost(source, f, form.num_outputs).numbers
        for f in features
        if not isinstance(f, Outer)
    )
    return total // form.num_outputs if form.apart else total


def empty(
    source: Source, one: Pass, idle: tuple[int, ...], form: Form, layout: Layout
) -> Filled:
    """Zeros that a run of the network fills.

    Args:
        source: The network.
        one: The pass.
        idle: Sites taken for zero.
        form: In which form features are kept.
        layout: Where the examples lie.

    Returns:
        The buffers.
    """
    slabs = form.slabs(columns_of(source, one.now, form))
    sites = {site for feature in one.later for site in sites_of(source, feature)}
    return Filled(
        empty_slabs(slabs, form, layout),
        [empty_pair(f, form, layout) for f in one.now if isinstance(f, Outer)],
        {site: _empty_site(source, site, form, layout) for site in sorted(sites)},
        jnp.zeros(len(idle), bool),
    )


def _empty_site(source: Source, number: int, form: Form, layout: Layout) -> list[Array]:
    program, site = source.program, source.sites[number]
    equation = program.equations[site.equation]
    given = program.shapes[equation.inputs[1 - site.operand]].shape
    deltas = form.num_outputs, *program.shapes[equation.outputs[0]].shape
    return [jnp.zeros((layout.n, *shape), form.raw) for shape in (given, deltas)]


@lru_cache(maxsize=128)
def compiled_fill(source: Source, one: Pass, idle: tuple[int, ...], kept_as: Form):
    """The function that writes a chunk's features where they belong.

    Args:
        source: The network.
        one: The pass.
        idle: Sites taken for zero.
        kept_as: In which form features are kept.

    Returns:
        A function of the buffers, whose memory it reuses, the parameters' values, the
        chunk's factors and its first example.
    """
    rows = [f for f in one.now if not isinstance(f, Outer)]
    outer = [f for f in one.now if isinstance(f, Outer)]

    @partial(jax.jit, donate_argnums=0)
    def fill(buffers: Filled, values: Values, made: Factors, offset: Array) -> Filled:
        slabs, pairs, kept, alive = buffers
        if rows:
            parts = [form(source, f, values, made)[0] for f in rows]
            slabs = place_rows(slabs, parts, offset, kept_as)
        pairs = [
            place_pair(pair, form(source, f, values, made), offset, kept_as)
            for f, pair in zip(outer, pairs, strict=True)
        ]
        kept = {
            site: [
                lax.dynamic_update_slice_in_dim(into, a.astype(into.dtype), offset, 0)
                for into, a in zip(both, _at_site(made, site), strict=True)
            ]
            for site, both in kept.items()
        }
        seen = [jnp.any(made.deltas[site] != 0) for site in idle]
        return Filled(slabs, pairs, kept, alive | jnp.stack(seen) if seen else alive)

    return fill


def _at_site(made: Factors, site: int) -> tuple[Array, Array]:
    return made.inputs[site], made.deltas[site]


def run_network(
    source: Source,
    one: Pass,
    idle: tuple[int, ...],
    kept_as: Form,
    layout: Layout,
    values: Values,
    x: Sequence[AnyArray],
    probes: np.ndarray | None,
) -> Side:
    """Run the network over all examples and keep what a pass needs.

    Args:
        source: The network.
        one: The pass.
        idle: Sites taken for zero.
        kept_as: In which form features are kept.
        layout: Where the examples lie.
        values: Values of the parameters.
        x: Arrays of the examples.
        probes: Examples of the first chunk whose factors are asked for.

    Returns:
        The features, and those factors.
    """
    probed = None
    buffers = empty(source, one, idle, kept_as, layout)
    write = compiled_fill(source, one, idle, kept_as)
    for number, at in enumerate(layout.offsets()):
        batch = [jnp.asarray(a[at : at + layout.chunk]) for a in x]
        made = call(compiled_factors(source), values, batch)
        if number == 0 and probes is not None:
            probed = call(probing.some_of, made, probes)
        buffers = call(write, buffers, values, made, np.int32(at))
    return Side(buffers, probed)
