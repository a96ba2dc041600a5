"""From a network to tasks: its Gram matrix, the spectrum of that, and labels."""

import dataclasses
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ... import models
from ...analysis import binarization_overlap, complexity
from ...kernels import TiledGram, gram, spread
from ...kernels.planning import backend
from ...kernels.request import Precision
from ...models import Activation, ModelName
from ...spectra import Spectrum, summary
from ...tasks import Task, eigenfunction
from .seeds import OWN, Seed
from .shared_spectra import find_pairs

SMALL = 4000
"""Up to this many samples the whole spectrum is computed."""
NUM_PAIRS = 1000
"""Leading pairs of larger ones, as in the paper."""
_MARGIN = 1.05  # pairs beyond the last that is needed: the last few converge slowly
_EXTREMES = 5  # samples at either end of an eigenfunction


def num_pairs(n: int, largest: int) -> int:
    """How many eigenpairs are computed unless told otherwise.

    Args:
        n: Number of samples.
        largest: The largest index that is needed.

    Returns:
        All of them for few samples, else a thousand, or as many as are needed.
    """
    if n <= SMALL:
        return n
    return min(n, max(NUM_PAIRS, int(_MARGIN * (largest + 1)) + 8))


def labeled_by(seed: Seed, name: ModelName, activation: Activation | None) -> Seed:
    """The network whose kernel labels the samples of a seed.

    Args:
        seed: The network that learns.
        name: Its name.
        activation: Of the kernel; None for that of the network.

    Returns:
        The seed itself, or one of the same parameters with that activation.
    """
    if activation is None:
        return seed
    model = models.build(name, seed.dataset.shape, activation=activation)
    source = f"{activation} at the same parameters"
    return dataclasses.replace(seed, model=model, source=source)


def compute_gram(
    seed: Seed,
    precision: Precision,
    *,
    on_disk: bool | None = None,
    columns: np.ndarray | None = None,
) -> Any:
    """The Gram matrix of all samples, or some of its columns.

    Args:
        seed: Network, parameters and samples.
        precision: Of `tl.gram`.
        on_disk: Write it to the run folder, tile by tile, from where a resumed run
            goes on; by default on a CPU. On an accelerator it stays there and is
            computed again, which is faster than to write it. On a cluster it is
            always on disk.
        columns: Numbers of the samples that are columns; None for all.

    Returns:
        An array on the device, or a `TiledGram`.
    """
    x = seed.dataset.x
    others = None if columns is None else x[columns]
    arguments = (seed.model.apply, seed.params, x, others)
    if not keeps_gram(on_disk, seed.cluster):
        return gram(*arguments, precision=precision, progress=seed.progress)
    folder = seed.work("gram" if seed.source == OWN else "gram-of-labels")
    folder.parent.mkdir(parents=True, exist_ok=True)
    return gram(
        *arguments,
        precision=precision,
        store=folder,
        cluster=seed.cluster,
        progress=seed.progress,
    )


def keeps_gram(on_disk: bool | None, cluster: Any = None) -> bool:
    """Whether the Gram matrix is there again after an interruption.

    Args:
        on_disk: What was asked for; None for the default.
        cluster: Whose workers compute it, to disk; None for this process.

    Returns:
        True on a CPU by default, and on a cluster.
    """
    if cluster is not None:
        return True
    return backend() == "cpu" if on_disk is None else on_disk


def make_tasks(
    seed: Seed,
    K: TiledGram | Any,
    indices: Sequence[int],
    num: int,
    precision: Precision,
) -> Spectrum:
    """Decompose the Gram matrix and save spectrum and tasks.

    Eigenvalues below the resolution are counted and flagged in the results, so that
    there is no warning of them.

    Args:
        seed: Network, samples, and where to save.
        K: Their Gram matrix.
        indices: Eigenfunctions to make tasks of.
        num: How many eigenpairs.
        precision: Of the Gram matrix.

    Returns:
        The spectrum.
    """
    start = time.perf_counter()
    with multiplied(seed, K) as there:
        found = find_pairs(seed, there, num, precision)
    seconds = time.perf_counter() - start
    made = [eigenfunction(found, i, seed.dataset, source=seed.source) for i in indices]
    save_spectrum(seed, found, seconds)
    index = np.array(indices)
    labels = np.stack([np.asarray(task.y) > 0 for task in made])
    costs = complexity(found, np.where(labels, 1.0, -1.0).T)
    lam = np.asarray(found.eigenvalues)[index]
    ordered = np.argsort(np.asarray(found.eigenvectors[:, index]), axis=0).T
    few = min(_EXTREMES, ordered.shape[1] // 2)
    seed.save(
        "tasks",
        index=index,
        labels=labels,
        eigenvalue=lam,
        balance=np.array([task.balance for task in made]),
        chance=np.array([task.test_chance for task in made]),
        degenerate=np.array([task.degenerate for task in made]),
        unresolved=np.array([task.unresolved for task in made]),
        below_resolution=lam < found.resolution,
        lowest=ordered[:, :few],
        highest=ordered[:, ::-1][:, :few],
        energy=costs.energy.astype(np.float32),
        complexity=costs.squared,
        held=costs.held,
        least_complexity=costs.least,
        source=np.array(seed.source),
    )
    return found


@contextmanager
def multiplied(seed: Seed, K: Any) -> Iterator[Any]:
    """The matrix, multiplied by the workers of a cluster where there is one.

    Args:
        seed: With the cluster, if there is one.
        K: The matrix.

    Yields:
        What has its products.
    """
    if seed.cluster is None or not isinstance(K, TiledGram):
        yield K
        return
    with spread(K, seed.cluster) as there:
        yield there


def saved_tasks(seed: Seed) -> list[Task]:
    """Make the tasks again from what was saved.

    Args:
        seed: The samples, and where it was saved.

    Returns:
        The tasks.
    """
    saved, data = seed.load("tasks"), seed.dataset
    rounded = saved["unresolved"] | saved["below_resolution"]
    parts = zip(saved["index"], saved["labels"], rounded, strict=True)
    return [
        Task(
            x=data.x,
            y=labels.astype(np.float32),
            num_train=data.num_train,
            name=f"{data.name} eigenfunction {index}",
            index=int(index),
            unresolved=bool(unresolved),
            source=str(saved["source"]),
        )
        for index, labels, unresolved in parts
    ]


def save_spectrum(seed: Seed, found: Spectrum, seconds: float) -> None:
    """Save eigenvalues, how far to trust them, and what they amount to.

    Args:
        seed: Where to save.
        found: The spectrum; its vectors are not saved.
        seconds: How long it took.
    """
    facts = summary(found)
    fit = facts.power_law
    law = (
        (fit.exponent, fit.standard_error, fit.prefactor, fit.start, fit.stop)
        if fit
        else (np.nan,) * 5
    )
    seed.save(
        "spectrum",
        eigenvalues=found.eigenvalues,
        residuals=found.residuals,
        overlap=binarization_overlap(np.asarray(found.eigenvectors)),
        resolution=np.array(found.resolution),
        trace=np.array(facts.trace),
        captured=np.array(facts.captured),
        effective_rank=np.array(facts.effective_rank),
        participation_ratio=np.array(facts.participation_ratio),
        power_law=np.array(law),
        num_negative=np.array(found.num_negative),
        num_below_resolution=np.array(found.num_below_resolution),
        num_unconverged=np.array(found.num_unconverged),
        method=np.array(found.method),
        seconds=np.array(seconds),
    )
