"""What a Gram computation will do, decided and told before it starts.

The unit of memory is a feature for all examples of a panel. All features in one pass
over all examples is best; where they do not fit, the parameters are cut into passes,
each of which runs the network again; where even that does not fit, the examples are cut
into panels too, and each pair of panels is finished before the next.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jax

from .features import Feature, Rows, Source
from .forms import cost

_SHARE = {"cpu": 0.6, "gpu": 0.85}  # of free memory taken unless told otherwise
_CHUNK_BYTES = {"cpu": 2**27, "gpu": 2**33}  # a CPU's caches want small chunks
_TILE = {"cpu": 2048, "gpu": 4096}
_MOST_PASSES = 64  # beyond, running the network again costs more than panels do


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


@dataclass(frozen=True)
class Plan:
    """How to compute a Gram matrix.

    Attributes:
        passes: Features computed together, for each pass over the examples.
        panel: Examples along the rows and columns whose features are kept at once.
        chunk: Examples that run through the network at once.
        tile: Rows and columns of one product.
        memory: Bytes the plan may use.
        needed: Bytes it expects to use.
    """

    passes: tuple[tuple[Feature, ...], ...]
    panel: int
    chunk: int
    tile: int
    memory: int
    needed: int


def backend() -> str:
    """`cpu` or `gpu`, whatever kind of accelerator that is.

    Returns:
        The kind of the default device.
    """
    return "cpu" if jax.default_backend() == "cpu" else "gpu"


def free_memory() -> int:
    """Bytes that a computation takes unless told otherwise.

    Returns:
        A share of what is free now on the default device.
    """
    share = _SHARE[backend()]
    stats = jax.devices()[0].memory_stats() if backend() == "gpu" else None
    if stats:
        return int(share * (stats["bytes_limit"] - stats["bytes_in_use"]))
    info = Path("/proc/meminfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(share * 1024 * int(line.split()[1]))
    return int(share * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def plan(
    source: Source, features: Sequence[Feature], problem: Problem, memory: int | None
) -> Plan:
    """Cut features into passes, and examples into panels, that fit memory.

    Args:
        source: The network.
        features: What is to be computed.
        problem: Its size.
        memory: Bytes that may be used; a share of what is free by default.

    Returns:
        The plan.

    Raises:
        ValueError: If nothing fits; says what would.
    """
    memory = free_memory() if memory is None else memory
    per_example = _activation_bytes(source, problem)
    longest = max(problem.n, problem.m)
    wish = min(memory // 8, _CHUNK_BYTES[backend()]) // per_example
    chunk = max(1, min(longest, wish))
    result = problem.result_bytes(problem.n, problem.m)
    fixed = chunk * per_example + 2 * result
    panel = longest
    while panel >= 1:
        tile = min(panel, _TILE[backend()])
        used = fixed + 4 * problem.result_bytes(tile, tile)
        sides = 1 if problem.symmetric and panel == longest else 2
        room = (memory - used) // (sides * panel)
        passes = _pack(source, features, problem, room)
        if passes is not None and (len(passes) <= _MOST_PASSES or panel <= chunk):
            kept = max(sum(_bytes(source, f, problem) for f in one) for one in passes)
            needed = used + sides * panel * kept
            return Plan(passes, panel, min(chunk, panel), tile, memory, needed)
        panel //= 2
    least = fixed + 2 * max(_bytes(source, f, problem) for f in _finest(features))
    raise ValueError(
        f"This Gram matrix does not fit {_gigabytes(memory)}: at least "
        f"{_gigabytes(least)} are needed, of which {_gigabytes(fixed)} for the result "
        "and one batch on its way through "
        "the network. Allow more with `memory=`, or compute fewer samples at a time."
    )


def _gigabytes(count: int) -> str:
    return f"{count / 2**30:.3g} GiB"


def _pack(
    source: Source, features: Sequence[Feature], problem: Problem, room: int
) -> tuple[tuple[Feature, ...], ...] | None:
    """Fill passes with features of at most `room` bytes per example in all."""
    passes: list[list[Feature]] = [[]]
    used = 0
    for feature in features:
        for part in _slices(source, feature, problem, room):
            size = _bytes(source, part, problem)
            if size > room:
                return None
            if used + size > room:
                passes.append([])
                used = 0
            passes[-1].append(part)
            used += size
    return tuple(tuple(one) for one in passes)


def _slices(
    source: Source, feature: Feature, problem: Problem, room: int
) -> list[Feature]:
    """Cut rows along their output features, so that one slice fits."""
    if not isinstance(feature, Rows):
        return [feature]
    single = _bytes(source, feature._replace(stop=feature.start + 1), problem)
    width = max(1, room // single)
    ends = range(feature.start, feature.stop, width)
    return [feature._replace(start=s, stop=min(s + width, feature.stop)) for s in ends]


def _finest(features: Sequence[Feature]) -> list[Feature]:
    """Features cut as far as they can be."""
    return [
        f._replace(stop=f.start + 1) if isinstance(f, Rows) else f for f in features
    ]


def _bytes(source: Source, feature: Feature, problem: Problem) -> int:
    numbers = cost(source, feature, problem.num_outputs).numbers
    return numbers * problem.feature_itemsize


def _activation_bytes(source: Source, problem: Problem) -> int:
    """Bytes of one example on its way forth and back: every variable made of data."""
    program = source.program
    made = [i for equation in program.equations for i in equation.outputs]
    sizes = [
        program.shapes[i].size * program.shapes[i].dtype.itemsize
        for i in (*made, *program.inputs)
        if i in program.of_data
    ]
    return (1 + problem.num_outputs) * sum(sizes)
