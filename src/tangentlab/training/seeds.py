"""Training several initializations of a network at once."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from .._types import Params
from ..models import Model, from_function, linearize
from ..tasks import Task
from .classroom import Classroom, bar, check_network
from .finish import Report, gather
from .groups import as_tasks, group_tasks
from .learner import make_lesson
from .recipe import Recipe
from .record import History


def train_seeds(
    model: Model,
    params: Params,
    tasks: Task | Sequence[Task],
    recipe: Recipe,
    *,
    keys: Key[Array, " s"],
    linearized: bool = False,
    memory: int | None = None,
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
        memory: Bytes that tasks in one program may use; a share of what is free by
            default.
        progress: Show a progress bar; a string is its title.

    Returns:
        One history for each seed, each as `tl.train` would return it.

    Raises:
        ValueError: As `tl.train`, and if parameters and keys are not of as many seeds.
    """
    tasks = as_tasks(tasks)
    params = jax.tree.map(jnp.asarray, params)
    lengths = {leaf.shape[:1] for leaf in jax.tree.leaves(params)}
    if lengths != {keys.shape} or len(keys.shape) != 1:
        raise ValueError(
            f"`keys` has shape {keys.shape}, so each array in `params` needs a leading "
            f"axis of as many seeds, got {sorted(lengths)}: pass "
            "`params=jax.vmap(model.init)(keys)`."
        )
    check_network(model.apply, jax.tree.map(lambda leaf: leaf[0], params), tasks[0])

    def network(start: Params) -> Model:
        if not linearized:
            return model
        return from_function(model.init, linearize(model.apply, start))

    rule = recipe.make_optimizer(tasks[0].num_train)
    lesson = make_lesson(network, recipe, rule)
    room = Classroom(lesson, params, recipe, keys, together=True, memory=memory)
    groups = group_tasks(tasks, recipe.loss)
    with bar(progress, recipe, tasks, seeds=len(keys)) as advance:
        ended = room.train(groups, advance)
    return tuple(gather(_of_seed(ended, seed)) for seed in range(len(keys)))


def _of_seed(ended: list[Report], seed: int) -> list[Report]:
    return [
        Report(rows, jax.tree.map(lambda leaf: leaf[seed], outcome))
        for rows, outcome in ended
    ]
