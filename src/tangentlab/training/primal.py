"""Training in weight space: a network, or a linearization, on many tasks."""

from collections.abc import Callable, Sequence
from os import PathLike

import jax
import jax.numpy as jnp
import optax
from jax.core import Tracer
from jaxtyping import Array, Key

from .._jaxprs import inside_a_trace
from .._keys import AnyKey, AnyKeys, as_key, as_keys
from .._linalg import blocks, take
from .._types import Apply, Params
from ..models import Model, check_apply, from_function, linearize
from ..tasks import Task
from .checkpoint import keep_runs_at_once, open_checkpoints
from .groups import as_tasks, group_tasks
from .known import always, compile_network, known
from .program import make_program
from .recipe import Recipe, check_is_recipe
from .record import History
from .row_products import for_many
from .runs import (
    OnEpoch,
    Report,
    Runs,
    gather,
    is_faster_together,
    runs_that_fit,
    steps_bar,
)
from .trainer import make_trainer


def train(
    model: Model | Apply,
    params: Params,
    tasks: Task | Sequence[Task],
    recipe: Recipe,
    *,
    key: AnyKey,
    optimizer: optax.GradientTransformation | None = None,
    together: bool | None = None,
    memory: int | None = None,
    on_epoch: OnEpoch | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 10,
    progress: bool | str = False,
) -> History:
    """Train from `params` on each task.

    What was compiled is kept for the next calls with the same model and recipe, if the
    optimizer is the recipe's and samples have the same shapes.

    All tasks see the same batches in the same order; equal keys give equal batches.
    Tasks do not touch each other: one that diverges is recorded, the others go on.

    A linearization has a largest stable learning rate, of which nobody warns here: it
    takes the Gram matrix `K` of the samples to know it. `limits_of(K, num_train,
    recipe)` of `tangentlab.training.stability` tells it; `tl.train_dual` warns.

    Args:
        model: A network, or any `apply`, such as `tl.linearize(model.apply, params)`.
            A model with batch statistics uses those of the batch while it trains and
            its running averages when it is tested.
        params: Where training starts.
        tasks: One task or several, of one size.
        recipe: Optimizer, loss, batches and epochs.
        key: Decides the order of samples.
        optimizer: Any optax optimizer instead of the recipe's, with its own learning
            rate; the recipe's decays are added to the gradients it is given.
        together: Train all tasks on the same samples in one program, or one after the
            other; by default whichever is faster here.
        memory: Bytes that tasks in one program may use; a share of what is free by
            default.
        on_epoch: Called after each epoch, for each task, with its place among the
            tasks, the number of epochs done, its parameters and its batch statistics.
            A process that goes on from a state tells the epochs after it again.
        checkpoint: A folder for states, from which the same call goes on after the
            process was killed. On a CPU with as many threads the result is the same to
            the last bit.
        checkpoint_every: Number of epochs between two states.
        progress: Show a progress bar; a string is its title.

    Returns:
        The history, one row per task, also where there is one task alone.

    Raises:
        ValueError: If there are no tasks, they differ in size or do not suit the loss,
            samples are not finite, the network has several outputs or breaks the
            contract, a batch does not fit the training split, or values are traced.
        TypeError: If the optimizer is none of optax.

    Example:
        >>> import numpy as np
        >>> task = Task(np.eye(4), np.array([0.0, 1.0, 1.0, 0.0]), num_train=3)
        >>> recipe, key = Recipe(epochs=2, batch_size=3), jax.random.key(0)
        >>> linear = lambda w, x: x @ w
        >>> history = train(linear, jnp.zeros((4, 1)), task, recipe, key=key)
        >>> history.train_loss.shape
        (1, 2)
        >>> round(float(history.train_loss[0, 0]), 3)  # log 2: nothing is known yet
        0.693
    """
    tasks, key = as_tasks(tasks), as_key(key)
    check_is_recipe(recipe)
    _check_untraced(params)
    recipe.steps_per_epoch(tasks[0].num_train)  # refuses before the long work
    params = jax.tree.map(jnp.asarray, params)
    kept = optimizer is None and isinstance(model, Model) and _is_hashable(model)
    if not isinstance(model, Model):
        model = from_function(lambda key: params, model)
    _check_network(model.apply, params, tasks[0])
    groups = group_tasks(tasks, recipe.loss)
    rule = _rule(optimizer, recipe, tasks[0].num_train)
    trainer = make_trainer(always(model), recipe, rule)
    checkpoints = open_checkpoints(checkpoint, checkpoint_every)
    at_once = None
    if together is None:
        together = len(tasks) > 1 and is_faster_together(
            trainer, params, groups[0], recipe
        )
    if kept:
        prepared, program = known(model, params, tasks[0], recipe, together)
    else:
        prepared, program = compile_network(model, recipe, rule, together)
    if together:
        at_once = runs_that_fit(prepared, params, groups[0], recipe, memory)
        at_once = keep_runs_at_once(checkpoints, at_once)
    runs = Runs(trainer, program, params, recipe, key, at_once, checkpoints, on_epoch)
    with steps_bar(progress, recipe, tasks[0].num_train, len(tasks)) as advance:
        return gather(runs.train(groups, advance))


def train_seeds(
    model: Model,
    params: Params,
    tasks: Task | Sequence[Task],
    recipe: Recipe,
    *,
    keys: AnyKeys,
    linearized: bool = False,
    optimizer: optax.GradientTransformation | None = None,
    memory: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 10,
    progress: bool | str = False,
) -> tuple[History, ...]:
    """Train several initializations of a network on each task, in one program.

    Args:
        model: The network.
        params: Initial parameters of each seed along a leading axis, for instance
            `jax.vmap(model.init)(keys)`.
        tasks: One task or several, of one size.
        recipe: Optimizer, loss, batches and epochs.
        keys: One key for each seed; decides the order of samples.
        linearized: Train the linearization of each network around its own initial
            parameters.
        optimizer: Any optax optimizer instead of the recipe's, as in `tl.train`.
        memory: Bytes that runs in one program may use; a share of what is free by
            default.
        checkpoint: A folder for states, as in `tl.train`.
        checkpoint_every: Number of epochs between two states.
        progress: Show a progress bar; a string is its title.

    Returns:
        One history for each seed, each as `tl.train` would return it.

    Raises:
        ValueError: As `tl.train`, and if parameters and keys are not of as many seeds.
        TypeError: If `model` is a function alone, or the optimizer none of optax.
    """
    if not isinstance(model, Model):
        raise TypeError(
            f"`model` must be a `Model`, got {type(model).__name__}: make one of a "
            "function with `tl.models.from_function(init, apply)`."
        )
    tasks, keys = as_tasks(tasks), as_keys(keys)
    recipe.steps_per_epoch(tasks[0].num_train)  # refuses before the long work
    params = jax.tree.map(jnp.asarray, params)
    _check_seeds(params, keys)
    one = jax.tree.map(lambda leaf: leaf[0], params)
    _check_network(model.apply, one, tasks[0])
    network = _around(model) if linearized else lambda start: model
    rule = _rule(optimizer, recipe, tasks[0].num_train)
    trainer = make_trainer(network, recipe, rule)
    many = make_trainer(for_many(network), recipe, rule)
    program = make_program(many, tasks=True, seeds=True)
    groups = group_tasks(tasks, recipe.loss)
    checkpoints = open_checkpoints(checkpoint, checkpoint_every)
    at_once = runs_that_fit(many, one, groups[0], recipe, memory)
    at_once = keep_runs_at_once(checkpoints, at_once)
    histories, count = [], len(keys) * len(tasks)
    with steps_bar(progress, recipe, tasks[0].num_train, count) as advance:
        for some in blocks(len(keys), at_once):
            runs = Runs(
                trainer,
                program,
                take(params, some),
                recipe,
                keys[some],
                tasks_at_once=max(1, at_once // len(keys[some])),
                checkpoints=checkpoints,
                name=f"seed{some.start}-",
            )
            ended = runs.train(groups, advance)
            histories += [_of_seed(ended, i) for i in range(len(keys[some]))]
    return tuple(histories)


def _is_hashable(model: Model) -> bool:
    try:
        hash(model)
    except TypeError:  # made of objects that hold arrays, say
        return False
    return True


def _check_untraced(params: Params) -> None:
    traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(params))
    if traced or inside_a_trace():
        raise ValueError(
            "`tl.train` looks at values and compiles its own steps: call it outside of "
            "`jit`, `vmap` and `grad`."
        )


def _rule(
    optimizer: optax.GradientTransformation | None, recipe: Recipe, num_train: int
) -> optax.GradientTransformation:
    if optimizer is None:
        return recipe.make_optimizer(num_train)
    if not (hasattr(optimizer, "init") and hasattr(optimizer, "update")):
        raise TypeError(
            "`optimizer` must be one of optax, such as `optax.adamw(1e-3)`, got "
            f"{optimizer!r}."
        )
    return optimizer


def _around(model: Model) -> Callable[[Params], Model]:
    return lambda start: from_function(model.init, linearize(model.apply, start))


def _of_seed(ended: Sequence[Report], seed: int) -> History:
    return gather(
        [
            Report(rows, jax.tree.map(lambda leaf: leaf[seed], outcome))
            for rows, outcome, _ in ended
        ]
    )


def _check_seeds(params: Params, keys: Key[Array, " s"]) -> None:
    lengths = {leaf.shape[:1] for leaf in jax.tree.leaves(params)}
    if lengths != {keys.shape}:
        raise ValueError(
            f"`keys` has shape {keys.shape}, so each array in `params` needs a leading "
            f"axis of as many seeds, got {sorted(lengths)}: pass "
            "`params=jax.vmap(model.init)(keys)`."
        )


def _check_network(apply: Apply, params: Params, task: Task) -> None:
    check_apply(apply, params, task.x)
    dtypes = {leaf.dtype for leaf in jax.tree.leaves(params)}
    if any(jnp.issubdtype(dtype, jnp.complexfloating) for dtype in dtypes):
        raise ValueError(
            "`params` holds complex numbers, whose gradients are no direction of "
            "descent: make them of two real parameters in `apply`, as in "
            "`lax.complex(p['real'], p['imaginary'])`."
        )
    outputs = jax.eval_shape(apply, params, task.x[:1]).shape[1]
    if outputs != 1:
        raise ValueError(
            f"These tasks need a network with one output, this one has {outputs}: "
            "build it with `num_outputs=1`, or return one column from `apply`."
        )
