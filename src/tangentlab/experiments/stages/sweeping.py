"""Tasks learned by the workers of a cluster, some by each, where there is one.

Each group of tasks keeps its own states, so that a worker that takes over from one that
died, or a run that is resumed, goes on where training was.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax.numpy as jnp

from ..._linalg import blocks
from ...cluster import sweep
from ...tasks import Task
from ...training import History, Recipe, train
from .seeds import Seed

Learn = Callable[..., History]
"""`learn(tasks, **options)`, with options of `tl.train`; it can be sent to workers."""

_GROUPS = 16  # at most: each group compiles, and is what a worker that dies may lose


def train_tasks(
    seed: Seed, tasks: Sequence[Task], recipe: Recipe, options: dict[str, Any]
) -> History:
    """Train the network of a seed on each task.

    Args:
        seed: Network, parameters, and whose workers train it.
        tasks: The tasks.
        recipe: How to train.
        options: Other arguments of `tl.train`.

    Returns:
        The history of all tasks.
    """
    model, params = seed.model, seed.params

    def learn(some: Sequence[Task], **others: Any) -> History:
        return train(model, params, some, recipe, **others)

    return learn_tasks(seed, tasks, options, learn)


def learn_tasks(
    seed: Seed, tasks: Sequence[Task], options: dict[str, Any], learn: Learn
) -> History:
    """Learn tasks, here or in groups on a cluster.

    Args:
        seed: Whose workers learn, if any, and where the arrays go that they share.
        tasks: The tasks.
        options: Arguments of `learn`: `key`, `checkpoint`, `progress`.
        learn: Learns some of them.

    Returns:
        The history of all tasks.
    """
    if seed.cluster is None:
        return learn(tasks, **options)
    rest = dict(options)
    title, states = rest.pop("progress", False), rest.pop("checkpoint", None)
    folder = None if states is None else Path(states).resolve()
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)

    def learn_group(item: tuple[int, Sequence[Task]]) -> History:
        number, some = item
        kept = {} if folder is None else {"checkpoint": folder / f"tasks-{number}"}
        return learn(some, **rest, **kept)

    each = -(-len(tasks) // _GROUPS)
    groups = [list(tasks)[part] for part in blocks(len(tasks), each)]
    parts = sweep(
        learn_group,
        enumerate(groups),
        cluster=seed.cluster,
        store=seed.folder.work / "published",
        progress=title,
    )
    return join_histories(parts)


def join_histories(parts: Sequence[History]) -> History:
    """One history of tasks that were learned in groups.

    Args:
        parts: Their histories.

    Returns:
        All tasks, in order.
    """
    names = [field.name for field in dataclasses.fields(History)]
    return History(
        **{name: _joined([getattr(p, name) for p in parts]) for name in names}
    )


def _joined(values: list[Any]) -> Any:
    if values[0] is None:
        return None
    if isinstance(values[0], tuple):
        return tuple(one for part in values for one in part)
    return jnp.concatenate([jnp.asarray(value) for value in values])
