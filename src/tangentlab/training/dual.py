"""Training the linearized model in function space, every task at once."""

from collections.abc import Sequence
from os import PathLike

import jax
import jax.numpy as jnp
from jaxtyping import Float

from .._keys import AnyKey, as_key
from .._types import AnyArray
from ..kernels.planning import free_memory
from ..spectra.checking import as_array
from ..tasks import Task
from .checkpoint import keep_runs_at_once, open_checkpoints
from .dual_checks import (
    check_gram,
    check_rates,
    check_recipe,
    check_start,
    some_entries,
)
from .dual_run import DualRun, run_dual
from .gram_rows import GramLike, GramRows, open_rows
from .groups import Group, as_tasks, group_tasks
from .recipe import Recipe
from .record import History
from .runs import steps_bar
from .stability import limits_of_rows, warn_if_unstable


def train_dual(
    K: GramLike | Sequence[Sequence[float]],
    f_0: Float[AnyArray, " n"] | Float[AnyArray, "n 1"],
    tasks: Task | Sequence[Task],
    recipe: Recipe,
    *,
    key: AnyKey,
    rates: Float[AnyArray, " k"] | None = None,
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
            test: an array, on one device or sharded over several (best along its
            columns), nested lists, or a `TiledGram` on disk. All is computed in its
            dtype, but in float32 where it is float64 and 64-bit types of JAX are off:
            wrap the call in `jax.enable_x64(True)`.
        f_0: Outputs of the network, `apply(params, x)`.
        tasks: One task or several, on these samples.
        recipe: Loss, batches and epochs; any schedule, momentum and decay, but not
            Adam, which needs weight space.
        key: Decides the order of samples.
        rates: The learning rate of each step, of all epochs, for a schedule of your
            own; those of the recipe by default.
        origin: `tl.origin(apply, params, x)`; needed for weight decay, and for the
            cosine distance.
        memory: Bytes that may be used, beside a Gram matrix that is on the device
            already; a share of what is free by default.
        checkpoint: A folder for states, from which the same call goes on after the
            process was killed. On a CPU with as many threads the result is the same to
            the last bit.
        checkpoint_every: Number of epochs between two states.
        progress: Show a progress bar; a string is its title.

    Returns:
        The history, one row per task, with `coefficients` in place of parameters.

    Raises:
        ValueError: If the Gram matrix is not symmetric, not finite or not of the tasks'
            samples, tasks do not share their samples, the recipe needs weight space, or
            there is not one rate for each step.

    Warns:
        UserWarning: If the learning rate is beyond what the linear model bears.
    """
    tasks, key = as_tasks(tasks), as_key(key)
    matrix: GramLike = as_array(K)
    check_recipe(recipe, origin)
    m = tasks[0].num_train
    rates = check_rates(recipe.rates(m) if rates is None else rates, recipe, m)
    diagonal = check_gram(matrix, len(tasks[0].x))
    group = _one_group(tasks, recipe)
    memory = free_memory() if memory is None else memory
    rows = open_rows(matrix, m, recipe.batch_size, memory)
    start = check_start(f_0, origin, rows)
    trace = float(diagonal[:m].sum())
    limits = limits_of_rows(rows, trace, recipe)
    warn_if_unstable(limits, float(rates.max()), recipe.batch_size)
    checkpoints = open_checkpoints(checkpoint, checkpoint_every)
    at_once = keep_runs_at_once(checkpoints, _tasks_that_fit(rows))
    facts = str(recipe), str(m), key, diagonal, some_entries(matrix), rates, *start
    histories = []
    with steps_bar(progress, recipe, m, len(tasks)) as advance:
        for i, part in enumerate(group.cut(at_once)):
            place = checkpoints.part(str(i), *facts, part.y) if checkpoints else None
            run = DualRun(rows, diagonal, start, part.y, recipe, rates, key)
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


def _tasks_that_fit(rows: GramRows) -> int:
    """Tasks whose coefficients, velocities, targets and outputs fit."""
    each = rows.dtype.itemsize * (4 * rows.num_train + 4 * rows.n)
    return max(1, rows.room // each)
