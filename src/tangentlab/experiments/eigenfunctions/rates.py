"""Choosing a learning rate on samples that are kept back from training."""

import dataclasses
from typing import NamedTuple

import jax
import numpy as np

from ...data import Dataset
from ...tasks import Task
from ...training import Recipe
from ..stages.courses import MODELS
from ..stages.seeds import Seed
from ..stages.training import Job, learn_linearized, learn_network

_KEPT_BACK = 10  # one in so many training samples
_TASKS = 4


class _Trial(NamedTuple):
    """Tasks on the training samples alone, the last of which are for validation."""

    seed: Seed
    tasks: list[Task]


def choose_rates(
    seed: Seed, tasks: list[Task], recipe: Recipe, rates: tuple[float, ...]
) -> dict[str, float]:
    """The learning rate with which each model answers best on a tenth kept back.

    Both models are trained on up to four tasks with each rate, without a tenth of the
    training samples; test samples have no part in it. Results are saved as `rates`.

    Args:
        seed: Network, parameters, samples and where to save.
        tasks: The tasks of the experiment.
        recipe: How they are trained, but for the rate.
        rates: The rates.

    Returns:
        The rate of each model.
    """
    if not seed.has("rates"):
        trial = _trial(seed, tasks)
        accuracy = {model: [] for model in MODELS}
        for number, rate in enumerate(rates):
            tried = dataclasses.replace(recipe, learning_rate=rate)
            job = Job(f"rate{number}", trial.tasks, tried)
            learn_network(trial.seed, job)
            learn_linearized(trial.seed, job)
            for model in MODELS:
                accuracy[model].append(_accuracy(trial.seed, job.results(model)))
        index = np.array([task.index for task in trial.tasks])
        stacked = {model: np.stack(values) for model, values in accuracy.items()}
        seed.save("rates", rates=np.array(rates), index=index, **stacked)
    saved = seed.load("rates")
    return {model: float(saved["rates"][best(saved[model])]) for model in MODELS}


def num_left(num_train: int) -> int:
    """Training samples that are left when some are kept back.

    Args:
        num_train: How many there are.

    Returns:
        Nine tenths.
    """
    return num_train - num_train // _KEPT_BACK


def best(accuracy: np.ndarray) -> int:
    """The rate with the best mean accuracy.

    Args:
        accuracy: A row per rate, a column per task; NaN where training diverged.

    Returns:
        Its place, the first of equals. A rate with which any task diverged comes last.
    """
    means = accuracy.mean(axis=1)
    return int(np.where(np.isnan(means), -np.inf, means).argmax())


def _trial(seed: Seed, tasks: list[Task]) -> _Trial:
    m = seed.dataset.num_train
    order = np.asarray(jax.random.permutation(jax.random.fold_in(seed.key, 1), m))
    data, num_train = seed.dataset, num_left(m)
    part = Dataset(
        np.asarray(data.x)[order],
        np.asarray(data.y)[order],
        data.names,
        num_train,
        name=data.name,
    )
    fit = [task for task in tasks if not task.degenerate] or tasks
    places = np.linspace(0, len(fit) - 1, min(_TASKS, len(fit))).round().astype(int)
    chosen = [
        dataclasses.replace(
            fit[place], x=part.x, y=np.asarray(fit[place].y)[order], num_train=num_train
        )
        for place in places
    ]
    return _Trial(dataclasses.replace(seed, dataset=part), chosen)


def _accuracy(seed: Seed, name: str) -> np.ndarray:
    saved = seed.load(name)
    return np.where(saved["diverged"], np.nan, saved["test_accuracy"][:, -1])
