r"""The cost model: which exact form each parameter takes, and what it costs.

For `n` examples, `c` outputs and a piece with `g` groups, `p` positions, fan-in `i` and
fan-out `o`, in multiply-adds for each pair of examples:

| form | products | once per example |
|---|---|---|
| `Outer` | $g p^2 (i + c\,o)$ | |
| `Rows` | $g\,i\,c\,o$ | $g p\,i\,c\,o$ |

An example meets $n/2$ others in the lower triangle.
"""

from collections.abc import Sequence
from typing import NamedTuple

from .features import Feature, Outer, Rows, Source, Whole, all_rows
from .reading.sites import Piece, pieces_of

_LARGE = 1 << 16  # elements from which a leaf that does not factor stands alone


class Cost(NamedTuple):
    """What a feature costs.

    Attributes:
        per_pair: Multiply-adds for each pair of examples.
        per_example: Multiply-adds for each example, to form the feature.
        numbers: Numbers kept for each example.
    """

    per_pair: int
    per_example: int
    numbers: int


def cost(source: Source, feature: Feature, num_outputs: int) -> Cost:
    """Count what a feature costs.

    Args:
        source: The network.
        feature: The feature.
        num_outputs: Number of outputs.

    Returns:
        Its cost.
    """
    if isinstance(feature, Outer):
        g, p, i, o = feature.piece[2:]
        return Cost(g * p * p * (i + num_outputs * o), 0, g * p * (i + num_outputs * o))
    if isinstance(feature, Rows):
        g, p, i, _ = feature.piece[2:]
        numbers = g * i * (feature.stop - feature.start) * num_outputs
        return Cost(numbers, p * numbers, numbers)
    numbers = num_outputs * sum(_size(source, leaf) for leaf in feature.leaves)
    return Cost(numbers, numbers, numbers)


def choose(
    source: Source,
    differentiated: Sequence[int],
    n: int,
    num_outputs: int,
    *,
    apart: bool = False,
) -> list[Feature]:
    """The cheapest exact features of all differentiated leaves.

    Args:
        source: The network.
        differentiated: The leaves that count.
        n: Number of examples.
        num_outputs: Number of outputs.
        apart: Give each leaf features of its own, also where it is small.

    Returns:
        Features that cover each leaf that has elements and reaches the output, once.
    """
    reached = frozenset().union(*(site.leaves for site in source.sites))
    features: list[Feature] = []
    small: list[int] = []
    for leaf in differentiated:
        if leaf not in reached or _size(source, leaf) == 0:
            continue
        pieces = None
        if leaf not in source.elementwise:
            pieces = pieces_of(source.program, source.sites, leaf)
        if pieces is not None:
            features += [_cheapest(source, piece, n, num_outputs) for piece in pieces]
        elif apart or _size(source, leaf) >= _LARGE:
            features.append(Whole((leaf,)))
        else:
            small.append(leaf)
    return [*features, Whole(tuple(small))] if small else features


def _cheapest(source: Source, piece: Piece, n: int, num_outputs: int) -> Feature:
    forms = Outer(piece), all_rows(piece)

    def total(feature: Feature) -> float:
        counted = cost(source, feature, num_outputs)
        return counted.per_pair * n / 2 + counted.per_example

    return min(forms, key=total)


def _size(source: Source, leaf: int) -> int:
    return source.program.shapes[source.program.leaves[leaf]].size
