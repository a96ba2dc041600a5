"""How the arrays of a plan lie on an accelerator."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..features import Feature, Rows, Source, sites_of
from ..forms import cost
from ..packing import Pass, Problem
from ..planning import Plan
from . import device, probing
from .device import Precision
from .filling import columns_of
from .forming import columns_of_slice, slice_of
from .layout import Form, Layout


class Setting(NamedTuple):
    """A plan, and how its arrays lie on the device.

    Attributes:
        source: The network.
        passes: What each run of the network serves.
        idle: Features taken for zero.
        problem: The size of the computation.
        precision: Of the products.
        kept_as: In which form features are kept.
        left: Where the examples along the rows lie.
        right: Where the examples along the columns lie.
    """

    source: Source
    passes: tuple[Pass, ...]
    idle: tuple[Feature, ...]
    problem: Problem
    precision: Precision
    kept_as: Form
    left: Layout
    right: Layout

    @property
    def features(self) -> tuple[Feature, ...]:
        """All features that are computed."""
        return tuple(f for one in self.passes for f in (*one.now, *one.later))

    @property
    def idle_sites(self) -> tuple[int, ...]:
        """The sites of the features taken for zero."""
        found = {site for f in self.idle for site in sites_of(self.source, f)}
        return tuple(sorted(found))

    @property
    def dtype(self) -> Any:
        """The dtype of the Gram matrix."""
        return jnp.float64 if self.problem.itemsize == 8 else jnp.float32

    def probes(self, layout: Layout) -> np.ndarray:
        """Examples of a side on which the result is compared.

        Args:
            layout: Where those of the side lie.

        Returns:
            Their positions in the first chunk.
        """
        c = self.problem.num_outputs
        numbers = sum(cost(self.source, f, c).numbers for f in self.features)
        return probing.probes(layout.chunk, numbers)

    def exact_block(self, features: tuple[Feature, ...]) -> Any:
        """The function that computes their block with products in full precision.

        Args:
            features: Of which features.

        Returns:
            A function of the parameters' values and factors of both sides.
        """
        problem = replace(self.problem, n=0, m=0)
        return probing.compiled_block(self.source, features, problem)

    def tiling(self, positions: int = 1) -> tuple[tuple[int, int], np.ndarray]:
        """Tiles of the Gram matrix.

        Args:
            positions: Rows that an example has in a product.

        Returns:
            Rows and columns of a tile, and the first of each tile.
        """
        a, b = self.left, self.right
        tile = (
            device.outer_side(positions, a.tile),
            device.outer_side(positions, b.tile),
        )
        return tile, device.tile_pairs(a.rows, b.rows, tile, self.problem.symmetric)


def settle(
    source: Source, plan: Plan, problem: Problem, precision: Precision
) -> Setting:
    """Lay out the arrays of a plan.

    Args:
        source: The network.
        plan: The plan.
        problem: The size of the computation.
        precision: Of the products.

    Returns:
        The setting.
    """
    base = jnp.float64 if problem.itemsize == 8 else jnp.float32
    c = problem.num_outputs
    each = c if problem.full else 1
    rough = Form(c, problem.full, precision, base, 1, plan.columns // each)
    passes = plan.steps
    slices = [
        columns_of_slice(f, rough)
        for p in passes
        for f in p.later
        if isinstance(f, Rows)
        for _ in range(0, f.stop, slice_of(f, rough).stop)
    ]
    columns = [*slices, *(columns_of(source, p.now, rough) for p in passes)]
    kept_as = rough._replace(width=device.slab_width([k for k in columns if k] or [1]))
    left, right = (_layout(n, each, plan) for n in (problem.n, problem.m))
    return Setting(source, passes, plan.idle, problem, precision, kept_as, left, right)


def _layout(n: int, each: int, plan: Plan) -> Layout:
    tile = device.side(n * each, plan.tile)
    rows = math.ceil(n * each / tile) * tile
    return Layout(n, min(plan.chunk, n), tile, rows, each)
