"""Files that are either whole or not there, whenever a process or machine dies.

A file is written under a temporary name in the same folder, flushed to the disk, and
only then given its name. While it is written it is locked, so that the leftover of a
killed process can be told from the file of a living one, on whichever machine it runs.
"""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

_PARTIAL = ".partial"
_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK}


def write_aside(path: Path, *parts: bytes | memoryview) -> None:
    """Create or replace a file in one step.

    When this raises, `path` is as before and no temporary file is left.

    Args:
        path: The file.
        *parts: Its contents, one after the other.
    """
    with _finished_aside(path, parts) as aside:
        aside.replace(path)


def write_once(path: Path, *parts: bytes | memoryview) -> None:
    """Create a file in one step, unless there is one: of several writers one wins.

    Args:
        path: The file.
        *parts: Its contents, one after the other.

    Raises:
        OSError: If it cannot be written.
    """
    with _finished_aside(path, parts) as aside:
        try:
            os.link(aside, path)
        except FileExistsError:
            return
        except OSError as error:  # a file system without hard links
            if error.errno not in _NO_LINKS:
                raise
            if not path.exists():
                aside.replace(path)


def is_partial(path: Path) -> bool:
    """Whether a file is a temporary one, by its name.

    Args:
        path: The file.

    Returns:
        True for the names that this module makes.
    """
    return path.name.startswith(".") and path.name.endswith(_PARTIAL)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files that nobody writes any more.

    On a file system without locks they stay.

    Args:
        folder: Where to look.
    """
    for path in filter(is_partial, folder.iterdir()):
        try:
            with FileIO(path) as file:
                if _lock(file, wait=False):
                    path.unlink()
        except FileNotFoundError:  # its writer finished, or another process removed it
            continue


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Let one process at a time, or thread, do what is inside the block.

    On a file system without locks all of them do.

    Args:
        path: A file that stands for it, created and left there.

    Yields:
        Nothing, once nobody else holds the file.
    """
    with FileIO(path, "a") as file:
        _lock(file, wait=True)
        yield


@contextmanager
def _finished_aside(
    path: Path, parts: tuple[bytes | memoryview, ...]
) -> Iterator[Path]:
    """A temporary file with these contents, on the disk for good."""
    aside, file = _create_aside(path)
    try:
        with file:
            for part in parts:
                _write(file, memoryview(part))
            os.fsync(file.fileno())
            yield aside
        _sync_folder(path.parent)
    finally:
        aside.unlink(missing_ok=True)


def _create_aside(path: Path) -> tuple[Path, FileIO]:
    while True:
        aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}{_PARTIAL}")
        file = FileIO(aside, "x")
        _lock(file, wait=True)
        if os.fstat(file.fileno()).st_nlink:
            return aside, file
        file.close()  # taken for a leftover in the instant before it was locked


def _write(file: FileIO, data: memoryview) -> None:
    # Unbuffered, so that a full disk is reported here and with its own error number.
    data = data.cast("B")
    while data:
        data = data[file.write(data) :]


def _sync_folder(folder: Path) -> None:
    # A new name is on the disk only when its folder is.
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _lock(file: FileIO, *, wait: bool) -> bool:
    """Lock a file for as long as it is open; False where that cannot be done."""
    import fcntl  # not on Windows, where the rest of the library works

    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # another process has it, or the file system knows no locks
        return False
    return True
