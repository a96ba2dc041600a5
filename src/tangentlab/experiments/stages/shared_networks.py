"""Networks trained once for all runs that share work, task by task.

A task that another run has learned from the same start, by the same recipe and in the
same order of samples, is read; the others are trained together. Of several processes
that miss the same tasks one trains, and the others wait for it.
"""

import dataclasses
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..._aside import held
from ..._hashing import hash_parts
from ...tasks import Task
from ...training import History, Recipe
from .seeds import Seed
from .sharing import hash_start, read_shared, shared_folder, write_shared
from .sweeping import train_tasks

_TREES = ("params", "states", "coefficients", "origin_coefficient")
_FIELDS = tuple(
    field.name for field in dataclasses.fields(History) if field.name not in _TREES
)


def train_once(
    seed: Seed, tasks: Sequence[Task], recipe: Recipe, options: dict[str, Any]
) -> History:
    """Train a network on each task that nobody has trained it on.

    Args:
        seed: Network, parameters, order of samples, and where runs share their work.
        tasks: The tasks.
        recipe: How to train.
        options: Other arguments of `tl.train`.

    Returns:
        The history of all tasks.
    """
    folder = shared_folder(seed.folder)
    if folder is None:
        return train_tasks(seed, tasks, recipe, options)
    paths = _paths(folder, seed, tasks, recipe)
    missing = [at for at, path in enumerate(paths) if not path.is_file()]
    if missing:
        # Which tasks are missing may change until an interrupted training goes on.
        states = folder / hash_parts(*(paths[at].stem for at in missing))[:32]
        some, files = [tasks[at] for at in missing], [paths[at] for at in missing]
        with held(states.with_suffix(".lock")):
            if not all(file.is_file() for file in files):  # nor trained meanwhile
                options = options | {"checkpoint": states}
                _write(files, train_tasks(seed, some, recipe, options))
                shutil.rmtree(states)
    return _read(seed, paths)


def share_networks(
    seed: Seed, tasks: Sequence[Task], recipe: Recipe, history: History
) -> None:
    """Let others use networks that were trained for more than their end.

    Args:
        seed: As they were trained.
        tasks: Likewise.
        recipe: Likewise.
        history: How it went.
    """
    folder = shared_folder(seed.folder)
    if folder is not None:
        _write(_paths(folder, seed, tasks, recipe), history)


def _paths(
    folder: Path, seed: Seed, tasks: Sequence[Task], recipe: Recipe
) -> list[Path]:
    """A file for each task, named by all that decides how its training goes."""
    starts = {id(task.x): task.x for task in tasks}
    hashes = {place: hash_start(seed, x) for place, x in starts.items()}
    names = [
        hash_parts(
            hashes[id(task.x)], str(recipe), seed.key, str(task.num_train), task.y
        )
        for task in tasks
    ]
    return [folder / f"network-{name[:32]}.npz" for name in names]


def _write(paths: Sequence[Path], history: History) -> None:
    for row, path in enumerate(paths):
        arrays = {name: getattr(history, name)[row] for name in _FIELDS}
        leaves = jax.tree.leaves((history.params[row], history.states[row]))
        write_shared(path, arrays, leaves)


def _read(seed: Seed, paths: Sequence[Path]) -> History:
    structure = jax.tree.structure((seed.params, seed.model.init_state()))
    read = [read_shared(path) for path in paths]
    ends = [
        jax.tree.unflatten(structure, map(jnp.asarray, leaves)) for _, leaves in read
    ]
    fields = {
        name: jnp.asarray(np.stack([arrays[name] for arrays, _ in read]))
        for name in _FIELDS
    }
    return History(
        **fields,
        params=tuple(params for params, _ in ends),
        states=tuple(state for _, state in ends),
    )
