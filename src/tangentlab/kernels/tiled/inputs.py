"""Parameters and samples beside the tiles, as files that workers map into memory.

A file is named by the hash of what is in it, so that it is written once however often a
computation is begun, and read only if it is what it says. Arrays are plain `.npy`;
nothing is ever unpickled.
"""

import io
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from ..._aside import write_once
from ..hashing import hash_parts

ROOM = "inputs"
_SMALL = 2**16  # bytes of a file that is read, not mapped


class Array(NamedTuple):
    """An array in a file.

    Attributes:
        name: Hash of its shape, dtype and contents.
        dtype: Its type, which a file cannot always tell.
    """

    name: str
    dtype: str

    def path(self, folder: Path) -> Path:
        """The file of the array.

        Args:
            folder: The folder of tiles.

        Returns:
            Its path; made of hexadecimal digits alone.

        Raises:
            ValueError: If the name is no hash.
        """
        if len(self.name) != 64 or set(self.name) - set("0123456789abcdef"):
            raise ValueError(
                f"{self.name!r} names no published array: it must be 64 hexadecimal "
                "digits, as `tl.gram` makes them."
            )
        return folder / ROOM / f"{self.name}.npy"


class Published(NamedTuple):
    """A pytree whose leaves lie in files.

    Attributes:
        structure: The tree.
        arrays: Its leaves.
    """

    structure: Any
    arrays: tuple[Array, ...]


def publish(tree: PyTree, folder: Path) -> Published:
    """Write the leaves of a tree to files, unless they are there.

    Args:
        tree: Parameters or samples.
        folder: The folder of tiles.

    Returns:
        What `load` reads.
    """
    (folder / ROOM).mkdir(parents=True, exist_ok=True)
    leaves, structure = jax.tree.flatten(tree)
    return Published(structure, tuple(_publish(leaf, folder) for leaf in leaves))


def _publish(leaf: Any, folder: Path) -> Array:
    dtype = jnp.result_type(leaf)
    if not any(jnp.issubdtype(dtype, kind) for kind in (np.number, np.bool_)):
        raise ValueError(
            f"Only arrays of numbers can be sent to workers, got a leaf of {dtype}. "
            "Pass random keys as `jax.random.key_data(key)`."
        )
    values = np.asarray(leaf, dtype)
    array = Array(hash_parts(values), str(dtype))
    path = array.path(folder)
    if not path.is_file():
        raw = np.ascontiguousarray(values).reshape(values.shape)  # not (1,) of ()
        plain = raw if dtype.kind in "biuf" else raw.view(f"u{dtype.itemsize}")
        write_once(path, _header(plain), plain.reshape(-1).view(np.uint8).data)
    return array


def _header(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    described = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(file, described)
    return file.getvalue()


def load(published: Published, folder: Path, *, check: bool) -> PyTree:
    """Map a published tree into memory.

    Args:
        published: What `publish` returned.
        folder: The folder of tiles.
        check: Whether to verify it.

    Returns:
        The tree; its leaves come from the disk when they are used.

    Raises:
        ValueError: If a file is not what was published.
        FileNotFoundError: If it is missing.
    """
    leaves = []
    for array in published.arrays:
        path = array.path(folder)
        if path.is_symlink() or not path.is_file():
            raise FileNotFoundError(
                f"There is no {path}: workers need the same folder as the client, at "
                "the same path."
            )
        mapped = "r" if path.stat().st_size > _SMALL else None
        values = np.load(path, mmap_mode=mapped, allow_pickle=False)
        values = values.view(jnp.dtype(array.dtype))
        if check and hash_parts(values) != array.name:
            raise ValueError(
                f"{path} is damaged: it is not what was published. Delete it, and call "
                "`tl.gram` again."
            )
        leaves.append(values)
    return jax.tree.unflatten(published.structure, leaves)
