"""Learning data along the directions of one initialization."""

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from ... import tasks
from ..._types import PRNGKey
from ...data import Dataset
from ...kernels.request import Precision
from ...tasks import Task
from ...tasks.directions import Margin
from ...training import Recipe
from ..stages.kernel import compute_gram
from ..stages.seeds import Seed
from ..stages.training import Job, learn_dual, learn_linearized, learn_network


class Along(NamedTuple):
    """What to learn, and how.

    Attributes:
        indices: Of the directions, ascending.
        num_train: Training samples along each.
        num_test: Test samples along each.
        margin: Which of the two margins of the paper.
        epsilon: The margin.
        noise: Standard deviation of the noise.
        recipe: How both models are trained.
        dual: Train the linearization in function space.
        precision: Of the Gram matrix for that.
        key: Draws the samples: the same labels and noise for all directions, so that
            these alone make the difference.
    """

    indices: tuple[int, ...]
    num_train: int
    num_test: int
    margin: Margin
    epsilon: float
    noise: float
    recipe: Recipe
    dual: bool
    precision: Precision
    key: PRNGKey


def learn_along(seed: Seed, along: Along) -> None:
    """Train network and linearization on each direction, unless it was done before.

    Args:
        seed: Network and parameters, and where its directions were saved.
        along: What to learn.
    """
    made = make_tasks(seed, along)
    here = dataclasses.replace(seed, dataset=_dataset(made[0]))
    if not seed.has("along"):
        seed.save("along", index=np.array(along.indices))
    job = Job("", made, along.recipe)
    if not along.dual:
        learn_linearized(here, job)
    elif not seed.has("linearized"):
        jobs = [Job(f"u{task.index}", [task], along.recipe) for task in made]
        for each in jobs:
            _learn_in_function_space(seed, each, along.precision)
        parts = [seed.load(each.results("linearized")) for each in jobs]
        seed.save("linearized", **_together(parts))
    learn_network(here, job)


def make_tasks(seed: Seed, along: Along) -> list[Task]:
    """The tasks, from the directions that were saved.

    Args:
        seed: Where they were saved.
        along: Which, and how many samples.

    Returns:
        One task for each direction.
    """
    directions = seed.load("nads")["directions"]
    return [task_along(directions[index], index, along) for index in along.indices]


def task_along(u: Float[np.ndarray, "..."], index: int, along: Along) -> Task:
    """The task of one direction.

    Args:
        u: The direction.
        index: Its index.
        along: How many samples, and how they are made.

    Returns:
        The task.
    """
    return tasks.direction(
        u,
        along.num_train,
        along.num_test,
        key=along.key,
        margin=along.margin,
        epsilon=along.epsilon,
        noise=along.noise,
        index=index,
    )


def _learn_in_function_space(seed: Seed, job: Job, precision: Precision) -> None:
    """Each direction has samples of its own, and so a Gram matrix of its own."""
    if seed.has(job.results("linearized")):
        return
    here = dataclasses.replace(seed, dataset=_dataset(job.tasks[0]))
    K = compute_gram(here, precision, on_disk=False)
    learn_dual(here, job, K, resumable=False)


def _dataset(task: Task) -> Dataset:
    y = np.asarray(task.y).astype(np.int32)
    return Dataset(task.x, y, ("-", "+"), task.num_train, name="directions")


def _together(parts: list[dict[str, np.ndarray]]) -> dict[str, Any]:
    """Results of single tasks as those of all of them."""
    made = {
        name: np.concatenate([part[name] for part in parts])
        for name in parts[0]
        if name != "seconds"
    }
    return {**made, "seconds": np.sum([part["seconds"] for part in parts])}
