"""`tangentlab gram` and `cluster`: Gram matrices on disk, and who computes them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import jax
import tyro

from .. import cluster, data, infinite, kernels, models
from ..data import Dataset
from ..kernels import GramStatus, TiledGram
from ..kernels.request import Precision
from ..kernels.tiled.progress_note import age

WideName = Literal["fc", "cntk", "myrtle", "wide_resnet"]
"""Networks of infinite width."""

KernelName = Literal["ntk", "nngp"]
"""Their kernels."""

_WIDE = {
    "fc": (infinite.fc, 3),
    "cntk": (infinite.cntk, 3),
    "myrtle": (infinite.myrtle, 5),
    "wide_resnet": (infinite.wide_resnet, 1),
}


@dataclass(frozen=True)
class RunGram:
    """Compute the kernel of an untrained network into a folder, or go on with it.

    The tangent kernel of a network, or with `--infinite` the tangent kernel or the
    covariance of one of infinite width.
    """

    store: Path
    """Folder for the tiles; on a cluster, one that all workers see."""
    data: str = "digits"
    """Name of the data set."""
    model: models.ModelName = "mlp"
    """The network."""
    num_samples: int | None = None
    """Samples, train then test, drawn by a fixed key; all by default."""
    seed: int = 42
    """Of the network's initialization."""
    infinite: WideName | None = None
    """Instead of the network, one of infinite width."""
    depth: int | None = None
    """Its depth: hidden layers of fc, convolutions of cntk, layers of myrtle, or blocks
    of wide_resnet in each group; by default 3, 3, 5 and 1."""
    kernel: KernelName = "ntk"
    """Which kernel of it."""
    precision: Precision = "float32"
    """Precision of the kernel."""
    memory: int | None = None
    """Bytes that may be used; on a cluster, by each worker."""
    cluster: str | None = None
    """Scheduler's address such as tcp://127.0.0.1:8786, or local:2 for two workers."""
    progress: bool = True
    """Show a progress bar."""


@dataclass(frozen=True)
class ShowGram:
    """Say how far a Gram matrix on disk is, while others fill it or not."""

    folder: tyro.conf.Positional[Path]
    """The folder of tiles."""
    check: bool = False
    """Verify the checksums of all tiles, which reads them."""


@dataclass(frozen=True)
class ClusterExample:
    """Print a file to begin with: a batch script, or manifests."""

    system: tyro.conf.Positional[Literal["slurm", "kubernetes"]]
    """Who starts workers."""
    store: str = "/scratch/gram"
    """Folder of the tiles, on a file system that all workers see."""
    workers: int = 8
    """Number of workers."""
    memory: int = 16
    """Of each worker, in GB."""
    gpus: int = 0
    """Of each worker, 0 or 1."""


def compute(command: RunGram) -> TiledGram:
    """Compute a Gram matrix into a folder.

    Args:
        command: What is asked.

    Returns:
        The Gram matrix on disk.

    Raises:
        ValueError: If options do not go together.
    """
    samples = data.normalize(data.load(command.data))
    if command.num_samples is not None:
        few = command.num_samples // 5
        samples = data.subset(
            samples, command.num_samples - few, num_test=few, key=jax.random.key(0)
        )
    if command.infinite is not None:
        return _compute_wide(command, command.infinite, samples)
    if command.depth is not None or command.kernel != "ntk":
        raise ValueError(
            f"depth = {command.depth} and kernel = {command.kernel} are of networks of "
            "infinite width: name one with --infinite, as in --infinite fc."
        )
    model = models.build(command.model, samples.shape)
    return kernels.gram(
        model.apply,
        model.init(jax.random.key(command.seed)),
        samples.x,
        precision=command.precision,
        memory=command.memory,
        store=command.store,
        cluster=command.cluster,
        progress=command.progress,
    )


def _compute_wide(command: RunGram, name: WideName, samples: Dataset) -> TiledGram:
    if command.precision not in ("float32", "float64"):
        raise ValueError(
            f"precision = {command.precision} is of products on a GPU: kernels of "
            "infinite width are computed in float32 or float64."
        )
    make, usual = _WIDE[name]
    network = make(usual if command.depth is None else command.depth)
    compute = network.ntk if command.kernel == "ntk" else network.nngp
    return compute(
        samples.x,
        precision=command.precision,
        memory=command.memory,
        store=command.store,
        cluster=command.cluster,
        progress=command.progress,
    )


def example(command: ClusterExample) -> str:
    """A file for a batch system.

    Args:
        command: What is asked.

    Returns:
        The file.
    """
    make = {"slurm": cluster.slurm_example, "kubernetes": cluster.kubernetes_example}
    sizes = {"workers": command.workers, "memory": command.memory}
    return make[command.system](command.store, **sizes, gpus=command.gpus)


def described(status: GramStatus) -> Iterator[str]:
    """A status as text.

    Args:
        status: The status.

    Yields:
        Lines.
    """
    manifest = status.manifest
    n, m = manifest.shape
    half = ", symmetric" if manifest.symmetric else ""
    yield f"{status.folder}: {n:,} x {m:,}, {manifest.dtype}{half}, {manifest.backend}"
    share = status.done / status.total
    yield (
        f"tiles      {status.done:,} of {status.total:,} ({share:.1%}), "
        f"{status.bytes_done / 1e9:.3g} of {status.bytes_total / 1e9:.3g} GB"
    )
    if status.idle is not None:
        yield f"last tile  {_duration(status.idle)} ago, {status.rate:.3g} tiles/s"
    if status.remaining:
        yield f"left       about {_duration(status.remaining)} at that rate"
    note = status.note
    if note is not None:
        state = "finished" if note.finished else "said so"
        yield (
            f"cluster    {note.workers} workers, {note.retries} retries, "
            f"{note.damaged} damaged tiles; {state} {_duration(age(note))} ago"
        )
        if note.dashboard and not note.finished:
            yield f"dashboard  {note.dashboard}"
    if status.damaged is not None:
        listed = ", ".join(status.damaged) or "none"
        yield f"damaged    {listed}"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
