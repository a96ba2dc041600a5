"""Training the linearized model in function space, every task at once."""

from collections.abc import Sequence
from os import PathLike

import jax
import jax.numpy as jnp
from jaxtyping import Float

from .._types import AnyArray, PRNGKey
from ..kernels.planning import free_memory
from ..tasks import Task
from .checkpoint import open_checkpoints
from .classroom import bar
from .dual_checks import check_gram, check_recipe, check_start
from .dual_run import DualRun, run_dual
from .gram_rows import GramLike, GramRows, open_rows
from .groups import Group, as_tasks, group_tasks
from .recipe import Recipe
from .record import History
from .stability import rate_limits, warn_if_unstable

_ITERATIONS = 10  # of the power method


def train_dual(
    K: GramLike,
    f_0: Float[AnyArray, " n"] | Float[AnyArray, "n 1"],
    tasks: Task | Sequence[Task],
    recipe: Recipe,
    *,
    key: PRNGKey,
    origin: tuple[AnyArray, AnyArray | float] | None = None,
    memory: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 10,
    progress: bool | str = False,
) -> History:
    r"""Train the linearized model on each task, exactly, from its Gram matrix alone.

    The iterates are those of `tl.train(tl.linearize(apply, params), params, tasks,
    recipe, key=key)` to rounding, batch for batch, without a network: SGD never leaves
    the span of the examples' gradients. An epoch costs $m^2 t$ multiply-adds for $m$
    training samples and $t$ tasks, whatever the network.

    Args:
        K: The Gram matrix, `tl.gram(apply, params, x)`, of all samples, train then
            test: an array, or a `TiledGram` on disk.
        f_0: Outputs of the network, `apply(params, x)`.
        tasks: One task or several, on these samples.
        recipe: Loss, batches and epochs; any schedule, momentum and decay, but not
            Adam, which needs weight space.
        key: Decides the order of samples.
        origin: `tl.origin(apply, params, x)`; needed for weight decay, and for the
            cosine distance.
        memory: Bytes that may be used; a share of what is free by default.
        checkpoint: A folder for states, from which the same call goes on after the
            process was killed. On a CPU with as many threads the result is the same to
            the last bit.
        checkpoint_every: Number of epochs between two states.
        progress: Show a progress bar; a string is its title.

    Returns:
        The history, one row per task, with `coefficients` in place of parameters.

    Raises:
        ValueError: If the Gram matrix is not symmetric, not finite or not of the tasks'
            samples, tasks do not share their samples, or the recipe needs weight space.

    Warns:
        UserWarning: If the learning rate is beyond what the linear model bears.
    """
    tasks = as_tasks(tasks)
    check_recipe(recipe, origin)
    recipe.steps_per_epoch(tasks[0].num_train)  # refuses before the long work
    diagonal = check_gram(K, len(tasks[0].x))
    group = _one_group(tasks, recipe)
    memory = free_memory() if memory is None else memory
    rows = open_rows(K, group.num_train, recipe.batch_size, memory)
    start = check_start(f_0, origin, rows)
    trace = float(diagonal[: group.num_train].sum())
    limits = rate_limits(_largest_eigenvalue(rows), trace, group.num_train, recipe)
    warn_if_unstable(limits, recipe)
    checkpoints = open_checkpoints(checkpoint, checkpoint_every)
    histories = []
    with bar(progress, recipe, tasks) as advance:
        for i, part in enumerate(group.cut(_most_at_once(rows, memory))):
            facts = (str(recipe), str(group.num_train), key, diagonal, *start, part.y)
            place = checkpoints.part(i, *facts) if checkpoints else None
            run = DualRun(rows, start, part.y, diagonal, recipe, key)
            histories.append(run_dual(run, advance, place))
    return jax.tree.map(lambda *parts: jnp.concatenate(parts), *histories)


def _one_group(tasks: Sequence[Task], recipe: Recipe) -> Group:
    groups = group_tasks(tasks, recipe.loss)
    if len(groups) > 1:
        raise ValueError(
            "All tasks must be on the samples of the Gram matrix, got tasks on "
            f"{len(groups)} different sets of samples: train them in separate calls."
        )
    return groups[0]


def _largest_eigenvalue(rows: GramRows) -> float:
    """By a few steps of the power method; never above the true one."""
    # The first product covers the test samples too, and so every entry that is used.
    m = rows.num_train
    v = jax.random.normal(jax.random.key(0), (m, 1), rows.dtype)
    image = rows.product(slice(0, rows.n), v)
    if not jnp.isfinite(image).all():
        raise ValueError("`K` holds NaN or infinite entries.")
    largest = jnp.linalg.norm(image[:m]) / jnp.linalg.norm(v)
    for _ in range(_ITERATIONS):
        v = image[:m] / jnp.maximum(jnp.linalg.norm(image[:m]), 1e-30)
        image = rows.product(slice(0, m), v)
        largest = jnp.linalg.norm(image)
    return float(largest)


def _most_at_once(rows: GramRows, memory: int) -> int:
    """Tasks whose coefficients, velocities, targets and outputs fit."""
    held = rows.K.nbytes if rows.steps is None else memory // 4
    each = rows.dtype.itemsize * (4 * rows.num_train + 4 * rows.n)
    return max(1, (memory - held) // each)
