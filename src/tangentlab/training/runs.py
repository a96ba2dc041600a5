"""Who trains together: how the runs of a call are put into programs.

Each run takes the same step, `trainer.py`. On an accelerator all tasks that fit memory
take it together (`vmap`), unless one alone keeps it busy (a ResNet18 on 32 x 32 images,
7 GiB), and the steps of an epoch are one program (`lax.scan`). On a
CPU the steps are called from Python, because inside `lax.scan` XLA runs convolutions
several times slower; and only small networks train together. Larger ones fall out of
the cache, and `vmap` over weights makes grouped convolutions or, in wide images, row
products. Measured on 2 cores with batches of 128, together against one by one:

| network | all results of a step | speed |
|---|---|---|
| MLP, 8 x 8 images | 1 MiB | 1.6 times |
| LeNet, 8 x 8 | 4 MiB | 2.0 times |
| MLP, 32 x 32 x 3 | 11 MiB | 0.75 times |
| LeNet, 32 x 32 x 3 | 52 MiB | 0.7 times |
| ResNet18 of width 16, 8 x 8 | 108 MiB | 0.67 times |
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from .._hashing import hash_parts, hash_traced
from .._linalg import blocks
from .._progress import Advance, progress_bar
from .._types import Params
from ..kernels.planning import backend, free_memory
from .checkpoint import Checkpoint, Checkpoints
from .groups import Group
from .losses import loss_dtype
from .program import Outcome, Program, copied, evaluated_at_once, run_program
from .recipe import Recipe
from .record import History, make_history
from .traced import bytes_of
from .trainer import Learner, Trainer

_SMALL = 6 * 2**20  # bytes of all results of a step
_LARGE = 2**30  # likewise: one such network fills an accelerator
_APART = 32  # networks taken out of their arrays in one call

OnEpoch = Callable[[int, int, Params, Any], None]
"""`on_epoch(task, epochs_done, params, state)`, for measurements during training."""


class Report(NamedTuple):
    """How some of the tasks ended.

    Attributes:
        rows: Their places among all tasks.
        outcome: Arrays with one row for each.
        alone: There is one, and its learner has no axis of tasks.
    """

    rows: tuple[int, ...]
    outcome: Outcome
    alone: bool = False


@dataclass(frozen=True)
class Runs:
    """All runs of one call.

    Attributes:
        trainer: One network on one task.
        program: The same, compiled for several.
        start: Initial parameters, along a leading axis if there are several seeds.
        recipe: Epochs and batches.
        keys: The key of the batches, or one for each seed.
        tasks_at_once: Tasks on the same samples in one program; None for one after the
            other.
        checkpoints: Where states are kept.
        on_epoch: Called for each task after each epoch, where there are no seeds.
        name: Begins the names of states.
    """

    trainer: Trainer
    program: Program
    start: Params
    recipe: Recipe
    keys: Key[Array, "*s"]
    tasks_at_once: int | None
    checkpoints: Checkpoints | None = None
    on_epoch: OnEpoch | None = None
    name: str = ""

    def train(self, groups: Sequence[Group], advance: Advance) -> list[Report]:
        """Train all tasks.

        Args:
            groups: Tasks by their samples.
            advance: Told how many steps are done.

        Returns:
            How they ended.
        """
        identity = self._identity(groups[0]) if self.checkpoints else ""
        reports = []
        for group in groups:
            samples = hash_parts(identity, group.x) if self.checkpoints else ""
            on_device = group._replace(x=jnp.asarray(group.x))
            for part in on_device.cut(self.tasks_at_once or 1):
                place = self._place(len(reports), samples, part)
                reports.append(self._run(part, advance, place))
        return reports

    def _run(
        self, part: Group, advance: Advance, checkpoint: Checkpoint | None
    ) -> Report:
        alone = self.tasks_at_once is None
        outcome = run_program(
            self.program,
            self.start,
            part._replace(y=part.y[0]) if alone else part,
            self.recipe,
            self.keys,
            advance=advance,
            checkpoint=checkpoint,
            after_epoch=self.on_epoch and partial(self._tell, part.rows),
        )
        if alone:
            rows = {name: getattr(outcome, name)[None] for name in Outcome._fields[1:]}
            outcome = outcome._replace(**rows)
        return Report(part.rows, outcome, alone)

    def _tell(self, rows: tuple[int, ...], done: int, learner: Learner) -> None:
        assert self.on_epoch is not None
        network = learner.params, learner.state
        alone = self.tasks_at_once is None
        each = [copied(network)] if alone else _apart(network, len(rows))
        for row, (params, state) in zip(rows, each, strict=True):
            self.on_epoch(row, done, params, state)

    def _identity(self, group: Group) -> str:
        """A hash of everything but the tasks."""
        start = self.start
        if self.keys.ndim:
            start = jax.tree.map(lambda leaf: leaf[0], start)
        function, *arguments = _one_step(self.trainer, start, group, self.recipe)
        step = hash_traced(jax.make_jaxpr(function)(*arguments))
        alone = str(self.tasks_at_once is None)
        begun = jax.tree.leaves((self.start, self.keys))
        return hash_parts(step, str(self.recipe), alone, *begun)

    def _place(self, number: int, samples: str, part: Group) -> Checkpoint | None:
        if self.checkpoints is None:
            return None
        name = f"{self.name}{number}"
        return self.checkpoints.part(name, samples, str(part.num_train), part.y)


def _apart(tree: Any, count: int) -> Iterator[Any]:
    """Every row of every array, each in memory of its own, in few calls."""
    for some in blocks(count, _APART):
        yield from _cut(tree, some.start, some.stop - some.start)


@partial(jax.jit, static_argnums=2)
def _cut(tree: Any, first: int | Int[Array, ""], count: int) -> list[Any]:
    return [jax.tree.map(itemgetter(first + i), tree) for i in range(count)]


def gather(reports: Sequence[Report]) -> History:
    """Put the tasks back in their order.

    Args:
        reports: How each task ended.

    Returns:
        The history.
    """
    order = np.argsort([place for report in reports for place in report.rows])

    def together(field: str, xp: Any) -> Any:
        parts = [getattr(report.outcome, field) for report in reports]
        return xp.concatenate(parts)[order]

    ends = [end for report in reports for end in _ends(report)]
    distances = together("distances", jnp)
    return make_history(
        together("rows", np),
        together("by_batch", np),
        together("by_epoch", np),
        distance=distances[:, 0],
        at_start=together("at_start", np),
        cosine=distances[:, 1],
        outputs=together("outputs", jnp),
        params=tuple(ends[i][0] for i in order),
        states=tuple(ends[i][1] for i in order),
    )


def _ends(report: Report) -> Iterable[tuple[Params, Any]]:
    """Parameters and batch statistics of each task."""
    learner = report.outcome.learner
    network = learner.params, learner.state
    return [network] if report.alone else _apart(network, len(report.rows))


def is_faster_together(
    trainer: Trainer, start: Params, group: Group, recipe: Recipe
) -> bool:
    """Whether tasks train faster in one program than one after the other.

    Args:
        trainer: One network on one task.
        start: Initial parameters.
        group: Samples and targets.
        recipe: Its batch size.

    Returns:
        True, except for large networks on a CPU, and very large ones anywhere.
    """
    most = _SMALL if backend() == "cpu" else _LARGE
    return bytes_of(*_one_step(trainer, start, group, recipe)) <= most


def runs_that_fit(
    trainer: Trainer,
    start: Params,
    group: Group,
    recipe: Recipe,
    memory: int | None,
) -> int:
    """How many runs fit memory in one program.

    Args:
        trainer: One network on one task.
        start: Its initial parameters.
        group: Samples and targets.
        recipe: Its batch size.
        memory: Bytes that may be used; a share of what is free by default.

    Returns:
        Their number, at least 1.
    """
    memory = free_memory() if memory is None else memory
    function, learner, _, x, *others = _one_step(trainer, start, group, recipe)
    size = evaluated_at_once(len(group.x), group.num_train)
    some = jax.ShapeDtypeStruct((size, *x.shape[1:]), x.dtype)
    step = bytes_of(function, learner, start, x, *others)
    each = max(step, bytes_of(trainer.predict, learner, start, some))
    return max(1, (memory - group.x.nbytes) // each)


def _one_step(
    trainer: Trainer, start: Params, group: Group, recipe: Recipe
) -> tuple[Any, ...]:
    """The step of one run, and the shapes of what it takes."""
    learner = jax.eval_shape(trainer.begin, start, group.y[0, 0])
    x = jax.ShapeDtypeStruct(group.x.shape, jnp.result_type(group.x))
    dtype = jax.eval_shape(trainer.predict, learner, start, x).dtype
    y = jax.ShapeDtypeStruct(group.y[0].shape, loss_dtype(dtype))
    batch = jax.ShapeDtypeStruct((recipe.batch_size,), jnp.result_type(int))
    return trainer.step, learner, start, x, y, batch


def steps_bar(
    progress: bool | str, recipe: Recipe, num_train: int, runs: int
) -> AbstractContextManager[Advance]:
    """The progress bar of a training.

    Args:
        progress: Show it; a string is its title.
        recipe: Epochs and batches.
        num_train: Number of training samples.
        runs: Number of tasks, of all seeds.

    Returns:
        The bar, counting steps of all runs.
    """
    title = progress if isinstance(progress, str) else "Training"
    total = recipe.epochs * recipe.steps_per_epoch(num_train) * runs
    return progress_bar(title, total, show=bool(progress), unit="steps")
