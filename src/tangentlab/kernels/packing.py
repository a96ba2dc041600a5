"""Features distributed over runs of the network, so that each run fits memory.

Where the features of all parameters do not fit together, the inputs and deltas at their
sites often do: a convolution of 256 channels on 8 x 8 images has 590 thousand
parameters, but 33 thousand numbers come in and go back. On an accelerator they are kept
for all examples, and the features are formed of them, slice by slice, after the network
has run; it then runs once or twice, not ten times.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .features import Feature, Outer, Rows, Source, Whole
from .forms import cost
from .reading.sites import Piece

_WORKSPACE = 16  # one part in so many of memory is for slices


@dataclass(frozen=True)
class Problem:
    """The size of a Gram computation.

    Attributes:
        n: Examples along the rows.
        m: Examples along the columns.
        num_outputs: Outputs of the network.
        symmetric: Whether rows and columns are the same examples.
        itemsize: Bytes of a number of the result.
        feature_itemsize: Bytes of a number of a feature.
        full: Whether outputs are kept apart.
    """

    n: int
    m: int
    num_outputs: int
    symmetric: bool
    itemsize: int
    feature_itemsize: int
    full: bool = False

    def result_bytes(self, n: int, m: int) -> int:
        """Bytes of a block of the Gram matrix.

        Args:
            n: Its examples along the rows.
            m: Its examples along the columns.

        Returns:
            The number of bytes.
        """
        return n * m * self.itemsize * (self.num_outputs**2 if self.full else 1)


class Pass(NamedTuple):
    """What one run of the network over all examples serves.

    Attributes:
        now: Features formed at once.
        later: Features whose inputs and deltas are kept, and which are formed of them.
    """

    now: tuple[Feature, ...]
    later: tuple[Feature, ...] = ()


class Packed(NamedTuple):
    """Features, distributed.

    Attributes:
        passes: The passes.
        bytes: The most bytes an example takes at any time.
        columns: The most columns of what is formed later at once.
    """

    passes: tuple[Pass, ...]
    bytes: int
    columns: int = 0


def feature_bytes(source: Source, feature: Feature, problem: Problem) -> int:
    """Bytes that a feature takes for each example.

    Args:
        source: The network.
        feature: The feature.
        problem: The size of the computation.

    Returns:
        The number of bytes.
    """
    c = problem.num_outputs
    numbers = cost(source, feature, c).numbers
    if problem.full and isinstance(feature, Outer):  # inputs beside each output's delta
        g, p, i, _ = feature.piece[2:]
        numbers += (c - 1) * g * p * i
    return numbers * problem.feature_itemsize


def kept_bytes(source: Source, piece: Piece, problem: Problem) -> int:
    """Bytes kept for each example so that a piece can be formed later.

    Args:
        source: The network.
        piece: The piece.
        problem: The size of the computation.

    Returns:
        Bytes of inputs and deltas at its sites.
    """
    program, numbers = source.program, 0
    for number in piece.sites:
        site = source.sites[number]
        equation = program.equations[site.equation]
        deltas = program.shapes[equation.outputs[0]].size
        numbers += program.shapes[equation.inputs[1 - site.operand]].size
        numbers += problem.num_outputs * deltas
    return numbers * problem.feature_itemsize


def finest(source: Source, feature: Feature, problem: Problem) -> int:
    """Bytes of the smallest part of a feature that can be formed alone.

    Args:
        source: The network.
        feature: The feature.
        problem: The size of the computation.

    Returns:
        The number of bytes for each example.
    """
    if isinstance(feature, Rows):
        feature = feature._replace(stop=feature.start + 1)
    return feature_bytes(source, feature, problem)


def pack(
    source: Source,
    features: Sequence[Feature],
    problem: Problem,
    room: int,
    *,
    keep: bool = False,
) -> Packed | None:
    """Fill passes with features.

    Args:
        source: The network.
        features: All features.
        problem: The size of the computation.
        room: Bytes that an example may take.
        keep: Keep inputs and deltas where they are smaller than what is formed of them.

    Returns:
        The passes; None if a feature does not fit.
    """
    later = [f for f in features if keep and _is_kept(source, f, problem)]
    least = [finest(source, f, problem) for f in later]
    workspace = max(room // _WORKSPACE, *least) if later else 0
    room, made, used, most = room - workspace, [Pass(())], 0, 0
    for part, size, kept in _parts(source, features, later, problem, room):
        if size > room:
            return None
        if used + size > room:
            made.append(Pass(()))
            used = 0
        now, then = made[-1]
        made[-1] = Pass(now, (*then, part)) if kept else Pass((*now, part), then)
        used += size
        most = max(most, used)
    return Packed(tuple(made), most + workspace, workspace // problem.feature_itemsize)


def _is_kept(source: Source, feature: Feature, problem: Problem) -> bool:
    if isinstance(feature, Whole):
        return False
    formed = feature_bytes(source, feature, problem)
    return kept_bytes(source, feature.piece, problem) < formed


def _parts(source, features, later, problem: Problem, room: int):
    """Each feature, or its slices, with its bytes and whether it is formed later."""
    for feature in features:
        if feature in later:
            yield feature, kept_bytes(source, feature.piece, problem), True
            continue
        parts = [feature]
        if isinstance(feature, Rows):
            step = max(1, room // finest(source, feature, problem))
            parts = [
                feature._replace(start=start, stop=min(start + step, feature.stop))
                for start in range(feature.start, feature.stop, step)
            ]
        for part in parts:
            yield part, feature_bytes(source, part, problem), False


def outputs_per_slice(feature: Rows, num_outputs: int, columns: int) -> int:
    """How wide the slices are in which rows are formed later.

    Args:
        feature: All rows.
        num_outputs: Outputs that stand side by side in a row.
        columns: The most columns of a slice.

    Returns:
        Output features in a slice, about equal for all slices.
    """
    wide = feature.stop - feature.start
    single = feature.piece.groups * feature.piece.fan_in * num_outputs
    slices = math.ceil(wide / max(1, columns // single))
    return math.ceil(wide / slices)
