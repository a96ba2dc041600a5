"""Training in weight space: a network, or a linearization, on many tasks."""

from collections.abc import Sequence
from os import PathLike

import jax
import jax.numpy as jnp
import optax

from .._types import Apply, Params, PRNGKey
from ..models import Model, from_function
from ..tasks import Task
from .checkpoint import open_checkpoints
from .classroom import Classroom, OnEpoch, bar, check_network, is_faster_together
from .finish import gather
from .groups import as_tasks, group_tasks
from .learner import make_lesson
from .recipe import Recipe
from .record import History


def train(
    model: Model | Apply,
    params: Params,
    tasks: Task | Sequence[Task],
    recipe: Recipe,
    *,
    key: PRNGKey,
    optimizer: optax.GradientTransformation | None = None,
    together: bool | None = None,
    memory: int | None = None,
    on_epoch: OnEpoch | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 10,
    progress: bool | str = False,
) -> History:
    """Train from `params` on each task.

    All tasks see the same batches in the same order; equal keys give equal batches.
    Tasks do not touch each other: one that diverges is recorded, the others go on.

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
        checkpoint: A folder for states, from which the same call goes on after the
            process was killed. On a CPU with as many threads the result is the same to
            the last bit.
        checkpoint_every: Number of epochs between two states.
        progress: Show a progress bar; a string is its title.

    Returns:
        The history, one row per task, also where there is one task alone.

    Raises:
        ValueError: If there are no tasks, they differ in size or do not suit the loss,
            the network has several outputs or breaks the contract, or a batch does not
            fit the training split.
    """
    tasks = as_tasks(tasks)
    params = jax.tree.map(jnp.asarray, params)
    if not isinstance(model, Model):
        model = from_function(lambda key: params, model)
    check_network(model.apply, params, tasks[0])
    groups = group_tasks(tasks, recipe.loss)
    rule = optimizer or recipe.make_optimizer(tasks[0].num_train)
    lesson = make_lesson(lambda start: model, recipe, rule)
    if together is None:
        together = is_faster_together(lesson, params, groups[0], recipe)
    room = Classroom(
        lesson,
        params,
        recipe,
        key,
        together=together,
        memory=memory,
        checkpoints=open_checkpoints(checkpoint, checkpoint_every),
        on_epoch=on_epoch,
    )
    with bar(progress, recipe, tasks) as advance:
        return gather(room.train(groups, advance))
