"""Whether a worker may take part: it has the same libraries, and finds everything."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax

from .units import Unfit


def versions() -> dict[str, str]:
    """Versions of the libraries that decide what is computed.

    Returns:
        Versions by name.
    """
    from .. import __version__  # known when the package is imported, not before

    return {"tangentlab": __version__, "jax": jax.__version__}


def check_versions(wanted: dict[str, str]) -> None:
    """Refuse a worker with other libraries than the client's.

    Args:
        wanted: The client's.

    Raises:
        Unfit: If they differ; says in what.
    """
    mine = versions()
    if mine != wanted:
        raise Unfit(f"it has {mine}, the client {wanted}; install the same")


@contextmanager
def all_found() -> Iterator[None]:
    """Refuse a worker that lacks a module or a file that the block needs.

    Yields:
        Nothing.

    Raises:
        Unfit: If there is something that the worker does not find.
    """
    try:
        yield
    except (ImportError, AttributeError, FileNotFoundError) as error:
        raise Unfit(
            f"it cannot read what is computed: {error}. Put the module on its "
            "PYTHONPATH, and the folder where all see it"
        ) from error
