"""Many runs of one lesson, step by step: tasks and seeds in one compiled program."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from .._linalg import blocks
from .._progress import Advance
from .._types import Params
from .batches import epoch_batches
from .checkpoint import Checkpoint
from .curves import extend, no_curves
from .groups import Group
from .learner import Learner, Lesson
from .losses import LOSSES, Loss, correct
from .recipe import Recipe

_EVALUATE = 1000  # samples evaluated at once

# Axes of learner, start, x, y and batch; samples lie in memory once for all runs.
_OVER_TASKS = (0, None, None, 0, None)
_OVER_SEEDS = (0, 0, None, None, 0)

OnEpoch = Callable[[int, Learner], None]
"""Called with the number of epochs done and the learners of all runs."""


class Course(NamedTuple):
    """A lesson compiled for all runs of a group, whose axes lead every array.

    Attributes:
        begin: `begin(start, y) -> learners`.
        epoch: `epoch(learners, start, x, y, batches) -> (learners, (steps, ..., 2))`.
        predict: `predict(learners, start, x) -> (..., n)`.
        measure: `measure(learners, start) -> (..., 2)`.
    """

    begin: Callable[..., Learner]
    epoch: Callable[..., tuple[Learner, Float[Array, "k ... 2"]]]
    predict: Callable[..., Float[Array, "... n"]]
    measure: Callable[..., Float[Array, "... 2"]]


class Outcome(NamedTuple):
    """How the runs of a group ended; `*r` are the axes of runs, in every array first.

    Attributes:
        learner: The networks.
        rows: Training loss and accuracy, test loss and accuracy of each epoch.
        by_batch: Steps to a small training loss, by batches.
        by_epoch: Likewise, by epochs.
        outputs: On all samples.
        distances: Distance and cosine distance from the start.
    """

    learner: Learner
    rows: Float[np.ndarray, "*r e 4"]
    by_batch: Float[np.ndarray, "*r"]
    by_epoch: Float[np.ndarray, "*r"]
    outputs: Float[Array, "*r n"]
    distances: Float[Array, "*r 2"]


def make_course(lesson: Lesson, *, tasks: bool, seeds: bool, scan: bool) -> Course:
    """Compile a lesson.

    Args:
        lesson: One network on one task.
        tasks: Map over tasks, which share samples and batches.
        seeds: Map over seeds, each with its own start and batches.
        scan: Run the steps of an epoch inside the program, not from Python.

    Returns:
        The compiled functions.
    """
    if tasks:
        lesson = _mapped(lesson, _OVER_TASKS)
    if seeds:
        lesson = _mapped(lesson, _OVER_SEEDS)
    step = jax.jit(lesson.step, donate_argnums=0)

    def loop(learner, start, x, y, batches):
        seen = []
        for batch in np.asarray(batches):
            learner, totals = step(learner, start, x, y, batch)
            seen.append(totals)
        return learner, jnp.stack(seen)

    @partial(jax.jit, donate_argnums=0)
    def scanned(learner, start, x, y, batches):
        def one(learner, batch):
            return lesson.step(learner, start, x, y, batch)

        return jax.lax.scan(one, learner, batches)

    return Course(
        jax.jit(lesson.begin),
        scanned if scan else loop,
        jax.jit(lesson.predict),
        jax.jit(lesson.measure),
    )


def _mapped(lesson: Lesson, axes: tuple[int | None, ...]) -> Lesson:
    learner, start, x, y, _ = axes
    return Lesson(
        jax.vmap(lesson.begin, (start, y)),
        jax.vmap(lesson.step, axes),
        jax.vmap(lesson.predict, (learner, start, x)),
        jax.vmap(lesson.measure, (learner, start)),
    )


def run_course(
    course: Course,
    start: Params,
    group: Group,
    recipe: Recipe,
    keys: Key[Array, "*s"],
    *,
    advance: Advance,
    checkpoint: Checkpoint | None = None,
    on_epoch: OnEpoch | None = None,
) -> Outcome:
    """Train all runs of a group to the end.

    Args:
        course: The compiled lesson.
        start: Initial parameters, with an axis of seeds if those are mapped.
        group: Samples and targets; these have no axis of tasks if tasks are not mapped.
        recipe: Epochs and batches.
        keys: The key of the batches, or one for each seed.
        advance: Told how many steps are done, over all runs.
        checkpoint: Where to keep states, and to go on from.
        on_epoch: Called after each epoch.

    Returns:
        The outcome.
    """
    loss, num_train = LOSSES[recipe.loss], group.num_train
    # A copy, because steps reuse the memory of what they are given.
    learner = jax.tree.map(jnp.copy, course.begin(start, group.y[..., 0]))
    outputs = jax.eval_shape(course.predict, learner, start, group.x[:1])
    runs, dtype = outputs.shape[:-1], outputs.dtype
    x, y = jnp.asarray(group.x), jnp.asarray(group.y, dtype)
    curves = no_curves(runs, np.dtype(dtype))
    if checkpoint is not None:
        learner, curves = checkpoint.restore((learner, curves))
    advance(curves.epochs * recipe.steps_per_epoch(num_train) * int(np.prod(runs)))
    for epoch in range(curves.epochs, recipe.epochs):
        batches = _batches(keys, epoch, num_train, recipe)
        learner, seen = course.epoch(learner, start, x, y, batches)
        tested = _predict(course, learner, start, x[num_train:])
        scores = score(loss, tested, y[..., num_train:])
        curves = extend(curves, np.asarray(seen), np.asarray(scores), recipe)
        if checkpoint is not None:
            checkpoint.save((learner, curves), epoch + 1, last=recipe.epochs)
        if on_epoch is not None:
            on_epoch(epoch + 1, jax.tree.map(jnp.copy, learner))
        advance(len(batches) * int(np.prod(runs)))
    outputs = _predict(course, learner, start, x)
    rows = np.moveaxis(curves.rows, 0, -2)
    ended = (rows, curves.by_batch, curves.by_epoch, outputs)
    return Outcome(learner, *ended, course.measure(learner, start))


def _batches(keys: Key[Array, "*s"], epoch: int, num_train: int, recipe: Recipe) -> Any:
    """`(steps, b)`, or `(steps, s, b)` for several keys."""
    if keys.ndim == 0:
        return epoch_batches(keys, epoch, num_train, recipe)
    each = [epoch_batches(key, epoch, num_train, recipe) for key in keys]
    return jnp.stack(each, axis=1)


def _predict(course: Course, learner: Learner, start: Params, x: Any) -> Any:
    parts = [
        course.predict(learner, start, x[rows]) for rows in blocks(len(x), _EVALUATE)
    ]
    return jnp.concatenate(parts, axis=-1)


@partial(jax.jit, static_argnums=0)
def score(
    loss: Loss, outputs: Float[Array, "*r n"], y: Float[Array, "... n"]
) -> Float[Array, "*r 2"]:
    """Mean loss and accuracy.

    Args:
        loss: The loss.
        outputs: Outputs of each run.
        y: Targets, shared by all seeds.

    Returns:
        Both numbers for each run.
    """
    y = jnp.broadcast_to(y, outputs.shape)
    right = correct(outputs, y).astype(outputs.dtype)
    return jnp.stack([loss.value(outputs, y).mean(-1), right.mean(-1)], axis=-1)
