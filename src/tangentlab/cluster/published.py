"""Arrays as files in a folder that workers see, and map into their memory.

A file is named by the hash of what is in it, so that it is written once however often a
computation is begun, and read only if it is what it says. Arrays are plain `.npy`;
nothing is ever unpickled, and no link is followed. A worker in this process finds them
in its memory instead.
"""

import io
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakValueDictionary

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from .._aside import write_once
from .._hashing import hash_parts

ROOM = "inputs"
_SMALL = 2**16  # bytes of a file that is read, not mapped
_parsing = Lock()  # numpy parses headers by `ast`, of which Python 3.11 can do one
_here: WeakValueDictionary[str, np.ndarray] = WeakValueDictionary()  # each call's own


class Array(NamedTuple):
    """An array in a file, or in the memory of this process.

    Attributes:
        name: Hash of its shape, dtype and contents.
        dtype: Its type, which a file cannot always tell.
        here: What it is called in this process, if there is no file.
    """

    name: str
    dtype: str
    here: str = ""

    def path(self, folder: Path) -> Path:
        """The file of the array.

        Args:
            folder: The folder that workers see.

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
        folder: The folder that workers see.

    Returns:
        What `load` reads.
    """
    leaves, structure = jax.tree.flatten(as_computed(tree))
    return Published(structure, tuple(publish_array(leaf, folder) for leaf in leaves))


def publish_here(tree: PyTree) -> Published:
    """Name the leaves of a tree for a worker in this process; nothing is written.

    Args:
        tree: From `as_computed`. They are found as long as the caller holds it.

    Returns:
        What `load` reads.
    """
    leaves, structure = jax.tree.flatten(tree)
    arrays = tuple(_named(leaf)._replace(here=uuid4().hex) for leaf in leaves)
    _here.update(zip((array.here for array in arrays), leaves, strict=True))
    return Published(structure, arrays)


def _named(values: np.ndarray) -> Array:
    return Array(hash_parts(values), str(values.dtype))


def as_computed(tree: PyTree) -> PyTree:
    """A tree as `load` gives it back.

    Args:
        tree: Parameters or samples.

    Returns:
        The tree, its leaves in the types that JAX computes with.
    """
    return jax.tree.map(_as_computed, tree)


def _as_computed(leaf: Any) -> np.ndarray:
    """A leaf in the type that JAX computes with."""
    dtype = jnp.result_type(leaf)
    if not is_plain(dtype):
        raise ValueError(
            f"Only arrays of numbers can be sent to workers, got a leaf of {dtype}. "
            "Pass random keys as `jax.random.key_data(key)`."
        )
    return np.asarray(leaf, dtype)


def publish_array(values: np.ndarray, folder: Path) -> Array:
    """Write an array to a file, unless it is there.

    Args:
        values: The array.
        folder: The folder that workers see.

    Returns:
        What `load_array` reads.

    Raises:
        OSError: If it cannot be written; says what to do.
    """
    _check_room(folder)
    array = _named(values)
    try:
        _write(array.path(folder), values)
    except OSError as error:
        raise OSError(
            error.errno,
            f"What workers are to read ({values.nbytes:,} bytes) cannot be written to "
            f"{folder / ROOM}: {error.strerror}. Make room, or choose another folder.",
        ) from error
    return array


def _write(path: Path, values: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file():
        return
    dtype = values.dtype
    raw = np.ascontiguousarray(values).reshape(values.shape)  # not (1,) of ()
    plain = raw if dtype.kind in "biufc" else raw.view(f"u{dtype.itemsize}")
    write_once(path, _header(plain), plain.reshape(-1).view(np.uint8).data)


def is_plain(dtype: Any) -> bool:
    """Whether arrays of a type can be published.

    Args:
        dtype: The type.

    Returns:
        True for numbers and booleans, False for random keys and objects.
    """
    return any(jnp.issubdtype(dtype, kind) for kind in (np.number, np.bool_))


def _header(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    described = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(file, described)
    return file.getvalue()


def load(published: Published, folder: Path, *, check: bool) -> PyTree:
    """Map a published tree into memory.

    Args:
        published: What `publish` returned.
        folder: The folder that workers see.
        check: Whether to verify it.

    Returns:
        The tree; its leaves come from the disk when they are used.
    """
    leaves = [load_array(array, folder, check=check) for array in published.arrays]
    return jax.tree.unflatten(published.structure, leaves)


def check_published(published: Published, folder: Path) -> None:
    """Read all of a published tree, and raise if it is not what was published.

    Args:
        published: What `publish` returned.
        folder: The folder that workers see.
    """
    for array in published.arrays:
        load_array(array, folder, check=True)


def load_array(array: Array, folder: Path, *, check: bool) -> np.ndarray:
    """Map a published array into memory.

    Args:
        array: What `publish_array` returned.
        folder: The folder that workers see.
        check: Whether to verify it.

    Returns:
        The array, not to be changed.

    Raises:
        ValueError: If the file is not what was published.
        FileNotFoundError: If it is missing.
    """
    if array.here:
        return _here[array.here]
    _check_room(folder)
    path = array.path(folder)
    if path.is_symlink() or not path.is_file():
        raise FileNotFoundError(
            f"There is no {path}: workers need the same folder as the client, at "
            "the same path."
        )
    mapped = "r" if path.stat().st_size > _SMALL else None
    with _parsing:
        values = np.load(path, mmap_mode=mapped, allow_pickle=False)
    values = values.view(jnp.dtype(array.dtype))
    if check and hash_parts(values) != array.name:
        raise ValueError(
            f"{path} is damaged: it is not what was published. Delete it, and call "
            "`tl.gram` again, or what else began it."
        )
    return values


def _check_room(folder: Path) -> None:
    if (folder / ROOM).is_symlink():
        raise ValueError(
            f"{folder / ROOM} is a link to elsewhere, which is not followed: remove "
            "it, or choose another folder."
        )
