"""Who learns together: how runs are put into programs.

Each run takes the same step, `learner.py`. On an accelerator all tasks that fit memory
take it together (`vmap`), and the steps of an epoch are one program (`lax.scan`). On a
CPU the steps are called from Python, because inside `lax.scan` XLA runs convolutions
several times slower; and only small networks learn together. Larger ones fall out of
the cache, and `vmap` over weights makes grouped convolutions. Measured on 2 cores with
batches of 128, together against one by one:

| network | all results of a step | speed |
|---|---|---|
| MLP, 8 x 8 images | 1 MiB | 1.9 times |
| LeNet, 8 x 8 | 4 MiB | 2.2 times |
| MLP, 32 x 32 x 3 | 11 MiB | 0.75 times |
| LeNet, 32 x 32 x 3 | 52 MiB | 0.46 times |
| ResNet18 of width 16, 8 x 8 | 108 MiB | 0.67 times |
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from .._progress import Advance, progress_bar
from .._types import Apply, Params
from ..kernels.planning import backend, free_memory
from ..models import check_apply
from ..tasks import Task
from .checkpoint import Checkpoint, Checkpoints
from .course import Course, make_course, run_course
from .finish import Report
from .groups import Group
from .learner import Learner, Lesson
from .recipe import Recipe
from .traced import bytes_of, description

_SMALL = 6 * 2**20  # bytes of all results of a step

OnEpoch = Callable[[int, int, Params, Any], None]
"""`on_epoch(task, epochs_done, params, state)`, for measurements during training."""


@dataclass(frozen=True)
class Classroom:
    """Everything that the runs of one call have in common.

    Attributes:
        lesson: One network on one task.
        start: Initial parameters, along a leading axis if there are several seeds.
        recipe: Epochs and batches.
        keys: The key of the batches, or one for each seed.
        together: Tasks on the same samples learn in one program.
        memory: Bytes that a program may use; a share of what is free by default.
        checkpoints: Where states are kept.
        on_epoch: Called for each task after each epoch.
    """

    lesson: Lesson
    start: Params
    recipe: Recipe
    keys: Key[Array, "*s"]
    together: bool
    memory: int | None = None
    checkpoints: Checkpoints | None = None
    on_epoch: OnEpoch | None = None

    def train(self, groups: Sequence[Group], advance: Advance) -> list[Report]:
        """Train all tasks.

        Args:
            groups: Tasks by their samples.
            advance: Told how many steps are done.

        Returns:
            How they ended.
        """
        course = make_course(
            self.lesson,
            tasks=self.together,
            seeds=self.keys.ndim > 0,
            scan=backend() != "cpu",
        )
        size = self._most_at_once(groups[0]) if self.together else 1
        parts = [part for group in groups for part in group.cut(size)]
        return [self._run(course, i, part, advance) for i, part in enumerate(parts)]

    def _run(
        self, course: Course, number: int, part: Group, advance: Advance
    ) -> Report:
        alone = part if self.together else part._replace(y=part.y[0])
        outcome = run_course(
            course,
            self.start,
            alone,
            self.recipe,
            self.keys,
            advance=advance,
            checkpoint=self._checkpoint(number, part),
            on_epoch=self.on_epoch and partial(self._tell, part.rows),
        )
        if not self.together:
            outcome = jax.tree.map(lambda leaf: leaf[None], outcome)
        return Report(part.rows, outcome)

    def _tell(self, rows: tuple[int, ...], done: int, learner: Learner) -> None:
        assert self.on_epoch is not None
        for i, row in enumerate(rows):
            own = learner
            if self.together:
                own = jax.tree.map(lambda leaf, i=i: leaf[i], learner)
            self.on_epoch(row, done, own.params, own.state)

    def _checkpoint(self, number: int, part: Group) -> Checkpoint | None:
        if self.checkpoints is None:
            return None
        step = description(self.lesson.step, *_one_run(self, part))
        facts = (step, str(self.recipe), str(part.num_train))
        return self.checkpoints.part(
            number, *facts, self.start, part.x, part.y, self.keys
        )

    def _most_at_once(self, group: Group) -> int:
        each = bytes_of(self.lesson.step, *_one_run(self, group)) * max(
            1, self.keys.size
        )
        memory = free_memory() if self.memory is None else self.memory
        return max(1, (memory - group.x.nbytes) // each)


def is_faster_together(
    lesson: Lesson, start: Params, group: Group, recipe: Recipe
) -> bool:
    """Whether tasks learn faster in one program than one after the other.

    Args:
        lesson: One network on one task.
        start: Initial parameters.
        group: Samples and targets.
        recipe: Its batch size.

    Returns:
        True, except for large networks on a CPU.
    """
    if backend() != "cpu":
        return True
    arguments = _arguments(lesson, start, group, recipe)
    return bytes_of(lesson.step, *arguments) <= _SMALL


def _one_run(room: Classroom, group: Group) -> tuple[Any, ...]:
    start = room.start
    if room.keys.ndim:
        start = jax.tree.map(lambda leaf: leaf[0], start)
    return _arguments(room.lesson, start, group, room.recipe)


def _arguments(
    lesson: Lesson, start: Params, group: Group, recipe: Recipe
) -> tuple[Any, ...]:
    """Shapes of what a step of one run takes."""
    learner = jax.eval_shape(lesson.begin, start, group.y[0, 0])
    x = jax.ShapeDtypeStruct(group.x.shape, jnp.result_type(group.x))
    dtype = jax.eval_shape(lesson.predict, learner, start, x).dtype
    y = jax.ShapeDtypeStruct(group.y[0].shape, dtype)
    batch = jax.ShapeDtypeStruct((recipe.batch_size,), jnp.result_type(int))
    return learner, start, x, y, batch


def check_network(apply: Apply, params: Params, task: Task) -> None:
    """Raise unless a network can learn a task.

    Args:
        apply: The network.
        params: Its parameters.
        task: The task.

    Raises:
        ValueError: If it breaks the contract or has several outputs.
    """
    check_apply(apply, params, task.x)
    outputs = jax.eval_shape(apply, params, task.x[:1]).shape[1]
    if outputs != 1:
        raise ValueError(
            f"These tasks need a network with one output, this one has {outputs}."
        )


def bar(
    progress: bool | str, recipe: Recipe, tasks: Sequence[Task], *, seeds: int = 1
) -> AbstractContextManager[Advance]:
    """The progress bar of a training.

    Args:
        progress: Show it; a string is its title.
        recipe: Epochs and batches.
        tasks: The tasks.
        seeds: Number of seeds.

    Returns:
        The bar, counting steps of all runs.
    """
    title = progress if isinstance(progress, str) else "Training"
    steps = recipe.epochs * recipe.steps_per_epoch(tasks[0].num_train)
    total = steps * len(tasks) * seeds
    return progress_bar(title, total, show=bool(progress), unit="steps")
