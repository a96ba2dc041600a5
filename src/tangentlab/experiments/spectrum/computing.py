r"""The spectrum of a network's kernel at initialization, and what it says about labels.

Nothing is trained. The Gram matrix is that of training and test samples together, as in
the paper. Its eigenvectors tell how the energy of labels is spread over the modes, its
eigenvalues what that costs in the space of the kernel. $1/\lambda_j$ is the cost of a
real-valued eigenfunction; its signs, which networks learn in the paper, have another.

>>> from pathlib import Path
>>> from tangentlab.experiments import EXPERIMENTS, perform
>>> config = SpectrumStudy(data="cifar10", model="lenet", num_samples=5000)
>>> outcome = perform(  # doctest: +SKIP
...     EXPERIMENTS, "spectrum", config, Path("runs"), resume=True
... )

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770, Sections 2 and
    3.1.
"""

import shutil
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from ...analysis import binarization_overlap, complexity, resolved_modes
from ...data import Dataset
from ...kernels.request import Precision
from ...spectra import Spectrum, nystrom, orthogonality_error
from ...store import RunFolder
from ..stages.indices import spread_indices
from ..stages.kernel import NUM_PAIRS, compute_gram, multiplied, save_spectrum
from ..stages.kernel import num_pairs as usual_num_pairs
from ..stages.opening import make_keys, open_samples, open_seeds
from ..stages.seeds import Seed
from ..stages.setting import Setting
from ..stages.shared_spectra import error_of, find_pairs, leading_pairs
from .labels import class_labels, random_labels, signs_of

_MOST_INDICES = 30
_RANDOM = 1  # folded into the key of the samples
_LANDMARKS = 2


@dataclass(frozen=True)
class SpectrumStudy(Setting):
    """Decompose a network's kernel, and lay labels along its eigenfunctions."""

    num_pairs: int | None = None
    """Leading eigenpairs to compute; by default all up to 4,000 samples, else 1,000.
    With landmarks half as many as these, 1,000 at most."""
    landmarks: int | None = None
    """Approximate the pairs from this many samples, drawn at random (Nystrom), in place
    of the whole Gram matrix: its columns at these samples are enough."""
    num_random: int = 20
    """Random label vectors, for comparison."""
    precision: Precision = "float32"
    """Of the Gram matrix: float32, float64, or on a GPU high and fast."""
    gram_on_disk: bool | None = None
    """Keep the Gram matrix on disk while it is needed, from where a resumed run reads
    it; by default on a CPU."""


class _Plan(NamedTuple):
    """What is done for each seed."""

    num_pairs: int
    indices: tuple[int, ...]


def run(
    config: SpectrumStudy, folder: RunFolder, *, progress: bool, cluster: Any = None
) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; seeds that are there are not computed again.
        progress: Show progress bars.
        cluster: Whose workers compute Gram matrices.
    """
    dataset = open_samples(config).dataset
    plan = _plan(config, dataset)
    numbers = []
    opened = open_seeds(config, dataset, folder, progress=progress, cluster=cluster)
    for seed in opened:
        if not seed.has("labels"):  # the last that is saved
            _compute(config, plan, seed)
        numbers.append(seed.number)
    _log(folder, config, dataset, numbers)


def _compute(config: SpectrumStudy, plan: _Plan, seed: Seed) -> None:
    start = time.perf_counter()
    find = _whole if config.landmarks is None else _from_landmarks
    found = find(config, plan, seed)
    save_spectrum(seed, found, time.perf_counter() - start)
    _save_modes(seed, found, np.array(plan.indices))
    _save_labels(config, seed, found)
    shutil.rmtree(seed.work("gram"), ignore_errors=True)  # 14 GB for 60,000 samples


def _whole(config: SpectrumStudy, plan: _Plan, seed: Seed) -> Spectrum:
    K = compute_gram(seed, config.precision, on_disk=config.gram_on_disk)
    with multiplied(seed, K) as there:
        return find_pairs(seed, there, plan.num_pairs, config.precision)


def _from_landmarks(config: SpectrumStudy, plan: _Plan, seed: Seed) -> Spectrum:
    """Pairs by Nystrom's method, as many as the landmarks resolve."""
    at = choose_landmarks(config, len(seed.dataset.x))
    K = compute_gram(seed, config.precision, on_disk=config.gram_on_disk, columns=at)
    inside = np.asarray(K[at])
    error = error_of(seed, config.precision)
    few = leading_pairs(inside, plan.num_pairs, error)
    known = resolved_modes(few.eigenvalues, few.resolution)
    return nystrom(inside, K, int(known.sum()), epsilon=error)


def choose_landmarks(config: SpectrumStudy, n: int) -> np.ndarray:
    """Samples from which pairs are approximated, the same for all seeds.

    Args:
        config: How many.
        n: Samples there are.

    Returns:
        Their numbers, rising.
    """
    key = jax.random.fold_in(make_keys(config.seed).subset, _LANDMARKS)
    order = np.asarray(jax.random.permutation(key, n))
    return np.sort(order[: config.landmarks])


def _save_modes(seed: Seed, found: Spectrum, indices: np.ndarray) -> None:
    """What binarizing makes of some eigenfunctions; NaN where one is not resolved."""
    lam = np.asarray(found.eigenvalues, np.float64)
    known = np.zeros(len(indices), bool)
    there = indices < len(lam)
    known[there] = resolved_modes(lam, found.resolution)[indices[there]]
    V = np.asarray(found.eigenvectors)[:, indices[known]]
    measured = complexity(found, signs_of(V > 0))

    def spread(values: Any) -> np.ndarray:
        whole = np.full(len(indices), np.nan)
        whole[known] = values
        return whole

    seed.save(
        "modes",
        index=indices,
        eigenvalue=spread(lam[indices[known]]),
        overlap=spread(binarization_overlap(V)),
        balance=spread((V > 0).mean(axis=0)),
        unresolved=spread(np.asarray(found.unresolved)[indices[known]]) == 1,
        real=spread(len(V) / lam[indices[known]]),
        signs=spread(measured.squared),
        held=spread(measured.held),
        least=spread(measured.least),
    )


def _save_labels(config: SpectrumStudy, seed: Seed, found: Spectrum) -> None:
    classes = class_labels(seed.dataset)
    # The key of the samples, so that all seeds see the same random labels.
    key = jax.random.fold_in(make_keys(config.seed).subset, _RANDOM)
    drawn = random_labels(seed.dataset, config.num_random, key=key)
    arrays = {}
    for prefix, labels in (("", classes), ("random_", drawn)):
        measured = complexity(found, labels.signs)
        arrays |= {
            f"{prefix}energy": measured.energy.astype(np.float32),
            f"{prefix}complexity": measured.squared,
            f"{prefix}held": measured.held,
            f"{prefix}least": measured.least,
        }
    seed.save(
        "labels",
        names=np.array(classes.names, str),
        halved=np.array(classes.halved),
        balance=(classes.signs > 0).mean(axis=0),
        orthogonality_error=np.array(orthogonality_error(found)),
        **arrays,
    )


def _plan(config: SpectrumStudy, dataset: Dataset) -> _Plan:
    """Refuse what cannot be done before the long work."""
    n, landmarks, num = len(dataset.x), config.landmarks, config.num_pairs
    if config.num_random < 2:
        raise ValueError(
            "num_random must be at least 2, for a mean and a spread, got "
            f"{config.num_random}."
        )
    if landmarks is not None and not 4 <= landmarks <= n:
        raise ValueError(
            f"landmarks must lie in 4..{n} (there are {n} samples), got {landmarks}."
        )
    if num is None:
        num = usual_num_pairs(n, 0) if landmarks is None else landmarks // 2
        num = num if landmarks is None else min(num, NUM_PAIRS)
    most = n if landmarks is None else landmarks
    if not 2 <= num <= most:
        there = f"{n} samples" if landmarks is None else f"{landmarks} landmarks"
        raise ValueError(f"num_pairs must lie in 2..{most} (there are {there}): {num}.")
    return _Plan(num, spread_indices(min(_MOST_INDICES, num), num - 1))


def _log(
    folder: RunFolder, config: SpectrumStudy, dataset: Dataset, seeds: list[int]
) -> None:
    folder.log(
        data=dataset.name,
        model=config.model,
        num_train=dataset.num_train,
        num_test=dataset.num_test,
        seeds=seeds,
    )
    counts = ("num_negative", "num_below_resolution", "num_unconverged")
    numbers = ("trace", "captured", "effective_rank", "participation_ratio")
    for seed in seeds:
        found, labels = (folder.arrays(f"{n}-{seed}") for n in ("spectrum", "labels"))
        folder.log(
            seed=seed,
            num_pairs=len(found["eigenvalues"]),
            **{name: int(found[name]) for name in counts},
            **{name: float(found[name]) for name in numbers},
            exponent=float(found["power_law"][0]),
            overlap=float(found["overlap"][1:].mean()),
            random_complexity=float(labels["random_complexity"].mean()),
            random_held=float(labels["random_held"].mean()),
        )
        for row, name in enumerate(labels["names"]):
            folder.log(
                seed=seed,
                labels=str(name),
                balance=labels["balance"][row],
                complexity=labels["complexity"][row],
                held=labels["held"][row],
                least=labels["least"][row],
            )
