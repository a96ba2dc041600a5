r"""Accuracy against eigenfunction index, the network and its linearization.

Each task labels the same images by the sign of one eigenfunction of the network's own
tangent kernel at initialization. Network and linearization start from the same
parameters and see the same batches. Distances from the start, and the steps to a small
training loss, come with it.

>>> from pathlib import Path
>>> from tangentlab.experiments import EXPERIMENTS, perform
>>> config = Eigenfunctions(data="cifar10", model="lenet", num_indices=48)
>>> outcome = perform(  # doctest: +SKIP
...     EXPERIMENTS, "eigenfunctions", config, Path("runs"), resume=True
... )

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770, Section 3.2.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ... import tasks
from ...data import Dataset
from ...kernels.request import Precision
from ...models import Activation
from ...report.gallery import Gallery
from ...store import RunFolder
from ...training import Recipe
from ..stages.courses import MODELS, courses
from ..stages.indices import FINE_GRID, choose_indices
from ..stages.kernel import (
    compute_gram,
    keeps_gram,
    labeled_by,
    make_tasks,
    num_pairs,
    saved_tasks,
)
from ..stages.opening import open_samples, open_seeds
from ..stages.seeds import Seed
from ..stages.setting import Setting
from ..stages.training import (
    Job,
    Space,
    is_dual,
    learn_dual,
    learn_linearized,
    learn_network,
    warn_of_rate,
)
from .rates import choose_rates, num_left

REFERENCE = "reference"


@dataclasses.dataclass(frozen=True)
class Eigenfunctions(Setting):
    """Train a network and its linearization on eigenfunctions of its kernel."""

    indices: tuple[int, ...] | None = None
    """Eigenfunctions to learn, from 0 (the paper's phi_1); by default 24 between 0 and
    999, as far as these lie below half the number of samples: as many as it takes to
    tell whether accuracy falls."""
    num_indices: int | None = None
    """This many instead, evenly spread on a log scale between 0 and the last of the
    default ones. Whether both models rank tasks alike takes 40 of use, so 42."""
    label_activation: Activation | None = None
    """Activation of the kernel whose eigenfunctions are the labels, at the same
    parameters; that of the network by default. The paper's code takes relu for them and
    trains its ResNet18 with gelu; its text does not."""
    recipe: Recipe = Recipe()
    """How both models are trained."""
    rates: tuple[float, ...] | None = None
    """Learning rates to choose from, for each model the one that answers best on a
    tenth of the training samples kept back, of the first seed; by default that of the
    recipe. The paper does not tell its rate of Adam."""
    linearized_in: Space = "auto"
    """Train the linearization in function space, from its Gram matrix, or in the space
    of weights; by default the former, and the latter for adam."""
    reference_epochs: int | None = None
    """Epochs for which both also learn the first five of ten classes against the other
    five (CIFAR2), as a reference; 0 for none. By default twice those of the recipe on
    CIFAR-10, as the paper's 200 are of its 100, and none on other data."""
    num_pairs: int | None = None
    """Leading eigenpairs to compute; by default all up to 4,000 samples, else 1,000, or
    as many as the largest index needs."""
    precision: Precision = "float32"
    """Of the Gram matrix: float32, float64, or on a GPU high and fast."""
    gram_on_disk: bool | None = None
    """Keep the Gram matrix on disk while the run lasts, from where a resumed run reads
    it; by default on a CPU. A GPU computes it again faster than it is written."""

    @property
    def epochs_of_reference(self) -> int:
        """Epochs on CIFAR2; 0 for none."""
        if self.reference_epochs is not None:
            return self.reference_epochs
        return 2 * self.recipe.epochs if self.data == "cifar10" else 0


DEMO = Eigenfunctions(num_indices=26)
"""What `tangentlab demo` runs: the embedded digits, half a minute on 2 cores."""


class _Plan(NamedTuple):
    """What is done for each seed."""

    indices: tuple[int, ...]
    num_pairs: int
    dual: bool


def run(
    config: Eigenfunctions, folder: RunFolder, *, progress: bool, cluster: Any = None
) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
        cluster: Whose workers compute Gram matrices and share tasks.
    """
    samples = open_samples(config)
    plan = _plan(config, samples.dataset)
    seeds = []
    opened = open_seeds(
        config, samples.dataset, folder, progress=progress, cluster=cluster
    )
    for seed in opened:
        _compute(config, plan, seed)
        seeds.append(seed.number)
    _save_gallery(folder, samples.raw, config.seed)
    _log(folder, config.model, samples.dataset, seeds)
    if config.epochs_of_reference:
        _log_reference(folder, seeds)
    if config.rates is not None:
        _log_rates(folder, config.seed)


def _compute(config: Eigenfunctions, plan: _Plan, seed: Seed) -> None:
    """Everything of one seed; the Gram matrix is gone when the network is trained."""
    _compute_kernel(config, plan, seed)
    if not plan.dual:
        for job in _jobs(config, seed, "linearized"):
            learn_linearized(seed, job)
    for job in _jobs(config, seed, "network"):
        learn_network(seed, job)


def _compute_kernel(config: Eigenfunctions, plan: _Plan, seed: Seed) -> None:
    made = seed.has("tasks")
    jobs = list(_jobs(config, seed, "linearized")) if made else []
    learned = all(seed.has(job.results("linearized")) for job in jobs)
    if made and (learned or not plan.dual):
        return
    source, K = labeled_by(seed, config.model, config.label_activation), None
    if not made:
        K = compute_gram(source, config.precision, on_disk=config.gram_on_disk)
        make_tasks(source, K, plan.indices, plan.num_pairs, config.precision)
        if not plan.dual and source is seed and config.rates is None:
            warn_of_rate(K, config.recipe, seed.dataset.num_train)
    if plan.dual:
        if K is None or source is not seed:
            K = compute_gram(seed, config.precision, on_disk=config.gram_on_disk)
        for job in _jobs(config, seed, "linearized"):
            kept = keeps_gram(config.gram_on_disk, seed.cluster)
            learn_dual(seed, job, K, resumable=kept)


def _jobs(config: Eigenfunctions, seed: Seed, model: str) -> Iterator[Job]:
    made, recipe = saved_tasks(seed), config.recipe
    if config.rates is not None:
        first = _of_first(config, seed)
        chosen = choose_rates(first, saved_tasks(first), recipe, config.rates)
        recipe = dataclasses.replace(recipe, learning_rate=chosen[model])
    yield Job("", made, recipe)
    if config.epochs_of_reference:
        longer = dataclasses.replace(recipe, epochs=config.epochs_of_reference)
        yield Job(REFERENCE, [tasks.cifar2(seed.dataset)], longer)


def _of_first(config: Eigenfunctions, seed: Seed) -> Seed:
    """The first seed, on which rates are chosen before there is any other."""
    return dataclasses.replace(seed, number=config.seed)


def _plan(config: Eigenfunctions, dataset: Dataset) -> _Plan:
    """Refuse what cannot be done before the long work."""
    n = len(dataset.x)
    config.recipe.steps_per_epoch(dataset.num_train)
    if config.epochs_of_reference < 0:
        raise ValueError(
            f"reference_epochs must be at least 0, got {config.reference_epochs}."
        )
    if config.epochs_of_reference:
        tasks.cifar2(dataset)
    if config.rates is not None:
        _check_rates(config.rates, config.recipe, dataset.num_train)
    asked = config.indices, config.num_indices
    indices = choose_indices(*asked, n, grid=FINE_GRID)
    num = num_pairs(n, max(indices)) if config.num_pairs is None else config.num_pairs
    if not max(indices) < num <= n:
        raise ValueError(
            f"num_pairs must lie in {max(indices) + 1}..{n} (the largest index is "
            f"{max(indices)}, there are {n} samples), got {num}."
        )
    return _Plan(indices, num, is_dual(config.linearized_in, config.recipe))


def _check_rates(rates: tuple[float, ...], recipe: Recipe, num_train: int) -> None:
    if len(rates) < 2 or min(rates) <= 0:
        raise ValueError(
            f"rates must be at least two learning rates above 0, got {rates}; for a "
            "single one set recipe.learning_rate."
        )
    recipe.steps_per_epoch(num_left(num_train))


def _log(folder: RunFolder, model: str, dataset: Dataset, seeds: list[int]) -> None:
    spectra = [folder.arrays(f"spectrum-{seed}") for seed in seeds]
    counts = ("num_negative", "num_below_resolution", "num_unconverged")
    folder.log(
        data=dataset.name,
        model=model,
        num_train=dataset.num_train,
        num_test=dataset.num_test,
        seeds=seeds,
        **{name: [int(each[name]) for each in spectra] for name in counts},
    )
    for seed in seeds:
        made = folder.arrays(f"tasks-{seed}")
        ended = {
            f"{name}_{field}": values[:, -1] if values.ndim == 2 else values
            for name in MODELS
            for field, values in folder.arrays(f"{name}-{seed}").items()
            if field not in ("seconds", "test_outputs")
        }
        went = courses(folder, seed)
        for row, index in enumerate(made["index"]):
            folder.log(
                seed=seed,
                index=index,
                eigenvalue=made["eigenvalue"][row],
                balance=made["balance"][row],
                complexity=made["complexity"][row],
                energy_held=made["held"][row],
                least_complexity=made["least_complexity"][row],
                **{name: values[row] for name, values in ended.items()},
                **went[row],
            )


def _log_reference(folder: RunFolder, seeds: list[int]) -> None:
    for seed in seeds:
        saved = {name: folder.arrays(f"{name}-{REFERENCE}-{seed}") for name in MODELS}
        accuracy = {name: each["test_accuracy"][0] for name, each in saved.items()}
        folder.log(
            seed=seed,
            task="cifar2",
            **{f"{name}_test_accuracy": curve[-1] for name, curve in accuracy.items()},
            **{f"{name}_best": np.nanmax(curve) for name, curve in accuracy.items()},
            **courses(folder, seed, REFERENCE)[0],
        )


def _log_rates(folder: RunFolder, seed: int) -> None:
    saved = folder.arrays(f"rates-{seed}")
    for place, rate in enumerate(saved["rates"]):
        accuracy = {f"{name}_kept_back": saved[name][place].mean() for name in MODELS}
        folder.log(learning_rate=rate, **accuracy)


def _save_gallery(folder: RunFolder, dataset: Dataset, seed: int) -> None:
    """Extreme images of a few eigenfunctions, for data that are images."""
    if len(dataset.shape) != 3 or dataset.shape[-1] not in (1, 3):
        return
    made = folder.arrays(f"tasks-{seed}")
    count = len(made["index"])
    shown = np.linspace(0, count - 1, min(6, count)).round().astype(int)
    index, low, high = (made[name][shown] for name in ("index", "lowest", "highest"))
    x = np.asarray(dataset.x)
    pictures = Gallery(index, x[low], x[high])
    folder.save_arrays("gallery", **vars(pictures))
