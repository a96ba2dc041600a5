"""Training, one task after another: the plain loop that faster ones must agree with."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from .._linalg import blocks
from .._progress import Advance, progress_bar
from .._types import Apply, Params, PRNGKey, State
from ..models import Model, check_apply, from_function
from ..tasks import Task
from .losses import correct, cross_entropy
from .recipe import Recipe
from .record import History

_EVALUATE = 1000  # samples evaluated at once


class _Learner(NamedTuple):
    params: Params
    state: State
    optimizer: Any


class _Loop(NamedTuple):
    """The compiled pieces that all tasks on the same samples share."""

    start: Callable[[Params], _Learner]
    step: Callable[..., tuple[_Learner, Float[Array, " 2"]]]
    evaluate: Callable[..., Float[Array, " 2"]]


def train(
    model: Model | Apply,
    params: Params,
    tasks: Task | Sequence[Task],
    recipe: Recipe,
    *,
    key: PRNGKey,
    progress: bool | str = False,
) -> History:
    """Train from `params` on each task.

    All tasks see the same batches in the same order; equal keys give equal batches.

    Args:
        model: A network, or any `apply`, such as `tl.linearize(model.apply, params)`.
            A model with batch statistics uses those of the batch while it trains and
            its running averages when it is tested.
        params: Where training starts.
        tasks: One task or several.
        recipe: Optimizer, batches and epochs.
        key: Decides the order of samples.
        progress: Show a progress bar; a string is its title.

    Returns:
        The history, one row per task, also where there is one task alone.

    Raises:
        ValueError: If there are no tasks, the network has several outputs or breaks
            the contract, or a batch does not fit the training split.
        TypeError: If something else than tasks is passed.
    """
    tasks = [tasks] if isinstance(tasks, Task) else list(tasks)
    if not tasks:
        raise ValueError("`tasks` is empty: pass at least one task.")
    for task in tasks:
        if not isinstance(task, Task):
            raise TypeError(
                f"`tasks` must hold `Task` records, got {type(task).__name__}: make "
                "one with `tl.tasks`, such as `tl.tasks.from_labels(dataset, labels)`."
            )
    params = jax.tree.map(jnp.asarray, params)
    model = (
        model if isinstance(model, Model) else from_function(lambda key: params, model)
    )
    check_apply(model.apply, params, tasks[0].x)
    outputs = jax.eval_shape(model.apply, params, tasks[0].x[:1]).shape[1]
    if outputs != 1:
        raise ValueError(
            f"Binary tasks need a network with one logit, this one has {outputs}."
        )
    steps = [recipe.epochs * recipe.steps_per_epoch(task.num_train) for task in tasks]
    rows, loops = [], {}
    title = progress if isinstance(progress, str) else "Training"
    with progress_bar(title, sum(steps), show=bool(progress)) as advance:
        for task in tasks:
            loop = loops.setdefault(
                task.num_train, _build(model, recipe, task.num_train)
            )
            rows.append(_run(model, loop, params, task, recipe, key, advance))
    return _history(params, rows)


def batches(
    key: PRNGKey, epoch: int, num_train: int, recipe: Recipe
) -> Int[Array, "steps b"]:
    """Indices of the samples in each batch of an epoch.

    Args:
        key: The key given to training.
        epoch: Number of the epoch, from 0.
        num_train: Number of training samples.
        recipe: Its batch size.

    Returns:
        A fresh permutation of the training split, an incomplete last batch left out.
    """
    steps = recipe.steps_per_epoch(num_train)
    order = jax.random.permutation(jax.random.fold_in(key, epoch), num_train)
    return order[: steps * recipe.batch_size].reshape(steps, recipe.batch_size)


def _build(model: Model, recipe: Recipe, num_train: int) -> _Loop:
    optimizer = recipe.optimizer(num_train)

    def start(params: Params) -> _Learner:
        memory = optimizer.init(eqx.filter(params, eqx.is_inexact_array))
        return _Learner(params, model.init_state(), memory)

    # A compiled step in a Python loop: inside `lax.scan` XLA's CPU backend runs
    # convolutions ten times slower.
    @jax.jit
    def step(learner, x, y, batch):
        free, buffers = eqx.partition(learner.params, eqx.is_inexact_array)

        def loss(free):
            params = eqx.combine(free, buffers)
            outputs, state = model.apply_train(params, learner.state, x[batch])
            losses = cross_entropy(outputs[:, 0], y[batch])
            return losses.mean(), (state, _totals(losses, outputs[:, 0], y[batch]))

        gradient, (state, totals) = jax.grad(loss, has_aux=True)(free)
        update, memory = optimizer.update(gradient, learner.optimizer)
        params = eqx.apply_updates(learner.params, update)
        return _Learner(params, state, memory), totals

    @jax.jit
    def evaluate(learner, x, y):
        logits = model.freeze(learner.state)(learner.params, x)[:, 0]
        return _totals(cross_entropy(logits, y), logits, y)

    return _Loop(start, step, evaluate)


def _totals(losses, logits, y) -> Float[Array, " 2"]:
    """Summed loss and number of correct answers."""
    return jnp.stack([losses.sum(), correct(logits, y).sum(dtype=losses.dtype)])


def _run(
    model: Model,
    loop: _Loop,
    params: Params,
    task: Task,
    recipe: Recipe,
    key: PRNGKey,
    advance: Advance,
) -> tuple[Float[Array, "e 4"], _Learner]:
    dtype = jax.eval_shape(model.apply, params, task.x[:1]).dtype
    x, y = jnp.asarray(task.x), jnp.asarray(task.y, dtype)
    learner, rows = loop.start(params), []
    for epoch in range(recipe.epochs):
        steps = batches(key, epoch, task.num_train, recipe)
        totals = []
        for batch in steps:
            learner, seen = loop.step(learner, x, y, batch)
            totals.append(seen)
        tests = [
            loop.evaluate(learner, x[test], y[test])
            for test in _test_blocks(task.num_train, len(x))
        ]
        seen = sum(totals) / steps.size
        rows.append(jnp.concatenate([seen, sum(tests) / (len(x) - task.num_train)]))
        rows[-1].block_until_ready()  # else the bar runs ahead of the work
        advance(len(steps))
    return jnp.stack(rows), learner


def _test_blocks(num_train: int, n: int) -> list[slice]:
    shifted = blocks(n - num_train, _EVALUATE)
    return [slice(num_train + b.start, num_train + b.stop) for b in shifted]


def _history(
    params: Params, rows: list[tuple[Float[Array, "e 4"], _Learner]]
) -> History:
    metrics = jnp.stack([row for row, _ in rows])
    learners = [learner for _, learner in rows]
    start = eqx.filter(params, eqx.is_inexact_array)
    ends = [eqx.filter(each.params, eqx.is_inexact_array) for each in learners]
    moved = [jax.tree.map(jnp.subtract, end, start) for end in ends]
    distance = jnp.stack([optax.tree.norm(each) for each in moved])
    return History(
        train_loss=metrics[..., 0],
        train_accuracy=metrics[..., 1],
        test_loss=metrics[..., 2],
        test_accuracy=metrics[..., 3],
        distance=distance,
        diverged=~jnp.isfinite(metrics).all(axis=(1, 2)) | ~jnp.isfinite(distance),
        params=tuple(each.params for each in learners),
        states=tuple(each.state for each in learners),
    )
