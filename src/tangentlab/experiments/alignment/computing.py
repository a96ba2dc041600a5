r"""Alignment and energy concentration of the kernel along training.

A network learns the first five of ten classes against the others (CIFAR2). At some
epochs its tangent kernel is measured on part of the training samples: how far it is
aligned with the labels, how much of them its leading eigenvectors hold, how far it has
turned and how fast, and over how many directions it is spread.

The paper does not tell whether the networks of its Table 1 were trained on all samples
or on those that the kernel was measured on: both can be done in one run.

Reference:
    Ortiz-Jimenez, Moosavi-Dezfooli and Frossard, "What can linearized neural networks
    actually say about generalization?", NeurIPS 2021, arXiv:2106.06770, Section 4.1,
    and Table 1 of its supplement.
"""

import dataclasses
import time
from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from ... import data, tasks
from ..._progress import progress_bar
from ..._types import Inputs
from ...analysis import Tracker
from ...data import Dataset
from ...kernels.request import Precision
from ...store import RunFolder
from ...training import Recipe, train
from ..stages.opening import make_keys, open_samples, open_seeds
from ..stages.seeds import Seed
from ..stages.setting import Setting
from ..stages.shared_networks import share_networks
from ..stages.trained import TRAINABLE, Statistics, with_state
from ..stages.training import save_history, training_options
from .snapshots import Snapshots

Reading = Literal["all", "subset"]
"""What a network is trained on."""

PUBLISHED_SAMPLES = 12_000
"""Training samples on which the paper measures the kernel."""
_EPOCHS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Alignment(Setting):
    """Train a network on the first five of ten classes and watch its tangent kernel."""

    kernel_samples: int | None = None
    """Training samples on which the kernel is measured, stratified by class; by default
    12,000 as in the paper, or all where there are fewer."""
    train_on: tuple[Reading, ...] = ("all", "subset")
    """Train on all training samples, on the subset that the kernel is measured on, or
    once on each, to find out which the paper's Table 1 is about."""
    recipe: Recipe = Recipe(epochs=200)
    """How the network is trained; 200 epochs as in the paper's text (its code: 100)."""
    measure_at: tuple[int, ...] | None = None
    """Epochs after which the kernel is measured, besides 0 and the last; by default 1 2
    5 10 20 50 100 200 ..."""
    num_modes: int = 50
    """Leading eigenvectors of which the energy concentration is told."""
    num_permutations: int = 200
    """Permuted label vectors to which the rise of the alignment is compared."""
    statistics: Statistics = "running"
    """Batch statistics of the kernel during training: running, or initial."""
    precision: Precision = "float32"
    """Of the Gram matrices: float32, float64, or on a GPU high and fast."""


class _Plan(NamedTuple):
    """What is done for each seed."""

    sets: dict[Reading, Dataset]
    x: Inputs
    targets: Float[np.ndarray, "n k"]
    epochs: tuple[int, ...]


def run(config: Alignment, folder: RunFolder, *, progress: bool) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
    """
    dataset = open_samples(config).dataset
    plan = _plan(config, dataset)
    numbers = []
    for seed in open_seeds(config, dataset, folder, progress=progress):
        for reading, samples in plan.sets.items():
            own = dataclasses.replace(seed, dataset=samples)
            _compute(config, plan, own, reading)
        numbers.append(seed.number)
    folder.log(
        data=dataset.name,
        model=config.model,
        num_train=dataset.num_train,
        num_test=dataset.num_test,
        kernel_samples=len(plan.targets),
        seeds=numbers,
        readings=list(plan.sets),
        num_modes=config.num_modes,
        epochs=config.recipe.epochs,
    )
    for number in numbers:
        for reading in plan.sets:
            _log_kernel(folder, number, reading)


def _log_kernel(folder: RunFolder, number: int, reading: Reading) -> None:
    """What was measured of the labels, epoch by epoch; permuted ones stay aside."""
    saved = folder.arrays(f"kernel-{reading}-{number}")
    curves = {name: a if a.ndim == 1 else a[:, 0] for name, a in saved.items()}
    for at, epoch in enumerate(curves.pop("step")):
        values = {name: float(curve[at]) for name, curve in curves.items()}
        known = {name: v if np.isfinite(v) else None for name, v in values.items()}
        folder.log(seed=number, trained_on=reading, epoch=int(epoch), **known)


def _compute(config: Alignment, plan: _Plan, seed: Seed, reading: Reading) -> None:
    """Train, then measure what training left."""
    if seed.has(f"kernel-{reading}"):
        return
    begin = seed.params, seed.model.init_state()
    kept = Snapshots(seed.work(f"snapshots-{reading}"), plan.epochs, begin)
    _train(config, seed, reading, kept)
    tracker = Tracker(
        with_state(seed.model),
        plan.x,
        plan.targets,
        num=config.num_modes,
        trainable=TRAINABLE,
        precision=config.precision,
    )
    title = str(seed.title(f"Kernel, trained on {reading}"))
    bar = {"show": seed.progress, "unit": "kernels"}
    with progress_bar(title, len(plan.epochs), **bar) as advance:
        for epoch in plan.epochs:
            parts = kept.read(epoch)
            if config.statistics == "initial":
                parts["state"] = seed.model.init_state()
            tracker(epoch, parts)
            advance(1)
    seed.save(f"kernel-{reading}", **tracker.history())


def _train(config: Alignment, seed: Seed, reading: Reading, kept: Snapshots) -> None:
    name, start = f"network-{reading}", time.perf_counter()
    options = training_options(seed, name, f"Network, trained on {reading}")
    task = tasks.cifar2(seed.dataset)
    history = train(
        seed.model,
        seed.params,
        task,
        config.recipe,
        on_epoch=kept.keep,
        **options,
    )
    if bool(history.diverged.any()):
        raise ValueError(
            f"Training on {reading} samples diverged for seed {seed.number}, so that "
            f"there is no kernel to measure: lower recipe.learning_rate, which is "
            f"{config.recipe.largest_rate:g}."
        )
    if not seed.has(name):
        save_history(seed, name, history, time.perf_counter() - start)
        share_networks(seed, [task], config.recipe, history)


def _plan(config: Alignment, dataset: Dataset) -> _Plan:
    """Refuse what cannot be done before the long work."""
    most = dataset.num_train
    num = config.kernel_samples
    num = min(PUBLISHED_SAMPLES, most) if num is None else num
    if not config.num_modes <= num <= most or config.num_modes < 1:
        raise ValueError(
            f"kernel_samples must lie in {config.num_modes}..{most}, num_modes and the "
            f"number of training samples, got {num}."
        )
    if config.num_permutations < 1:
        raise ValueError(
            f"num_permutations must be at least 1, got {config.num_permutations}."
        )
    keys = make_keys(config.seed)
    subset = data.subset(dataset, num, key=keys.subset)
    labels = np.asarray(tasks.cifar2(subset).y[:num], np.float32)
    sets = _sets(config, dataset, subset)
    for each in sets.values():
        config.recipe.steps_per_epoch(each.num_train)
    seeds = jax.random.split(keys.subset, config.num_permutations)
    shuffled = jax.vmap(lambda key: jax.random.permutation(key, labels))(seeds)
    targets = 2 * np.concatenate([labels[None], shuffled]).T - 1
    return _Plan(sets, subset.x[:num], targets, _epochs(config))


def _sets(config: Alignment, whole: Dataset, subset: Dataset) -> dict[Reading, Dataset]:
    """What is trained on; once where both are the same samples."""
    readings = config.train_on
    if not readings or len(set(readings)) < len(readings):
        raise ValueError(f"train_on must name all, subset or both, got {readings}.")
    if subset.num_train == whole.num_train:
        return {"all": whole}
    return {name: whole if name == "all" else subset for name in readings}


def _epochs(config: Alignment) -> tuple[int, ...]:
    last = config.recipe.epochs
    if config.measure_at is None:
        return (*(epoch for epoch in _EPOCHS if epoch < last), last)
    chosen = sorted({0, *config.measure_at, last})
    if chosen[0] < 0 or chosen[-1] > last:
        raise ValueError(f"measure_at must lie in 0..{last}, got {config.measure_at}.")
    return tuple(chosen)
