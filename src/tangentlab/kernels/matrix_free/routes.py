r"""How to multiply by a Jacobian and its transpose: two routes, and what fits memory.

| route | backward passes | and then | best for |
|---|---|---|---|
| `tangents.py` | one for each vector | nothing | one vector |
| `gradients.py` | one for each output | plain products | many vectors |
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Array

from ..._quantities import bytes_in_words
from ..._types import AnyArray
from ..packing import Problem
from ..planning import backend

_CHUNK_BYTES = {"cpu": 2**25, "gpu": 2**33}  # a CPU's caches want small chunks
_FEW = 8  # examples, below which reading the weights costs more than using them
_COPIES = 3  # of a vector: the sum, what is added to it, and room to turn it round


class Route(NamedTuple):
    r"""A way to multiply several vectors at once by $J^\top$ and $J$ of a batch.

    Attributes:
        shapes: Of the arrays that make up one vector like the parameters.
        most: Vectors beyond which more at once gain nothing.
        bytes_per_example: Of the number of vectors: bytes one example takes.
        pull: `pull(total, x, weights) -> total` adds $J^\top w$ to a sum, whose memory
            is reused. Weights have examples first and vectors last.
        push: `push(total, x) -> outputs` multiplies such sums by $J$; outputs have
            examples first and vectors last.
    """

    shapes: list[tuple[int, ...]]
    most: int
    bytes_per_example: Callable[[int], int]
    pull: Callable[[list[Array], list[Array], AnyArray], list[Array]]
    push: Callable[[list[Array], list[Array]], Array]


class Cut(NamedTuple):
    """What runs through the network at once.

    Attributes:
        width: How many vectors.
        chunk: How many examples.
    """

    width: int
    chunk: int


def cut(route: Route, problem: Problem, num_vectors: int, memory: int) -> Cut | None:
    """Decide how many vectors and examples run through the network at once.

    Args:
        route: How to multiply.
        problem: The size of the kernel.
        num_vectors: Vectors in all.
        memory: Bytes that may be used.

    Returns:
        The decision; None if not even one vector and one example fit.
    """
    longest = max(problem.n, problem.m)
    blocks = math.ceil(num_vectors / route.most)
    while True:
        width = math.ceil(num_vectors / blocks)
        fixed, vectors, example = _bytes(route, problem, num_vectors, width)
        room = memory - fixed - vectors
        wish = min(room // 2, _CHUNK_BYTES[backend()]) // example
        chunk = min(longest, max(wish, min(_FEW, room // example)))
        if chunk >= min(_FEW, longest) or (width == 1 and chunk >= 1):
            return Cut(width, chunk)
        if width == 1:
            return None
        blocks *= 2


def refusal(route: Route, problem: Problem, num_vectors: int, memory: int) -> str:
    """What to say where nothing fits.

    Args:
        route: How to multiply.
        problem: The size of the kernel.
        num_vectors: Vectors in all.
        memory: Bytes that may be used.

    Returns:
        What would be needed.
    """
    needed = _bytes(route, problem, num_vectors, 1)
    total, fixed, vector, example = map(bytes_in_words, (sum(needed), *needed))
    return (
        f"This product does not fit {bytes_in_words(memory)}: at least {total} are "
        f"needed, {fixed} for `v` and the result, {vector} for vectors like the "
        f"parameters and {example} for one example on its way through the network. "
        "Allow more with `memory=`, or multiply fewer columns at a time."
    )


def _bytes(
    route: Route, problem: Problem, num_vectors: int, width: int
) -> tuple[int, int, int]:
    """Bytes of all that stays, of some vectors, and of one example on its way."""
    outputs = problem.num_outputs if problem.full else 1
    fixed = (problem.n + problem.m) * outputs * num_vectors * problem.itemsize
    vector = problem.itemsize * sum(map(math.prod, route.shapes))
    return fixed, _COPIES * width * vector, route.bytes_per_example(width)
