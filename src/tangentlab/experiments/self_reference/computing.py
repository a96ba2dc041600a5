r"""The linear advantage with labels from several kernels: is it self-reference?

In the paper's benchmark the labels are eigenfunctions of the very kernel whose linear
model is then compared with the network. Here the same indices are also learned with
labels from another initialization's kernel, another architecture's, and from
eigenfunctions of the training samples alone, extended to the test samples, of which the
kernel's eigenvectors then know nothing. Everything else is the same: samples,
initialization, batches.
"""

import dataclasses
from typing import Any

import numpy as np

from ...data import Dataset
from ...kernels.request import Precision
from ...models import ModelName
from ...store import RunFolder
from ...tasks import Task
from ...training import Recipe
from ..stages.indices import choose_indices
from ..stages.kernel import compute_gram, keeps_gram
from ..stages.opening import open_samples, open_seeds
from ..stages.seeds import Seed
from ..stages.setting import Setting
from ..stages.shared_spectra import error_of
from ..stages.training import Job, is_dual, learn_dual, learn_network
from .sources import (
    SOURCES,
    labels_extended,
    labels_of,
    labels_of_other,
    other_network,
)

_OTHERS: dict[ModelName, ModelName] = {
    "mlp": "lenet",
    "lenet": "mlp",
    "resnet18": "lenet",
}


@dataclasses.dataclass(frozen=True)
class SelfReference(Setting):
    """Compare network and linearization on labels from several kernels."""

    other_model: ModelName | None = None
    """The other architecture, with the same activation; by default lenet, and mlp for a
    lenet."""
    indices: tuple[int, ...] | None = None
    """Eigenfunctions to learn, from 0, the same of every kernel; by default those of
    the experiment eigenfunctions."""
    num_indices: int | None = None
    """This many instead, evenly spread on a log scale."""
    recipe: Recipe = Recipe()
    """How both models are trained, by sgd."""
    precision: Precision = "float32"
    """Of the Gram matrices: float32, float64, or on a GPU high and fast."""
    gram_on_disk: bool | None = None
    """Keep the network's own Gram matrix on disk while the run lasts, from where a
    resumed run reads it; by default on a CPU."""


def run(
    config: SelfReference, folder: RunFolder, *, progress: bool, cluster: Any = None
) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; what is there from before an interruption is used.
        progress: Show progress bars.
        cluster: Whose workers compute Gram matrices and share tasks.
    """
    dataset = open_samples(config).dataset
    indices = _plan(config, dataset)
    numbers = []
    own = _own(config)
    opened = open_seeds(own, dataset, folder, progress=progress, cluster=cluster)
    for seed in opened:
        _compute(config, indices, seed)
        numbers.append(seed.number)
    _log(config, folder, dataset, numbers)


def other_of(config: SelfReference) -> ModelName:
    """The other architecture of a run.

    Args:
        config: Of the run.

    Returns:
        Its name.
    """
    return config.other_model or _OTHERS[config.model]


def _own(config: SelfReference) -> SelfReference:
    """Without the last scale where it is that of the other architecture."""
    if other_of(config) == "resnet18":
        return dataclasses.replace(config, last_scale=0.0)
    return config


def _compute(config: SelfReference, indices: tuple[int, ...], seed: Seed) -> None:
    """Labels of other kernels first, so that one Gram matrix is there at a time."""
    for source in ("seed", "architecture"):
        if not seed.has(f"labels-{source}"):
            options = (other_of(config), config.activation, config.last_scale)
            other = other_network(source, seed, *options)
            made = labels_of_other(other, seed, indices, config.precision)
            seed.save(f"labels-{source}", **made._asdict())
    _compute_own(config, indices, seed)
    learn_network(seed, _job(config, seed, indices))


def _compute_own(config: SelfReference, indices: tuple[int, ...], seed: Seed) -> None:
    if seed.has("linearized"):
        return
    K = compute_gram(seed, config.precision, on_disk=config.gram_on_disk)
    if not seed.has("labels-own"):
        own = labels_of(seed, K, indices, config.precision)
        seed.save("labels-own", **own._asdict())
    if not seed.has("labels-training"):
        error = error_of(seed, config.precision)
        extended = labels_extended(K, seed.dataset, indices, error)
        seed.save("labels-training", **extended._asdict())
    kept = keeps_gram(config.gram_on_disk, seed.cluster)
    learn_dual(seed, _job(config, seed, indices), K, resumable=kept)


def _job(config: SelfReference, seed: Seed, indices: tuple[int, ...]) -> Job:
    """All sources, in order, and for each all indices."""
    made = [
        Task(
            x=seed.dataset.x,
            y=labels.astype(np.float32),
            num_train=seed.dataset.num_train,
            name=f"{seed.dataset.name} eigenfunction {index}",
            index=index,
            source=source,
        )
        for source in SOURCES
        for index, labels in zip(
            indices, seed.load(f"labels-{source}")["y"], strict=True
        )
    ]
    return Job("", made, config.recipe)


def _plan(config: SelfReference, dataset: Dataset) -> tuple[int, ...]:
    """Refuse what cannot be done before the long work."""
    is_dual("function", config.recipe)  # refuses Adam
    config.recipe.steps_per_epoch(dataset.num_train)
    if other_of(config) == config.model:
        raise ValueError(
            f"other_model must be another architecture than model, got "
            f"{config.model!r} for both."
        )
    # Eigenfunctions of the training samples alone are fewer.
    return choose_indices(config.indices, config.num_indices, dataset.num_train)


def _log(
    config: SelfReference, folder: RunFolder, dataset: Dataset, seeds: list[int]
) -> None:
    facts: dict[str, Any] = {
        "data": dataset.name,
        "model": config.model,
        "other_model": other_of(config),
        "num_train": dataset.num_train,
        "num_test": dataset.num_test,
        "indices": _plan(config, dataset),
        "seeds": seeds,
    }
    folder.log(**facts)
    for seed in seeds:
        ended = {m: folder.arrays(f"{m}-{seed}") for m in ("network", "linearized")}
        for place, source in enumerate(SOURCES):
            first = place * len(facts["indices"])
            rows = slice(first, first + len(facts["indices"]))
            folder.log(
                seed=seed,
                source=source,
                **{
                    f"{model}_accuracy": each["test_accuracy"][rows, -1]
                    for model, each in ended.items()
                },
            )
