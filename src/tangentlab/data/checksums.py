"""Compare files with the checksums of the official ones."""

import hashlib
import os
from pathlib import Path

from .catalog import EMBEDDED_MD5
from .contents import read_contents
from .lookup import EMBEDDED_FILE, Found, find, known_entry

_BLOCK = 2**20


def md5_of(path: Path) -> str:
    """Checksum of a file, read block by block.

    Args:
        path: The file.

    Returns:
        Its MD5 as 32 hexadecimal digits.
    """
    digest = hashlib.md5(usedforsecurity=False)
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def verify(name: str, directory: str | os.PathLike[str] | None = None) -> Path:
    """Check that the files which `load` would read are the official ones.

    The checksums are those of the contents, so files that were unpacked, or packed
    again with another compression, pass as well.

    Args:
        name: Name of a data set.
        directory: A folder to search first, as in `load`.

    Returns:
        The folder or archive that was checked; for `digits` the file in the package.
    """
    entry = known_entry(name)
    if entry is None:
        _verify_embedded()
        return EMBEDDED_FILE
    found = find(entry, directory)
    verify_found(found)
    return found.path


def verify_found(found: Found) -> None:
    """Check the contents of files already found.

    Args:
        found: The files.

    Raises:
        ValueError: If a content is not the official one, with both checksums.
    """
    for content in read_contents(found):
        expected = found.entry.md5[content.member]
        got = hashlib.md5(content.data, usedforsecurity=False).hexdigest()
        if got != expected:
            raise ValueError(
                f"{content.source} has a wrong checksum: expected md5 {expected}, got "
                f"{got}. Delete it and run `tangentlab data fetch {found.entry.name}`."
            )


def _verify_embedded() -> None:
    got = md5_of(EMBEDDED_FILE)
    if got != EMBEDDED_MD5:
        raise ValueError(
            f"{EMBEDDED_FILE} has a wrong checksum: expected md5 {EMBEDDED_MD5}, got "
            f"{got}. It is part of the package: install tangentlab again."
        )
