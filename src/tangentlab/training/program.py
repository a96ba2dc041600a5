"""Many runs in one compiled program: tasks and seeds side by side, step by step."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from .._compiling import compiled
from .._linalg import blocks
from .._progress import Advance
from .._types import Params
from ..kernels.planning import backend
from .batches import epoch_batches
from .carrying import task_axes
from .checkpoint import Checkpoint
from .curves import extend, loss_at_start, no_curves
from .distances import distances
from .groups import Group
from .losses import LOSSES, Loss, loss_dtype, totals
from .recipe import Recipe
from .trainer import Learner, Trainer

_MOST_EVALUATED, _LEAST_EVALUATED = 1000, 128  # samples at once, if there are as many
_COPIED = 2**30  # bytes of networks that may be there once more for a while

# Axes of learner, start, x, y and batch; samples lie in memory once for all runs.
_OVER_TASKS = (0, None, None, 0, None)
_OVER_SEEDS = (0, 0, None, None, 0)

AfterEpoch = Callable[[int, Learner], None]
"""Called with the number of epochs done and the learners of all runs, whose memory the
next step takes: what is to be kept has to be copied."""


class Program(NamedTuple):
    """A trainer compiled for all runs of a group, whose axes lead every array.

    Attributes:
        begin: `begin(start, y) -> learners`, whose memory is not that of `start`.
        epoch: `epoch(learners, start, x, y, batches) -> (learners, (steps, ..., 2))`.
        predict: `predict(learners, start, x) -> (..., n)`.
        measure: `measure(params, start) -> (..., 2)`, distance and cosine distance.
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
        at_start: The training loss before the first step.
    """

    learner: Learner
    rows: Float[np.ndarray, "*r e 4"]
    by_batch: Float[np.ndarray, "*r"]
    by_epoch: Float[np.ndarray, "*r"]
    outputs: Float[Array, "*r n"]
    distances: Float[Array, "*r 2"]
    at_start: Float[np.ndarray, "*r"]


def make_program(trainer: Trainer, *, tasks: bool, seeds: bool = False) -> Program:
    """Compile a trainer.

    Args:
        trainer: One network on one task.
        tasks: Map over tasks, which share samples and batches.
        seeds: Map over seeds, each with its own start and batches.

    Returns:
        The compiled functions. On an accelerator an epoch is one program; on a CPU
        convolutions inside `lax.scan` are slow, and steps are called from Python.
    """
    one = trainer
    if tasks:
        trainer = _mapped(trainer, _OVER_TASKS)
    if seeds:
        trainer = _mapped(trainer, _OVER_SEEDS)
    measure = partial(_measure, tasks=tasks, seeds=seeds)
    step = compiled(trainer.step, donate_argnums=0)

    @jax.jit
    def begin(start, y):
        return copied(trainer.begin(start, y))

    def loop(learner, start, x, y, batches):
        seen = []
        for batch in np.asarray(batches):
            learner, sums = step(learner, start, x, y, batch)
            seen.append(sums)
        return learner, jnp.stack(seen)

    def scan(learner, start, x, y, batches):
        def next_step(learner, batch):
            return trainer.step(learner, start, x, y, batch)

        return jax.lax.scan(next_step, learner, batches)

    def scan_of_tasks(learner, start, x, y, batches):
        axes = task_axes(one.step, learner, start, x, y[0], batches[0])
        step = jax.vmap(one.step, (axes, *_OVER_TASKS[1:]), (axes, 0))

        def next_step(learner, batch):
            return step(learner, start, x, y, batch)

        learner = jax.tree.map(lambda a, to: jnp.moveaxis(a, 0, to), learner, axes)
        learner, seen = jax.lax.scan(next_step, learner, batches)
        return jax.tree.map(lambda a, at: jnp.moveaxis(a, at, 0), learner, axes), seen

    epoch = scan_of_tasks if tasks and not seeds else scan
    epoch = loop if backend() == "cpu" else compiled(epoch, donate_argnums=0)
    return Program(begin, epoch, compiled(trainer.predict), measure)


@jax.jit  # one call for all arrays, of which a ResNet18 has 160
def copied(tree: Any) -> Any:
    """Copies, because steps reuse the memory of what they are given.

    Args:
        tree: Arrays.

    Returns:
        The same in memory of their own.
    """
    return jax.tree.map(jnp.copy, tree)


def _mapped(trainer: Trainer, axes: tuple[int | None, ...]) -> Trainer:
    learner, start, x, y, _ = axes
    return Trainer(
        jax.vmap(trainer.begin, (start, y)),
        jax.vmap(trainer.step, axes),
        jax.vmap(trainer.predict, (learner, start, x)),
    )


@partial(jax.jit, static_argnames=("tasks", "seeds"))  # once for all trainings
def _measure(params, start, *, tasks: bool, seeds: bool):
    each = jax.vmap(distances, _OVER_TASKS[:2]) if tasks else distances
    return (jax.vmap(each, _OVER_SEEDS[:2]) if seeds else each)(params, start)


def run_program(
    program: Program,
    start: Params,
    group: Group,
    recipe: Recipe,
    keys: Key[Array, "*s"],
    *,
    advance: Advance,
    checkpoint: Checkpoint | None = None,
    after_epoch: AfterEpoch | None = None,
) -> Outcome:
    """Train all runs of a group to the end.

    Args:
        program: The compiled trainer.
        start: Initial parameters, with an axis of seeds if those are mapped.
        group: Samples and targets; these have no axis of tasks if tasks are not mapped.
        recipe: Epochs and batches.
        keys: The key of the batches, or one for each seed.
        advance: Told how many steps are done, over all runs.
        checkpoint: Where to keep states, and to go on from.
        after_epoch: Called after each epoch, before its state is kept.

    Returns:
        The outcome.
    """
    x, num_train = jnp.asarray(group.x), group.num_train
    size = evaluated_at_once(len(x), num_train)
    learner = program.begin(start, group.y[..., 0])
    shape = jax.eval_shape(program.predict, learner, start, x[:size])
    runs, dtype = shape.shape[:-1], loss_dtype(shape.dtype)
    y, curves = jnp.asarray(group.y, dtype), no_curves(runs, dtype)
    if checkpoint is not None:
        learner, curves = checkpoint.restore((learner, curves))
    steps = recipe.steps_per_epoch(num_train) * int(np.prod(runs))
    advance(curves.epochs * steps)
    x_test, y_test = x[num_train:], y[..., num_train:]
    beside = None
    if curves.epochs < recipe.epochs:
        beside = _compile_beside(program, learner, start, x[:size])
    for epoch in range(curves.epochs, recipe.epochs):
        batches = _batches(keys, epoch, num_train, recipe)
        learner, seen = program.epoch(learner, start, x, y, batches)
        wait([beside] if beside else [])
        tested = _predict(program, learner, start, x_test, size)
        scores = score(LOSSES[recipe.loss], tested, y_test)
        curves = extend(curves, np.asarray(seen), np.asarray(scores), recipe)
        if after_epoch is not None:
            after_epoch(epoch + 1, learner)
        if checkpoint is not None:
            checkpoint.save((learner, curves), epoch + 1, last=recipe.epochs)
        advance(steps)
    return Outcome(
        learner,
        np.moveaxis(curves.rows, 0, -2),
        curves.by_batch,
        curves.by_epoch,
        _predict(program, learner, start, x, size),
        program.measure(learner.params, start),
        loss_at_start(curves, group.y[..., :num_train], recipe),
    )


def _compile_beside(program: Program, learner, start, x) -> Future[None] | None:
    """Begin to compile what comes after an epoch, while that is compiled."""
    if backend() == "cpu" or sum(a.nbytes for a in jax.tree.leaves(learner)) > _COPIED:
        return None
    own, wide = copied(learner), jnp.result_type(float) == jnp.float64

    def run() -> None:
        with jax.enable_x64(bool(wide)):  # a setting of each thread
            program.predict(own, start, x)
            program.measure(own.params, start)

    pool = ThreadPoolExecutor(1)  # what fails there fails again where it is wanted
    begun = pool.submit(run)
    pool.shutdown(wait=False)
    return begun


def evaluated_at_once(n: int, num_train: int) -> int:
    """How many samples a test looks at in one call.

    Args:
        n: Number of all samples.
        num_train: Number of training samples.

    Returns:
        As many as are tested, between 128 and a thousand where there are so many.
    """
    return min(_MOST_EVALUATED, n, max(n - num_train, _LEAST_EVALUATED))


def _batches(keys: Key[Array, "*s"], epoch: int, num_train: int, recipe: Recipe) -> Any:
    """`(steps, b)`, or `(steps, s, b)` for several keys."""
    if keys.ndim == 0:
        return epoch_batches(keys, epoch, num_train, recipe)
    each = [epoch_batches(key, epoch, num_train, recipe) for key in keys]
    return jnp.stack(each, axis=1)


def _predict(program: Program, learner, start, x, size: int) -> Any:
    """Outputs on all samples, by one program: the last part is filled up."""
    parts = []
    for rows in blocks(len(x), size):
        part, missing = x[rows], size - (rows.stop - rows.start)
        if missing:
            part = jnp.pad(part, [(0, missing)] + [(0, 0)] * (x.ndim - 1), "edge")
        parts.append(program.predict(learner, start, part))
    return jnp.concatenate(parts, axis=-1)[..., : len(x)]


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
    n = outputs.shape[-1]
    return totals(loss, outputs, jnp.broadcast_to(y, outputs.shape)) / n
