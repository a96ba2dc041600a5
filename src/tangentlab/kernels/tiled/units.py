"""How large the units of work are when a Gram matrix goes to disk, and in which order.

A unit is a pair of panels, a tile on disk. What a killed process loses is one unit at
most, so units are small: at least eight panels a side, and at most `_SIDE` examples,
where products and the network run at full speed already. Smaller panels than the
largest that fit also mean fewer runs of the network: with room for the features of `r`
examples, of which a panel of `p` goes by, the network runs about `n^2 / 2 (r - p)`
times. Several passes over the parameters run it more often than any panels do, so
panels are cut first.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..features import Feature, Outer, Rows, Source
from ..packing import Problem, feature_bytes, kept_bytes
from ..planning import Plan, backend, free_memory, plan
from .tiles import Place

_SIDE = {"cpu": 2048, "gpu": 16384}  # the most examples in a panel
_LEAST = 256  # fewer examples make a file each for next to nothing
_PANELS = 8  # along a side, as far as they are not smaller than that
_KEPT = 3  # panels that should stay in memory while others go by
_IN_PARTS = {"cpu": 1, "gpu": 2}  # an accelerator's free memory is not in one piece


def plan_units(
    source: Source, features: Sequence[Feature], problem: Problem, memory: int | None
) -> Plan:
    """Plan a Gram matrix whose blocks leave memory one by one.

    Args:
        source: The network.
        features: What is to be computed.
        problem: Its size.
        memory: Bytes that may be used; a share of what is free by default.

    Returns:
        The plan.
    """
    memory = free_memory() if memory is None else memory
    longest = max(problem.n, problem.m)
    panel = max(_LEAST, math.ceil(longest / _PANELS))
    panel, best = even(longest, min(panel, _SIDE[backend()])), None
    while True:
        made = plan(source, features, problem, memory, panel)
        if len(made.passes) == 1 and made.panel == panel:
            best = made
            wanted = min(_KEPT, math.ceil(longest / panel) - 1)
            if kept_panels(source, made, problem, memory) >= wanted:
                break
        elif best is not None:
            break
        if panel <= _LEAST:
            break
        panel = even(longest, math.ceil(panel / 2))
    made = best or made
    return replace(made, chunk=even(made.panel, made.chunk))


def even(length: int, most: int) -> int:
    """Size of the parts when as few as possible cover a length.

    Args:
        length: The length.
        most: Size of a part, at most.

    Returns:
        The size that makes them alike.
    """
    return math.ceil(length / math.ceil(length / most))


def kept_panels(source: Source, made: Plan, problem: Problem, memory: int) -> int:
    """How many panels along the rows may stay in memory, beside one along the columns.

    Args:
        source: The network.
        made: The plan.
        problem: The size of the computation.
        memory: Bytes that may be used, now.

    Returns:
        One at least.
    """
    panel = made.panel * example_bytes(source, made, problem)
    room = max(0, memory - made.needed) // _IN_PARTS[backend()]
    return 1 + room // max(1, panel)


def example_bytes(source: Source, made: Plan, problem: Problem) -> int:
    """Bytes of one example in the first pass of a plan.

    Args:
        source: The network.
        made: The plan.
        problem: The size of the computation.

    Returns:
        Those of features, and of what is kept to form others.
    """
    one = made.steps[0]
    pieces = [f.piece for f in one.later if isinstance(f, Outer | Rows)]
    now = sum(feature_bytes(source, each, problem) for each in one.now)
    return now + sum(kept_bytes(source, piece, problem) for piece in pieces)


def in_order(places: Iterable[Place], side: int, kept: int) -> list[Place]:
    """Units in the order in which kept panels serve most.

    Args:
        places: The units.
        side: Examples in a panel.
        kept: Panels along the rows whose features are kept.

    Returns:
        Group of rows by group of rows, in each column by column.
    """

    def key(place: Place) -> tuple[int, int, int]:
        rows, columns = place.rows.start, place.columns.start
        return rows // (side * kept), columns, rows

    return sorted(places, key=key)
