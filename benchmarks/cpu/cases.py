"""What is measured: the networks and sizes, and every way to compute each kernel."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

GIB = 2**30


@dataclass(frozen=True)
class Case:
    """One network at one size.

    Attributes:
        name: Short name, for options and files.
        title: What it is called in tables.
        network: Name of the network.
        n: Number of examples.
        tiles: Sizes of tiles tried with `nt.batch`; they divide `n`.
        memory: Bytes for everything, the kernel on disk; None keeps it in memory.
    """

    name: str
    title: str
    network: str
    n: int
    tiles: tuple[int, ...]
    memory: int | None = None


@dataclass(frozen=True)
class Contestant:
    """One library, used in one way.

    Attributes:
        peer: The library.
        variant: The way, in words.
        module: The worker module that knows it.
        environment: Where it is installed.
        packages: Whose versions are reported.
        options: What the worker module is told.
    """

    peer: str
    variant: str
    module: str
    environment: str
    packages: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """What tells contestants of a case apart."""
        return self.peer, self.variant


CASES = {
    case.name: case
    for case in (
        Case("mlp", "MLP 3072-100-100-1", "mlp", 4000, (1000, 2000)),
        Case("lenet", "LeNet", "lenet", 2000, (500, 1000)),
        Case("resnet18", "ResNet18, all parameters active", "resnet18", 64, (32,)),
        Case(
            "lenet-disk",
            "LeNet to disk tiles",
            "lenet",
            20_000,
            (4000, 2500, 2000),
            4 * GIB,
        ),
    )
}

OURS = "tangentlab"
IMPLEMENTATIONS = {
    "AUTO": "auto",
    "JACOBIAN_CONTRACTION": "Jacobian contraction",
    "NTK_VECTOR_PRODUCTS": "NTK-vector products",
    "STRUCTURED_DERIVATIVES": "structured derivatives",
}


def contestants(
    case: Case, names: tuple[str, ...], cores: int, seconds: float
) -> Iterator[Contestant]:
    """Yield every way to compute the kernel of a case, ours first.

    Args:
        case: The case.
        names: The libraries wanted.
        cores: Cores in use; neural-tangents may take each as a device of its own.
        seconds: How long a peer may fill tiles on disk before it is extrapolated.

    Yields:
        The contestants.
    """
    if OURS in names:
        options = {} if case.memory is None else {"memory": case.memory}
        packages = ("tangentlab", "jax", "jaxlib", "numpy")
        yield Contestant(OURS, "tl.gram", "ours", "ours", packages, options)
    if "neural-tangents" in names:
        yield from _neural_tangents(case, cores, seconds)
    if case.memory is not None:
        return
    if "nngeometry" in names:
        packages = ("nngeometry", "torch")
        ways = {"unfold": "GramMatrix"}
        if case.network != "mlp":
            ways |= {"conv": "GramMatrix, use_conv_impl_for_convs"}
        for way, words in ways.items():
            options = {"convolutions": way}
            yield Contestant(
                "nngeometry", words, "peer_nngeometry", "torch", packages, options
            )
    if "torch.func" in names:
        yield from _torch_func(case)


def _neural_tangents(case: Case, cores: int, seconds: float) -> Iterator[Contestant]:
    packages = ("neural-tangents", "jax", "jaxlib", "numpy")

    def one(words: str, **options: Any) -> Contestant:
        module, where = "peer_neural_tangents", "neural-tangents"
        return Contestant("neural-tangents", words, module, where, packages, options)

    if case.memory is not None:
        best = "STRUCTURED_DERIVATIVES"
        for tile in case.tiles:
            words = f"{IMPLEMENTATIONS[best]}, tiles of {tile}"
            yield one(words, implementation=best, tile=tile, seconds=seconds)
        return
    for name, words in IMPLEMENTATIONS.items():
        yield one(f"{words}, untiled", implementation=name)
        for tile in case.tiles:
            yield one(f"{words}, tiles of {tile}", implementation=name, tile=tile)
    if cores > 1:
        fast = "STRUCTURED_DERIVATIVES"
        words = f"{IMPLEMENTATIONS[fast]}, untiled on {cores} host devices"
        yield one(words, implementation=fast, devices=cores)


def _torch_func(case: Case) -> Iterator[Contestant]:
    chunk = case.tiles[0]
    ways: dict[str, dict[str, Any]] = {
        "tutorial": {"way": "tutorial"},
        "once": {"way": "once"},
        f"once, chunks of {chunk}": {"way": "once", "chunk": chunk},
    }
    for words, options in ways.items():
        yield Contestant(
            "torch.func",
            f"vmap(jacrev), {words}",
            "peer_torch_func",
            "torch",
            ("torch",),
            options,
        )
