"""How functions and things travel to workers: by import path, or saved.

What can be imported there is named, and read from the worker's own files. Anything
else (a function of a notebook, a closure over a network's description, a task) is saved
and sent. Arrays of any size do not go with it: where there is a folder that workers
see, they are files there, written once and mapped by each worker; else they are
refused. A worker in this process is given the thing itself.
"""

import importlib
import io
import pickle
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

import jax
import jax.numpy as jnp
import numpy as np

from .published import Array, is_plain, load_array, publish_array

_MOST = 2**24  # bytes that are sent of one thing
_SMALL = 2**16  # bytes of an array that goes with what holds it
_here: WeakValueDictionary[str, Any] = WeakValueDictionary()  # by name


@dataclass(frozen=True)
class Reference:
    """A function or record on its way to another process.

    Attributes:
        path: `module:name`, where it can be imported; else empty.
        saved: What cloudpickle made of it, where it cannot.
        folder: Where its large arrays are; empty if it has them with it.
        here: Its name in the memory of this process, if it does not leave it.
    """

    path: str = ""
    saved: bytes = b""
    folder: str = ""
    here: str = ""

    def resolve(self) -> Any:
        """Find the function, or make it again.

        Returns:
            What was referred to.
        """
        if self.here:
            return _here[self.here]
        if not self.path:
            return _Unpickler(io.BytesIO(self.saved), self.folder).load()
        module, name = self.path.split(":")
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found


Known = dict[int, tuple[Any, Array]]
"""Arrays that were written, by identity: themselves, and what they are called."""


def refer(
    name: str, what: Any, folder: Path | None = None, known: Known | None = None
) -> Reference:
    """Refer to a function or a record.

    Args:
        name: Name of the argument, for messages.
        what: The function or record.
        folder: Where its large arrays may be written; workers see it at the same path.
        known: Those that were written for others; added to.

    Returns:
        The reference.

    Raises:
        OSError: If the folder cannot be written to.
        ValueError: If it cannot be sent, or carries too much.
    """
    path = _import_path(what)
    if path:
        return Reference(path=path)
    try:
        saved = _saved(what, folder, {} if known is None else known)
    except OSError:  # of the folder; says what to do
        raise
    except Exception as error:
        raise ValueError(
            f"`{name}` cannot be sent to workers: {error}. Define it at the top of a "
            "module that workers can import."
        ) from error
    if len(saved) > _MOST:
        raise ValueError(
            f"`{name}` closes over {len(saved):,} bytes, of which at most {_MOST:,} "
            "are sent to workers: pass its arrays as `params` or `x`, which are "
            "published once, or `store` to a sweep, or define it at the top of a "
            "module that workers can import."
        )
    return Reference(saved=saved, folder="" if folder is None else str(folder))


def refer_here(name: str, what: Any) -> Reference:
    """Refer to a function for a worker in this process; nothing is saved.

    Args:
        name: Name of the argument, for messages.
        what: The function. It is found as long as the caller holds it.

    Returns:
        The reference.
    """
    reference = Reference(here=uuid4().hex)
    try:
        _here[reference.here] = what
    except TypeError:  # a kind of object that cannot be held weakly
        return refer(name, what)
    return reference


def _saved(what: Any, folder: Path | None, known: Known) -> bytes:
    import cloudpickle

    class Pickler(cloudpickle.Pickler):
        """Leaves large arrays in the folder, and their names in what is saved."""

        def persistent_id(self, obj: Any) -> tuple[str, Any, Any] | None:
            if not isinstance(obj, np.ndarray | jax.Array):
                return None
            if jnp.issubdtype(obj.dtype, jax.dtypes.prng_key):
                data = np.asarray(jax.random.key_data(obj))
                return "key", str(jax.random.key_impl(obj)), data
            if folder is None or not is_plain(obj.dtype) or obj.nbytes <= _SMALL:
                return None
            if id(obj) not in known:
                known[id(obj)] = obj, publish_array(np.asarray(obj), folder)
            return "array", known[id(obj)][1], isinstance(obj, jax.Array)

    file = io.BytesIO()
    Pickler(file).dump(what)
    return file.getvalue()


class _Unpickler(pickle.Unpickler):
    """Finds large arrays in the folder where they were left; makes keys again."""

    def __init__(self, file: io.BytesIO, folder: str):
        super().__init__(file)
        self._folder = folder

    def persistent_load(self, pid: tuple[str, Any, Any]) -> Any:
        kind, first, second = pid
        if kind == "key":
            return jax.random.wrap_key_data(jnp.asarray(second), impl=first)
        return _loaded(self._folder, first, second)


@lru_cache(maxsize=16)  # shared by all tasks on the same samples
def _loaded(folder: str, array: Array, on_device: bool) -> Any:
    values = load_array(array, Path(folder), check=True)
    return jnp.asarray(values) if on_device else values


def _import_path(what: Any) -> str:
    """Where to import a function, or nothing if that would give another one."""
    module = getattr(what, "__module__", None)
    name = getattr(what, "__qualname__", "")
    if not module or module == "__main__" or not name or "<" in name:
        return ""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}:{name}" if found is what else ""
