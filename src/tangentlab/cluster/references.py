"""How a function travels to workers: by its import path, or as a saved module.

What can be imported there is named, and read from the worker's own files. Anything
else (a function of a notebook, a closure over a network's description) is saved once
and sent once to each worker. Neither may carry arrays of any size: those are published
as files.
"""

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_MOST = 2**24  # bytes of a saved module


@dataclass(frozen=True)
class Reference:
    """A function or record on its way to another process.

    Attributes:
        path: `module:name`, where it can be imported; else empty.
        saved: What cloudpickle made of it, where it cannot.
    """

    path: str = ""
    saved: bytes = b""

    def resolve(self) -> Any:
        """Find the function, or make it again.

        Returns:
            What was referred to.
        """
        if not self.path:
            import cloudpickle

            return cloudpickle.loads(self.saved)
        module, name = self.path.split(":")
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found


def refer(name: str, what: Callable[..., Any] | Any) -> Reference:
    """Refer to a function or a record.

    Args:
        name: Name of the argument, for messages.
        what: The function or record.

    Returns:
        The reference.

    Raises:
        ValueError: If it cannot be sent, or carries too much.
    """
    path = _import_path(what)
    if path:
        return Reference(path=path)
    import cloudpickle

    try:
        saved = cloudpickle.dumps(what)
    except Exception as error:
        raise ValueError(
            f"`{name}` cannot be sent to workers: {error}. Define it at the top of a "
            "module that workers can import."
        ) from error
    if len(saved) > _MOST:
        raise ValueError(
            f"`{name}` closes over {len(saved):,} bytes, of which at most {_MOST:,} "
            "are sent to workers: pass its arrays as `params` or `x`, which are "
            "published once, or define it at the top of a module that workers can "
            "import."
        )
    return Reference(saved=saved)


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
