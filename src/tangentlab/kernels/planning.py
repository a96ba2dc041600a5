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

from .._quantities import bytes_in_words
from .features import Feature, Source
from .packing import Packed, Pass, Problem, finest, pack

_SHARE = {"cpu": 0.6, "gpu": 0.9}  # of free memory taken unless told otherwise
_CHUNK_BYTES = {"cpu": 2**24, "gpu": 2**32}  # a CPU's caches want small chunks
_FEWEST = 8  # examples of a chunk, memory permitting: products of fewer are slow
_TILE = {"cpu": 2048, "gpu": 8192}
_FUSED = frozenset(
    "abs add add_any broadcast_in_dim convert_element_type copy cos custom_jvp_call "
    "div erf exp expand_dims expm1 integer_pow log log1p logistic max min mul neg pow "
    "reshape rsqrt select_n sign sin sqrt square squeeze sub tanh transpose".split()
)  # operations whose results stay in registers
_MOST_PASSES = 64  # beyond, running the network again costs more than panels do


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
        later: Features formed after each pass of what it keeps; see `packing.py`.
        columns: The most columns of what is formed later at once.
        idle: Features that were zero on the first examples, and are only looked at.
    """

    passes: tuple[tuple[Feature, ...], ...]
    panel: int
    chunk: int
    tile: int
    memory: int
    needed: int
    later: tuple[tuple[Feature, ...], ...] = ()
    columns: int = 0
    idle: tuple[Feature, ...] = ()

    @property
    def steps(self) -> tuple[Pass, ...]:
        """What each run of the network serves."""
        later = self.later or ((),) * len(self.passes)
        return tuple(map(Pass, self.passes, later))

    @property
    def features(self) -> tuple[Feature, ...]:
        """All features that are computed."""
        return tuple(f for one in self.steps for f in (*one.now, *one.later))


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
    return int(share * host_memory())


def host_memory() -> int:
    """Bytes that are free in the memory of this machine.

    Returns:
        Their number; where the system does not tell, all there are.
    """
    info = Path("/proc/meminfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def plan(
    source: Source,
    features: Sequence[Feature],
    problem: Problem,
    memory: int | None,
    largest: int | None = None,
    *,
    later: bool = True,
) -> Plan:
    """Cut features into passes, and examples into panels, that fit memory.

    Args:
        source: The network.
        features: What is to be computed.
        problem: Its size.
        memory: Bytes that may be used; a share of what is free by default.
        largest: The largest panel, where each block of the result leaves memory when it
            is finished; None if the result stays.
        later: Whether features may be formed after a pass, on an accelerator.

    Returns:
        The plan.

    Raises:
        ValueError: If nothing fits; says what would.
    """
    memory = free_memory() if memory is None else memory
    per_example = _activation_bytes(source, problem)
    longest = max(problem.n, problem.m)
    wish = max(_FEWEST, _CHUNK_BYTES[backend()] // per_example)
    chunk = max(1, min(longest, wish, memory // 8 // per_example))
    result = problem.result_bytes(problem.n, problem.m)
    copies = 1 if backend() == "gpu" else 2  # a GPU's is copied when features are gone
    fixed = chunk * per_example + (copies * result if largest is None else 0)
    panel = longest if largest is None else min(largest, longest)
    while panel >= 1:
        tile = min(panel, _TILE[backend()])
        used = fixed + 4 * problem.result_bytes(tile, tile)
        sides = 1 if problem.symmetric and panel == longest else 2
        held = sides * panel
        if largest is not None:  # a block on its way out, a chunk on its way in
            used += 2 * problem.result_bytes(panel, panel)
            held += min(chunk, panel)
        room = (memory - used) // held
        packed = _pack(source, features, problem, room, later)
        if packed and (len(packed.passes) <= _MOST_PASSES or panel <= chunk):
            needed = used + held * packed.bytes
            now, then = zip(*packed.passes, strict=True)
            sizes = panel, min(chunk, panel), tile, memory, needed
            return Plan(now, *sizes, then, packed.columns)
        panel //= 2
    least = fixed + 2 * max(finest(source, f, problem) for f in features)
    to_disk = largest is None and not problem.full
    raise ValueError(
        f"This Gram matrix does not fit {bytes_in_words(memory)}: at least "
        f"{bytes_in_words(least)} are needed, of which {bytes_in_words(fixed)} for the "
        "result and one batch on its way through the network. Allow more with "
        "`memory=`, or compute fewer samples at a time"
        + (", or write the result to disk with `store=`." if to_disk else ".")
    )


def check_room(made: Plan, problem: Problem, num: int) -> None:
    """Refuse to compute several Gram matrices that do not fit memory together.

    Args:
        made: The plan for their sum.
        problem: The size of each.
        num: How many.

    Raises:
        ValueError: If they do not fit, or if examples would have to be cut into panels.
    """
    needed = made.needed + (num - 1) * problem.result_bytes(problem.n, problem.m)
    if made.panel >= max(problem.n, problem.m) and needed <= made.memory:
        return
    raise ValueError(
        f"{num} Gram matrices, one for each parameter, do not fit "
        f"{bytes_in_words(made.memory)}: at least {bytes_in_words(needed)} are needed. "
        "Compute fewer samples at a time, or the kernel of some parameters with "
        "`tl.gram` and `trainable=`."
    )


def _pack(
    source: Source,
    features: Sequence[Feature],
    problem: Problem,
    room: int,
    later: bool,
) -> Packed | None:
    """Passes; on an accelerator those with fewer runs of the network."""
    packed = pack(source, features, problem, room)
    if not later or backend() == "cpu" or (packed and len(packed.passes) == 1):
        return packed
    kept = pack(source, features, problem, room, keep=True)
    both = [choice for choice in (packed, kept) if choice is not None]
    return min(both, key=lambda choice: len(choice.passes), default=None)


def _activation_bytes(source: Source, problem: Problem) -> int:
    """Bytes of one example on its way forth and back: what XLA does not fuse away."""
    program = source.program
    made = set(program.inputs)
    for equation in program.equations:
        if equation.name not in _FUSED:
            made.update(
                i for i in (*equation.inputs, *equation.outputs) if i is not None
            )
    sizes = [
        program.shapes[i].size * program.shapes[i].dtype.itemsize
        for i in made & program.of_data
    ]
    return (1 + problem.num_outputs) * max(sum(sizes), 1)
