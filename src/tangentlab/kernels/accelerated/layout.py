"""How features lie in an accelerator's memory: rows of examples, columns of slabs."""

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array

from ..features import Outer
from .device import Precision


class Layout(NamedTuple):
    """Where the examples of one side of a Gram matrix lie in its rows.

    Attributes:
        n: Number of examples.
        chunk: Examples that run through the network at once.
        tile: Rows of a tile.
        rows: Rows in memory, a multiple of `tile`.
        each: Rows an example has: its outputs, where they are kept apart, else one.
    """

    n: int
    chunk: int
    tile: int
    rows: int
    each: int

    def offsets(self) -> list[int]:
        """First examples of the chunks; the last is moved back to be full.

        Returns:
            One number per chunk; some examples are computed twice.
        """
        last = self.n - self.chunk
        return [min(start, last) for start in range(0, self.n, self.chunk)]


class Form(NamedTuple):
    """In which form features are kept.

    Attributes:
        num_outputs: Outputs of the network.
        apart: Whether outputs are rows of their own; else the mean is taken.
        precision: Of the products.
        dtype: Of what the network makes.
        width: Columns of a slab.
        columns: The most columns of a slice that is formed later.
    """

    num_outputs: int
    apart: bool
    precision: Precision
    dtype: Any
    width: int
    columns: int

    @property
    def operand(self) -> Any:
        """The dtype of operands of products."""
        return jnp.bfloat16 if self.precision in ("fast", "high") else self.dtype

    @property
    def parts(self) -> int:
        """How many numbers stand for one in an operand."""
        return 2 if self.precision == "high" else 1

    @property
    def raw(self) -> Any:
        """The dtype of what is kept as the network made it."""
        return jnp.bfloat16 if self.precision == "fast" else self.dtype

    def slabs(self, columns: int) -> int:
        """How many slabs so many columns take.

        Args:
            columns: The columns.

        Returns:
            Their number.
        """
        return math.ceil(columns / self.width)


def empty_slabs(count: int, form: Form, layout: Layout) -> list[Array]:
    """Slabs of zeros.

    Args:
        count: How many.
        form: In which form features are kept.
        layout: Where the examples lie.

    Returns:
        The slabs.
    """
    shape = layout.rows, form.parts * form.width
    return [jnp.zeros(shape, form.operand) for _ in range(count)]


def empty_pair(feature: Outer, form: Form, layout: Layout) -> list[Array]:
    """Zeros for the inputs and deltas of a feature.

    Args:
        feature: The feature.
        form: In which form features are kept.
        layout: Where the examples lie.

    Returns:
        Both buffers.
    """
    g, p, i, o = feature.piece[2:]
    wide = o if form.apart else form.num_outputs * o
    shapes = [(g, layout.rows, p, form.parts * size) for size in (i, wide)]
    return [jnp.zeros(shape, form.operand) for shape in shapes]
