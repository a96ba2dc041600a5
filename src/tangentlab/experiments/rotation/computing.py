r"""Rotation of the kernel after a network has learned one eigenfunction.

A network learns the sign of eigenfunction $\phi_j$ of its own kernel at initialization.
The kernel at the end of training is then laid along all the eigenfunctions of the
beginning, $a_k(T) = v_k^\top \Theta_T v_k$, on the training samples, the test samples,
and all. What grew is $a_k(T) / a_k(0)$, where on all samples $a_k(0) = \mu_k$.

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770, Section 4.2,
    and Figures 6 and 7 of its supplement.
"""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...analysis.rotations import SPREAD
from ...analysis.weighted_gradients import energies_of_groups
from ...data import Dataset
from ...kernels.energies import is_cheaper
from ...kernels.planning import backend
from ...kernels.request import ERRORS, Request
from ...spectra import Spectrum
from ...spectra.multiplying import multiply
from ...store import RunFolder
from ..stages.kernel import (
    NUM_PAIRS,
    compute_gram,
    keeps_gram,
    labeled_by,
    make_tasks,
    saved_tasks,
)
from ..stages.modes import ModeTasks, mode_indices, precision_after
from ..stages.opening import open_samples, open_seeds
from ..stages.seeds import Seed
from ..stages.trained import (
    TRAINABLE,
    Statistics,
    Trained,
    train_networks,
    trained_gram,
    with_state,
)
from ..stages.training import Job

PARTS = ("all", "train", "test")
_MODES = "modes"


@dataclass(frozen=True)
class Rotation(ModeTasks):
    """Train a network on eigenfunctions, and see along which its kernel has grown."""

    num_modes: int | None = None
    """Eigenfunctions along which the kernel is measured; by default 1,000 as in the
    paper, or as many as there are."""
    statistics: Statistics = "running"
    """Batch statistics of the kernel after training: running, those of the end of
    training as in the paper, or initial."""


class _Plan(NamedTuple):
    """What is done for each seed."""

    indices: tuple[int, ...]
    num_modes: int


def run(
    config: Rotation, folder: RunFolder, *, progress: bool, cluster: Any = None
) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
        cluster: Whose workers compute Gram matrices.
    """
    dataset = open_samples(config).dataset
    plan = _plan(config, dataset)
    numbers = []
    opened = open_seeds(config, dataset, folder, progress=progress, cluster=cluster)
    for seed in opened:
        _compute(config, plan, seed)
        numbers.append(seed.number)
    folder.log(
        data=dataset.name,
        model=config.model,
        num_train=dataset.num_train,
        num_test=dataset.num_test,
        seeds=numbers,
        num_modes=plan.num_modes,
    )


def results(index: int) -> str:
    """Name of the results of a task.

    Args:
        index: Of its eigenfunction.

    Returns:
        The name.
    """
    return f"rotation-{index}"


def _compute(config: Rotation, plan: _Plan, seed: Seed) -> None:
    if not seed.has("before"):
        _decompose(config, plan, seed)
    if all(seed.has(results(index)) for index in plan.indices):
        return
    job = Job("", saved_tasks(seed), config.recipe)
    ends = train_networks(seed, job, config.statistics, mixed=config.mixed_precision)
    vectors = np.load(seed.work(_MODES) / "vectors.npy")
    for index, end in zip(plan.indices, ends, strict=True):
        if not seed.has(results(index)):
            _turn(config, seed, index, end, vectors)


def _decompose(config: Rotation, plan: _Plan, seed: Seed) -> None:
    """Modes of the kernel at initialization, and its quotients on parts of the data."""
    source = labeled_by(seed, config.model, config.label_activation)
    K = compute_gram(source, config.precision, on_disk=config.gram_on_disk)
    found = make_tasks(source, K, plan.indices, plan.num_modes, config.precision)
    _warn_of_unresolved(config, plan, found)
    if source is not seed:
        K = compute_gram(seed, config.precision, on_disk=config.gram_on_disk)
    _save_modes(seed, found)
    seed.save("before", **_quotients(seed, K, np.asarray(found.eigenvectors)))


def _warn_of_unresolved(config: Rotation, plan: _Plan, found: Spectrum) -> None:
    """Say before networks are trained which of them will tell nothing."""
    lam, least = np.asarray(found.eigenvalues), found.resolution
    lost = [index for index in plan.indices if lam[index] <= least]
    if not lost:
        return
    which = f"Eigenfunction {lost[0]} has an eigenvalue"
    if len(lost) > 1:
        which = f"Eigenfunctions {', '.join(map(str, lost))} have eigenvalues"
    rounded = config.precision in ERRORS and backend() == "gpu"
    finer = "float32" if rounded else "float64"
    way = "" if finer == config.precision else f"take --precision {finer}, or "
    warnings.warn(
        f"{which} below {least:.3g}, the resolution of this Gram matrix of precision "
        f"{config.precision!r}: how much the kernel grows there cannot be told; "
        f"{way}leave such indices out.",
        stacklevel=2,
    )


def _save_modes(seed: Seed, found: Spectrum) -> None:
    folder = seed.work(_MODES)
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "vectors.npy", np.asarray(found.eigenvectors))


def _turn(
    config: Rotation, seed: Seed, index: int, end: Trained, vectors: np.ndarray
) -> None:
    name = results(index)
    if _passes_gram_by(config, seed, end, vectors):
        seed.save(name, **_streamed_quotients(config, seed, end, vectors))
        return
    choices = (precision_after(config), config.gram_on_disk)
    with trained_gram(seed, end, f"gram-{index}", *choices) as K:
        seed.save(name, **_quotients(seed, K, vectors))


def _passes_gram_by(
    config: Rotation, seed: Seed, end: Trained, vectors: np.ndarray
) -> bool:
    """Whether gradients meet modes in place of one another."""
    here = seed.cluster is None and not keeps_gram(config.gram_on_disk)
    if not here or backend() != "gpu":
        return False
    network = with_state(end.model), end.parts
    num_modes = vectors.shape[1]
    return is_cheaper(*network, seed.dataset.x, num_modes, _request(config, seed))


def _request(config: Rotation, seed: Seed) -> Request:
    """Options of the kernel of a trained network."""
    return Request(
        trainable=TRAINABLE,
        precision=precision_after(config),
        progress=seed.progress,
    )


def _streamed_quotients(
    config: Rotation, seed: Seed, end: Trained, vectors: np.ndarray
) -> dict[str, np.ndarray]:
    """Rayleigh quotients of all modes, with no Gram matrix."""
    n, m = len(vectors), seed.dataset.num_train
    groups = [slice(0, m), slice(m, n)]
    network, options = (with_state(end.model), end.parts), _request(config, seed)
    found = energies_of_groups(*network, seed.dataset.x, vectors, groups, options)
    return _over_lengths(dict(zip(PARTS, found, strict=True)), vectors, m)


def _quotients(seed: Seed, K: Any, vectors: np.ndarray) -> dict[str, np.ndarray]:
    """Rayleigh quotients of all modes, each cut to a part of the samples."""
    # With v = v1 + v2, its training and its test part, two products tell all three:
    # v'Kv = v1'Kv1 + 2 v2'Kv1 + v2'Kv2.
    m = seed.dataset.num_train
    train, test = np.zeros_like(vectors), np.zeros_like(vectors)
    train[:m], test[m:] = vectors[:m], vectors[m:]
    of_train, of_test = multiply(K, train), multiply(K, test)
    energies = {
        "train": (vectors[:m] * of_train[:m]).sum(axis=0),
        "test": (vectors[m:] * of_test[m:]).sum(axis=0),
    }
    between = (vectors[m:] * of_train[m:]).sum(axis=0)
    energies["all"] = energies["train"] + 2 * between + energies["test"]
    return _over_lengths(energies, vectors, m)


def _over_lengths(
    energies: dict[str, np.ndarray], vectors: np.ndarray, m: int
) -> dict[str, np.ndarray]:
    """Energies over the squared lengths of what each part leaves of the modes."""
    squares = {"all": vectors, "train": vectors[:m], "test": vectors[m:]}
    return {part: energies[part] / (squares[part] ** 2).sum(axis=0) for part in PARTS}


def _plan(config: Rotation, dataset: Dataset) -> _Plan:
    """Refuse what cannot be done before the long work."""
    n = len(dataset.x)
    config.recipe.steps_per_epoch(dataset.num_train)
    indices = mode_indices(config, n)
    least = min(n, int(SPREAD * max(indices)) + 1)  # with all neighbors
    num = config.num_modes
    if num is None:
        num = min(n, max(NUM_PAIRS, least))
    if not least <= num <= n:
        raise ValueError(
            f"num_modes must lie in {least}..{n} (the largest index is {max(indices)} "
            f"and has neighbors up to {least - 1}, there are {n} samples), got {num}."
        )
    return _Plan(indices, num)
