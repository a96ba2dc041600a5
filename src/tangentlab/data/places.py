"""Where data may lie on this machine, in the order of the search."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

DATA_VARIABLE = "TANGENTLAB_DATA"
"""Environment variable that names the folder with the data sets."""


class Place(NamedTuple):
    """A folder to search.

    Attributes:
        path: The folder; it need not exist.
        origin: Where its name came from, for messages.
        explicit: Whether the caller named it in this very call.
    """

    path: Path
    origin: str
    explicit: bool = False


def cache_directory() -> Path:
    """Folder of this user in which downloaded data sets are kept.

    `$XDG_CACHE_HOME` where it is set to an absolute path; otherwise `~/.cache`, on
    macOS `~/Library/Caches`, on Windows `%LOCALAPPDATA%`.

    Returns:
        The folder, which need not exist yet.
    """
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if xdg.is_absolute():
        base = xdg
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        base = Path(local) if local else Path.home() / "AppData" / "Local"
    else:
        base = Path.home() / ".cache"
    return base / "tangentlab" / "data"


def search_places(directory: str | os.PathLike[str] | None = None) -> list[Place]:
    """Folders in which data sets are looked for.

    Args:
        directory: A folder to search before the others.

    Returns:
        `directory`, then `$TANGENTLAB_DATA`, then the user's cache; each where given.
    """
    places = []
    if directory is not None:
        path = Path(directory).expanduser()
        places.append(Place(path, "directory=", explicit=True))
    variable = os.environ.get(DATA_VARIABLE)
    if variable:
        places.append(Place(Path(variable).expanduser(), f"${DATA_VARIABLE}"))
    places.append(Place(cache_directory(), "user cache"))
    return places
