"""Work that the runs of one folder share: spectra and trained networks.

Several experiments decompose the same kernel and train the same network on the same
tasks. Where a folder `.shared` lies beside the runs, what one of them computed is kept
there, named by a hash of all that decides it, and the others read it. `tangentlab
verify` makes that folder, and removes it when all of its runs are finished.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ..._hashing import hash_parts, hash_traced
from ..._types import AnyArray
from ...store import RunFolder
from ...store.files import open_aside
from .seeds import Seed

SHARED = ".shared"
_TRACED = 2  # samples on which a network is written down


def open_shared(root: Path) -> Path:
    """Let the runs of a folder share their work from now on.

    Args:
        root: Folder that holds the runs.

    Returns:
        Where shared work is kept.
    """
    folder = root / SHARED
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def shared_folder(folder: RunFolder) -> Path | None:
    """Where the runs beside a run share their work.

    Args:
        folder: The run.

    Returns:
        The folder; None if they do not.
    """
    shared = folder.path.parent / SHARED
    return shared if shared.is_dir() else None


def hash_start(seed: Seed, x: AnyArray) -> str:
    """Hash a network before training, and samples.

    Args:
        seed: Network and parameters.
        x: The samples.

    Returns:
        Equal for networks that compute the same of the same parameters.
    """
    state = seed.model.init_state()
    traced = jax.make_jaxpr(seed.model.apply_train)(seed.params, state, x[:_TRACED])
    begun = jax.tree.leaves((seed.params, state))
    return hash_parts(hash_traced(traced), *begun, x)


def write_shared(path: Path, arrays: dict[str, Any], leaves: Sequence[Any]) -> None:
    """Write arrays by name and others by number, in one step.

    Args:
        path: The file.
        arrays: Arrays by name.
        leaves: Arrays without names, such as those of a tree.
    """
    named = {str(number): leaf for number, leaf in enumerate(leaves)}
    plain = {name: np.asarray(array) for name, array in (arrays | named).items()}
    with open_aside(path) as file:
        np.savez(file, allow_pickle=False, **plain)


def read_shared(path: Path) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    """Read what `write_shared` wrote.

    Args:
        path: The file.

    Returns:
        Arrays by name, and those without.
    """
    with np.load(path, allow_pickle=False) as saved:
        arrays = {name: saved[name] for name in saved.files if not name.isdigit()}
        count = len(saved.files) - len(arrays)
        return arrays, [saved[str(number)] for number in range(count)]
