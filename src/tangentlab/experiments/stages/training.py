"""Training a network and its linearization on the same tasks, once."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from ..._linalg import blocks
from ..._types import Apply, Inputs, Params
from ...models import linearize
from ...tasks import Task
from ...training import History, Recipe, origin, train, train_dual
from ...training.stability import limits_of, warn_if_unstable
from .seeds import Seed
from .shared_networks import train_once
from .sweeping import learn_tasks

Space = Literal["auto", "function", "weights"]
"""Where a linearization is trained."""

_FIELDS = (
    "train_loss",
    "train_accuracy",
    "test_loss",
    "test_accuracy",
    "iterations_by_batch",
    "iterations_by_epoch",
    "distance",
    "cosine",
    "diverged",
)
_BLOCK = 1000  # samples at once through the network


class Job(NamedTuple):
    """Tasks to learn.

    Attributes:
        name: Added to the names of the results; empty for the main ones.
        tasks: The tasks.
        recipe: How to learn them.
    """

    name: str
    tasks: list[Task]
    recipe: Recipe

    def results(self, model: str) -> str:
        """Name of the results of a model.

        Args:
            model: `network` or `linearized`.

        Returns:
            The name.
        """
        return f"{model}-{self.name}" if self.name else model


def is_dual(space: Space, recipe: Recipe) -> bool:
    """Whether a linearization is trained in function space.

    Args:
        space: What was asked for.
        recipe: How to train.

    Returns:
        True where it was asked for, and by default for all that function space can do.

    Raises:
        ValueError: If function space was asked for and cannot do it.
    """
    if space == "function" and recipe.optimizer != "sgd":
        raise ValueError(
            f"{recipe.optimizer!r} depends on the coordinates of weight space: train "
            "the linearization there, with linearized_in = 'weights' or 'auto'."
        )
    return space == "function" or (space == "auto" and recipe.optimizer == "sgd")


def learn_network(seed: Seed, job: Job) -> None:
    """Train the network on all tasks together, unless it was done before.

    Args:
        seed: Network, parameters, samples and where to save.
        job: What to learn.
    """
    name = job.results("network")
    options = training_options(seed, name, f"Network{_of(job)}")
    _learn(
        seed,
        name,
        lambda: train_once(seed, job.tasks, job.recipe, options),
    )


def learn_linearized(seed: Seed, job: Job) -> None:
    """Train the linearization in weight space, unless it was done before.

    Args:
        seed: Network, parameters, samples and where to save.
        job: What to learn.
    """
    name = job.results("linearized")
    options = training_options(seed, name, f"Linearization{_of(job)}")
    apply, params, recipe = seed.model.apply, seed.params, job.recipe

    def learn(tasks: Sequence[Task], **others: Any) -> History:
        return train(linearize(apply, params), params, tasks, recipe, **others)

    _learn(seed, name, lambda: learn_tasks(seed, job.tasks, options, learn))


def warn_of_rate(K: Any, recipe: Recipe, num_train: int) -> None:
    """Warn if a linearization trained in weight space is likely to diverge.

    In function space training itself warns. Adam has no such limit.

    Args:
        K: Gram matrix of the network that is linearized.
        recipe: How it is trained.
        num_train: Number of training samples.
    """
    if recipe.optimizer == "sgd":
        limits = limits_of(K, num_train, recipe)
        warn_if_unstable(limits, recipe.largest_rate, recipe.batch_size)


def learn_dual(seed: Seed, job: Job, K: Any, *, resumable: bool) -> None:
    """Train the linearization in function space, unless it was done before.

    Args:
        seed: Network, parameters, samples and where to save.
        job: What to learn.
        K: The Gram matrix of all samples.
        resumable: Keep checkpoints; they are of use to the very same matrix alone.
    """
    name = job.results("linearized")
    options = training_options(seed, name, f"Linearization{_of(job)}")
    if not resumable:
        del options["checkpoint"]

    def learn_all() -> History:
        told = origin(seed.model.apply, seed.params, seed.dataset.x)
        f_0 = outputs(seed.model.apply, seed.params, seed.dataset.x)
        recipe = job.recipe

        def learn(tasks: Sequence[Task], **others: Any) -> History:
            return train_dual(K, f_0, tasks, recipe, origin=told, **others)

        return learn_tasks(seed, job.tasks, options, learn)

    _learn(seed, name, learn_all)


def _learn(seed: Seed, name: str, learn: Callable[[], History]) -> None:
    if seed.has(name):
        return
    start = time.perf_counter()
    history = learn()
    save_history(seed, name, history, time.perf_counter() - start)


def save_history(
    seed: Seed, name: str, history: History, seconds: float, **others: Any
) -> None:
    """Save how training went, and the outputs on the test samples.

    Args:
        seed: Where to save.
        name: Of the results.
        history: How it went.
        seconds: How long it took.
        **others: More arrays to save with it.
    """
    values = {
        field: np.asarray(getattr(history, field))
        for field in _FIELDS
        if getattr(history, field) is not None
    }
    test = np.asarray(history.outputs[:, seed.dataset.num_train :])
    seed.save(name, **values, **others, test_outputs=test, seconds=np.array(seconds))


def training_options(seed: Seed, name: str, title: str) -> dict[str, Any]:
    """What every training of a seed is told.

    Args:
        seed: Its key, and where states of training go.
        name: Of the results.
        title: Of the progress bar.

    Returns:
        Arguments of `tl.train` and `tl.train_dual`.
    """
    checkpoint = seed.work(name)
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    return {"key": seed.key, "checkpoint": checkpoint, "progress": seed.title(title)}


def outputs(apply: Apply, params: Params, x: Inputs) -> Float[np.ndarray, " n"]:
    """What a network with one output answers, some samples at a time.

    Args:
        apply: The network.
        params: Its parameters.
        x: The samples.

    Returns:
        One number for each sample.
    """
    answer = jax.jit(apply)
    parts = [answer(params, x[rows]) for rows in blocks(len(x), _BLOCK)]
    return np.concatenate([np.asarray(part)[:, 0] for part in parts])


def _of(job: Job) -> str:
    return f" on {job.name}" if job.name else ""
