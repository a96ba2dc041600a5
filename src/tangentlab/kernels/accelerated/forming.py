"""Features formed on an accelerator of what a run of the network has left there."""

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jaxtyping import Array

from ..features import Outer, Rows, Source, Values, all_rows, form, form_slice
from ..packing import outputs_per_slice
from ..reading.backward import Factors
from .compiling import call
from .layout import Form, Layout, empty_pair, empty_slabs
from .placing import place_pair, place_rows

Kept = dict[int, list[Array]]


def slice_of(feature: Rows, kept_as: Form) -> Rows:
    """The first slice of rows that are formed slice by slice.

    Args:
        feature: All rows.
        kept_as: In which form features are kept.

    Returns:
        Rows as wide as every slice.
    """
    c = 1 if kept_as.apart else kept_as.num_outputs
    wide = outputs_per_slice(feature, c, kept_as.columns)
    return feature._replace(stop=feature.start + wide)


def columns_of_slice(feature: Rows, kept_as: Form) -> int:
    """Columns of one slice.

    Args:
        feature: All rows.
        kept_as: In which form features are kept.

    Returns:
        Their number.
    """
    part = slice_of(feature, kept_as)
    c = 1 if kept_as.apart else kept_as.num_outputs
    piece = feature.piece
    return c * piece.groups * piece.fan_in * (part.stop - part.start)


class Later(NamedTuple):
    """What it takes to form features of one side later.

    Attributes:
        source: The network.
        kept_as: In which form features are kept.
        layout: Where the examples lie.
        values: Values of the parameters.
        kept: What the run of the network has left.
    """

    source: Source
    kept_as: Form
    layout: Layout
    values: Values
    kept: Kept

    def pair(self, feature: Outer) -> list[Array]:
        """Inputs and deltas of a feature, for all examples.

        Args:
            feature: The feature.

        Returns:
            Both arrays.
        """
        write = compiled_pair(self.source, feature, self.kept_as, self.layout.chunk)
        buffers, kept = (
            empty_pair(feature, self.kept_as, self.layout),
            self._of(feature),
        )
        for at in self.layout.offsets():
            buffers = call(write, buffers, self.values, kept, np.int32(at))
        return buffers

    def slices(self, feature: Rows) -> Iterator[list[Array]]:
        """Rows of a feature, for all examples, slice by slice.

        Args:
            feature: The feature.

        Yields:
            Slabs of each slice; the next one takes their memory.
        """
        assert feature == all_rows(feature.piece), "a slice would be sliced again"
        part = slice_of(feature, self.kept_as)
        write = compiled_slice(self.source, part, self.kept_as, self.layout.chunk)
        count = self.kept_as.slabs(columns_of_slice(feature, self.kept_as))
        slabs, kept = empty_slabs(count, self.kept_as, self.layout), self._of(feature)
        for start in range(0, feature.stop, part.stop):
            for at in self.layout.offsets():
                which = np.int32(at), np.int32(start)
                slabs = call(write, slabs, self.values, kept, *which)
            yield slabs

    def _of(self, feature: Outer | Rows) -> Kept:
        return {site: self.kept[site] for site in feature.piece.sites}


@lru_cache(maxsize=128)
def compiled_pair(source: Source, feature: Outer, kept_as: Form, chunk: int) -> Any:
    """The function that forms inputs and deltas of a chunk and writes them.

    Args:
        source: The network.
        feature: The feature.
        kept_as: In which form features are kept.
        chunk: Examples of a chunk.

    Returns:
        A function of the buffers, the parameters' values, what was kept and the first
        example.
    """

    @partial(jax.jit, donate_argnums=0)
    def write(pair, values: Values, kept: Kept, offset: Array):
        made = _factors(source, kept, offset, chunk)
        return place_pair(pair, form(source, feature, values, made), offset, kept_as)

    return write


@lru_cache(maxsize=128)
def compiled_slice(source: Source, part: Rows, kept_as: Form, chunk: int) -> Any:
    """The function that forms a slice of rows of a chunk and writes it.

    Args:
        source: The network.
        part: Rows as wide as the slice.
        kept_as: In which form features are kept.
        chunk: Examples of a chunk.

    Returns:
        A function of the slabs, the parameters' values, what was kept, the first
        example and the first output feature.
    """

    @partial(jax.jit, donate_argnums=0)
    def write(slabs, values: Values, kept: Kept, offset: Array, start: Array):
        made = _factors(source, kept, offset, chunk)
        rows = form_slice(source, part, values, made, start)
        return place_rows(slabs, [rows], offset, kept_as)

    return write


def _factors(source: Source, kept: Kept, offset: Array, chunk: int) -> Factors:
    """Factors of a chunk, at the sites that were kept, in the types they were made."""
    made = Factors([None] * len(source.sites), [None] * len(source.sites))
    program = source.program
    for number, both in kept.items():
        site = source.sites[number]
        equation = program.equations[site.equation]
        variables = equation.inputs[1 - site.operand], equation.outputs[0]
        a, delta = (
            lax.dynamic_slice_in_dim(array, offset, chunk, 0).astype(
                program.shapes[variable].dtype
            )
            for array, variable in zip(both, variables, strict=True)
        )
        made.inputs[number], made.deltas[number] = a, delta
    return made
