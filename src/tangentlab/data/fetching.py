"""Download the official files of a data set."""

import os
import shlex
from pathlib import Path

from .catalog import Entry
from .checksums import verify_found
from .lookup import EMBEDDED_FILE, Found, known_entry, look_in, put_by_hand
from .places import Place, search_places
from .transfer import download


def fetch(
    name: str,
    *,
    directory: str | os.PathLike[str] | None = None,
    progress: bool = True,
) -> Path:
    """Download a data set, unless it is there and intact.

    A broken download is continued, also by a later call. Checksums are verified before
    a file gets its final name; if the official address fails, a second one is tried.

    Args:
        name: Name of a data set.
        directory: The data folder; if not given, `$TANGENTLAB_DATA`, and if that is not
            set, the user's cache. `load` searches the last two by itself.
        progress: Draw progress bars on standard error.

    Returns:
        The data folder. For `digits`, which comes with the package, the folder of its
        file; nothing is downloaded.
    """
    entry = known_entry(name)
    if entry is None:
        return EMBEDDED_FILE.parent
    place = search_places(directory)[0]
    return fetch_entry(entry, place.path, explicit=place.explicit, progress=progress)


def fetch_entry(
    entry: Entry,
    folder: Path,
    *,
    explicit: bool = False,
    progress: bool = True,
    timeout: float = 30.0,
) -> Path:
    """Download the files of a catalog entry.

    Args:
        entry: The data set.
        folder: The data folder.
        explicit: Whether the caller named it, and so has to name it again.
        progress: Draw progress bars on standard error.
        timeout: Seconds without an answer or a byte after which an address has failed.

    Returns:
        The data folder.

    Raises:
        ConnectionError: If a file could not be downloaded; says why, and which files
            to put where by hand.
    """
    if _is_intact(entry, folder):
        return folder
    try:
        for file in entry.remote:
            download(file, folder, progress=progress, timeout=timeout)
    except ConnectionError as error:
        command = f"tangentlab data fetch {entry.name}"
        if explicit:
            command += f" --directory {shlex.quote(str(folder))}"
        raise ConnectionError(
            f"{error}\nRun `{command}` again to continue, or get the files by other "
            f"means and put them here:\n{put_by_hand(entry, folder)}"
        ) from error
    return folder


def _is_intact(entry: Entry, folder: Path) -> bool:
    # Whether the folder has the official files, packed in whatever way.
    found = look_in(entry, Place(folder, "directory="))
    if not isinstance(found, Found):
        return False
    try:
        verify_found(found)
    except ValueError as error:
        if {folder / file.path for file in entry.remote} >= set(found.files):
            return False  # they are about to be replaced
        raise ValueError(
            f"{error} It would be read before anything downloaded to {folder}."
        ) from error
    return True
