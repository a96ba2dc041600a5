"""Parameters and batch statistics of a network at some epochs, kept on disk."""

import io
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from ..._aside import write_aside
from ..._types import Params, State


class Snapshots(NamedTuple):
    """What training leaves for measurements after it.

    They are written before the state of training that has passed them, so that none is
    missing after an interruption.

    Attributes:
        folder: Where they lie.
        epochs: Numbers of epochs done at which one is kept.
        begin: Parameters and batch statistics before the first epoch.
    """

    folder: Path
    epochs: tuple[int, ...]
    begin: tuple[Params, State]

    def keep(self, task: int, done: int, params: Params, state: State) -> None:
        """Write a snapshot, if one is wanted; `on_epoch` of `tl.train`.

        Args:
            task: Place of the task; there is one alone.
            done: Number of epochs done.
            params: Parameters.
            state: Batch statistics.
        """
        del task
        if done not in self.epochs:
            return
        leaves = jax.tree.leaves((params, state))
        buffer = io.BytesIO()
        named = {str(i): np.asarray(leaf) for i, leaf in enumerate(leaves)}
        np.savez(buffer, allow_pickle=False, **named)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_aside(self._path(done), buffer.getbuffer())

    def read(self, done: int) -> dict[str, Any]:
        """Read a snapshot.

        Args:
            done: Number of epochs done.

        Returns:
            Parameters and batch statistics, as `params` and `state`.
        """
        params, state = self.begin
        if done:
            structure = jax.tree.structure(self.begin)
            with np.load(self._path(done), allow_pickle=False) as saved:
                leaves = [saved[str(i)] for i in range(structure.num_leaves)]
            params, state = jax.tree.unflatten(structure, leaves)
        return {"params": params, "state": state}

    def _path(self, done: int) -> Path:
        return self.folder / f"{done}.npz"
