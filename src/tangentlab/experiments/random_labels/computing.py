"""Networks fit random labels, later than true ones.

A network learns halved classes with true labels, with labels of which a share is
random, and true labels of images that lost their structure. All are fitted; the test
error goes to chance. Then the same with weight decay.

Reference:
    Zhang, Bengio, Hardt, Recht and Vinyals, "Understanding deep learning requires
    rethinking generalization", ICLR 2017, arXiv:1611.03530; the CentraleSupelec lecture
    (class 5, January 2025).
"""

import dataclasses
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Key

from ... import models, tasks
from ...data import Dataset
from ...models import ModelName
from ...store import RunFolder
from ...tasks import Task
from ...training import History, Recipe, train_seeds
from ..stages.samples import load_samples

SPOILED = ("shuffled pixels", "shuffled per image", "Gaussian images")
"""Samples that lost their structure, with their true labels."""

_FIELDS = ("train_loss", "train_accuracy", "test_accuracy", "distance")


@dataclasses.dataclass(frozen=True)
class RandomLabels:
    """Train a network on true and on random labels."""

    data: str = "digits"
    """Data set of ten classes, of which the first five are told from the others."""
    directory: Path | None = None
    """Folder with the data; else $TANGENTLAB_DATA, then the user cache."""
    num_train: int = 300
    """Training samples."""
    num_test: int = 300
    """Test samples, always with their true labels."""
    model: ModelName = "mlp"
    """Network: mlp, lenet or resnet18."""
    corruptions: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    """Shares of training labels that are replaced by a fair coin; 0 first, 1 last."""
    recipe: Recipe = Recipe(epochs=120, batch_size=50, schedule="constant")
    """How the network is trained; long enough to fit everything."""
    weight_decay: float = 0.02
    """Also trained with this decay, on true and on random labels."""
    seeds: int = 5
    """Initializations. Five are needed for intervals."""
    seed: int = 0
    """The first of them; decides samples and labels too."""


def run(config: RandomLabels, folder: RunFolder, *, progress: bool) -> None:
    """Compute the experiment and write its arrays and metrics.

    Args:
        config: What to do.
        folder: Where to write; parts that are there are not computed again.
        progress: Show progress bars.
    """
    dataset = _load(config)
    made = make_tasks(config, dataset)
    parts = {
        "labels": (made[: len(config.corruptions)], 0.0),
        "images": (made[len(config.corruptions) :], 0.0),
        "decay": ([made[0], made[len(config.corruptions) - 1]], config.weight_decay),
    }
    for name, (some, decay) in parts.items():
        if not folder.has_arrays(name):
            recipe = dataclasses.replace(config.recipe, weight_decay=decay)
            title = f"Network, {name}" if progress else False
            histories = _train(config, dataset, some, recipe, title)
            folder.save_arrays(name, **_numbers(histories, dataset, some))
    for name in parts:
        saved = folder.arrays(name)
        folder.log(
            part=name,
            train_error=saved["train_error"].mean(axis=0),
            test_accuracy=saved["test_accuracy"][..., -1].mean(axis=0),
        )


def make_tasks(config: RandomLabels, dataset: Dataset) -> list[Task]:
    """All tasks: shares of random labels, then spoiled images.

    Args:
        config: What to do.
        dataset: The samples.

    Returns:
        The tasks.
    """
    task = tasks.cifar2(dataset)
    noise, shuffle, every, gauss = jax.random.split(jax.random.key(config.seed), 4)
    corrupted = [
        tasks.with_label_noise(task, share, key=noise) for share in config.corruptions
    ]
    return [
        *corrupted,
        tasks.shuffled_pixels(task, key=shuffle),
        tasks.shuffled_pixels(task, key=every, per_image=True),
        tasks.gaussian_images(task, key=gauss),
    ]


def _train(
    config: RandomLabels,
    dataset: Dataset,
    some: list[Task],
    recipe: Recipe,
    title: str | bool,
) -> tuple[History, ...]:
    model = models.build(config.model, dataset.shape)
    keys = _keys(config)
    return train_seeds(
        model, jax.vmap(model.init)(keys), some, recipe, keys=keys, progress=title
    )


def _numbers(
    histories: tuple[History, ...], dataset: Dataset, some: list[Task]
) -> dict[str, np.ndarray]:
    """Seeds first, then tasks, then epochs where there are some."""
    n = dataset.num_train
    wrong = [
        [
            float(
                np.mean((np.asarray(outputs[:n]) > 0) != (np.asarray(task.y[:n]) > 0))
            )
            for outputs, task in zip(history.outputs, some, strict=True)
        ]
        for history in histories
    ]
    curves = {
        field: np.stack([np.asarray(getattr(each, field)) for each in histories])
        for field in _FIELDS
    }
    return {"train_error": np.array(wrong), **curves}


def _load(config: RandomLabels) -> Dataset:
    """The samples, once everything else has been looked at."""
    shares = config.corruptions
    if (
        len(shares) < 2
        or shares[0] != 0
        or shares[-1] != 1
        or list(shares) != sorted(shares)
    ):
        raise ValueError(
            f"corruptions must rise from 0 to 1, such as 0 0.5 1, got {shares}."
        )
    if config.seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {config.seeds}.")
    config.recipe.steps_per_epoch(config.num_train)
    return load_samples(
        config.data,
        config.directory,
        config.num_train + config.num_test,
        config.num_test,
        key=jax.random.key(config.seed),
    ).dataset


def _keys(config: RandomLabels) -> Key[jax.Array, " s"]:
    numbers = range(config.seed, config.seed + config.seeds)
    return jnp.stack([jax.random.key(number) for number in numbers])
