"""States of training on disk, so that a killed process goes on where it was.

One `.npz` file per group of runs, without pickle, replaced in one step. It carries a
fingerprint of what is being trained, so that another training does not go on from it.
How many runs are in a group is kept too: memory may be free in another measure when a
process starts again.
"""

import io
import zlib
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from zipfile import BadZipFile

import jax
import jax.numpy as jnp
import numpy as np

from .._aside import remove_leftovers, write_aside
from .._hashing import hash_parts

_FINGERPRINT = "fingerprint"
_AT_ONCE = "runs-at-once.txt"
Tree = TypeVar("Tree")


class Checkpoint(NamedTuple):
    """Where the state of one group is kept.

    Attributes:
        path: The file.
        every: Number of epochs between two states.
        fingerprint: Of what is trained.
    """

    path: Path
    every: int
    fingerprint: str

    def restore(self, tree: Tree) -> Tree:
        """Read the last state.

        Args:
            tree: The state at the beginning.

        Returns:
            The last state, with the same structure; `tree` itself if there is none.

        Raises:
            ValueError: If the file is of another training, or damaged.
        """
        if not self.path.exists():
            return tree
        saved = _arrays(self.path)
        if str(saved.get(_FINGERPRINT)) != self.fingerprint:
            raise ValueError(
                f"{self.path} is the state of another training: the network, the "
                "parameters, the tasks, the recipe, the key or `together` differ. Pass "
                "another folder as `checkpoint`, or remove this one."
            )
        leaves, structure = jax.tree.flatten(tree)
        read = [  # what the states of earlier versions lack stays as it begins
            _like(leaf, saved[str(i)]) if str(i) in saved else leaf
            for i, leaf in enumerate(leaves)
        ]
        return jax.tree.unflatten(structure, read)

    def save(self, tree: Any, done: int, *, last: int) -> None:
        """Write the state, if it is time.

        Args:
            tree: The state.
            done: Number of epochs done.
            last: Number of epochs in all; the last state is always written.
        """
        if done % self.every and done != last:
            return
        named = {str(i): _plain(leaf) for i, leaf in enumerate(jax.tree.leaves(tree))}
        buffer = io.BytesIO()
        np.savez(
            buffer, allow_pickle=False, **{_FINGERPRINT: self.fingerprint}, **named
        )
        write_aside(self.path, buffer.getbuffer())


def _arrays(path: Path) -> dict[str, np.ndarray]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
            return {name: saved[name] for name in saved.files}
    except (ValueError, EOFError, BadZipFile, zlib.error) as error:
        raise ValueError(
            f"{path} is damaged and no state of a training: remove it, and its tasks "
            "are trained from the start."
        ) from error


def _plain(leaf: Any) -> np.ndarray:
    """An array of a type that a file knows: keys and bfloat16 become integers."""
    if _is_key(leaf):
        leaf = jax.random.key_data(leaf)
    array = np.asarray(leaf)
    return array.view(f"u{array.itemsize}") if array.dtype.kind == "V" else array


def _like(leaf: Any, saved: np.ndarray) -> Any:
    """What `_plain` made of an array, as it was."""
    if _is_key(leaf):
        return jax.random.wrap_key_data(
            jnp.asarray(saved), impl=jax.random.key_impl(leaf)
        )
    saved = saved.view(leaf.dtype)
    return saved if isinstance(leaf, np.ndarray) else jnp.asarray(saved)


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


class Checkpoints(NamedTuple):
    """A folder for the states of a training.

    Attributes:
        folder: The folder.
        every: Number of epochs between two states.
    """

    folder: Path
    every: int

    def part(self, name: str, *content: Any) -> Checkpoint:
        """The place of one group's state.

        Args:
            name: Name of the group.
            *content: Arrays, trees of arrays and text that say what is trained.

        Returns:
            The place.
        """
        return Checkpoint(
            self.folder / f"{name}.npz",
            self.every,
            hash_parts(*jax.tree.leaves(content)),
        )


def open_checkpoints(
    folder: str | PathLike[str] | None, every: int
) -> Checkpoints | None:
    """Make the folder of a training's states.

    Args:
        folder: The folder, or None for no states.
        every: Number of epochs between two states.

    Returns:
        The folder, with what a killed process left half-written removed.

    Raises:
        ValueError: If `every` is not a positive integer, or the folder is a file.
    """
    if type(every) is not int or every < 1:
        raise ValueError(f"`checkpoint_every` must be a positive integer, got {every}.")
    if folder is None:
        return None
    if Path(folder).is_file():
        raise ValueError(f"`checkpoint`: {folder} is a file, not a folder for states.")
    Path(folder).mkdir(parents=True, exist_ok=True)
    remove_leftovers(Path(folder))
    return Checkpoints(Path(folder), every)


def keep_runs_at_once(checkpoints: Checkpoints | None, planned: int) -> int:
    """How many runs form a group, also after the process was killed.

    Args:
        checkpoints: Where that is kept, or None for no states.
        planned: As many as fit now.

    Returns:
        As many as the process that began this training planned.

    Raises:
        ValueError: If what is kept of it is damaged.
    """
    if checkpoints is None:
        return planned
    file = checkpoints.folder / _AT_ONCE
    if not file.exists():
        write_aside(file, str(planned).encode())
    kept = file.read_text()
    if not kept.isdecimal() or not int(kept):
        raise ValueError(
            f"{file} is damaged and no number of runs: remove the folder, and all is "
            "trained from the start."
        )
    return int(kept)
