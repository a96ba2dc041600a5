"""Read official files: plain, gzipped, or straight out of a tar archive."""

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from .lookup import Found

_LIMIT = 2**26
"""No official file is larger; more is a damaged or hostile archive."""

_DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, tarfile.TarError)


class Content(NamedTuple):
    """The bytes of one official file.

    Attributes:
        member: Its official name.
        source: Where the bytes came from, for messages.
        data: The bytes, decompressed.
    """

    member: str
    source: str
    data: bytes


def read_contents(found: Found) -> Iterator[Content]:
    """Read the members of a data set, one at a time, without unpacking to disk.

    Args:
        found: The files.

    Yields:
        Every member once; those of an archive in the order of the archive.
    """
    if found.layout.archive:
        yield from _read_archive(found.files[0], found.layout.members)
        return
    for member, path in zip(found.layout.members, found.files, strict=True):
        data = _read_gzip(path) if path.suffix == ".gz" else path.read_bytes()
        yield Content(member, str(path), data)


def _read_gzip(path: Path) -> bytes:
    try:
        with gzip.open(path) as stream:
            data = stream.read(_LIMIT + 1)
    except _DAMAGE as error:
        raise ValueError(damaged(str(path), str(error))) from error
    if len(data) > _LIMIT:
        raise ValueError(damaged(str(path), f"it unpacks to more than {_LIMIT} bytes"))
    return data


def _read_archive(path: Path, members: tuple[str, ...]) -> Iterator[Content]:
    missing = set(members)
    try:
        with tarfile.open(path, "r:gz") as archive:
            for item in archive:
                name = PurePosixPath(item.name).name
                if name not in missing or not item.isfile():
                    continue
                source = f"{path}: {item.name}"
                if item.size > _LIMIT:
                    raise ValueError(damaged(source, f"it has {item.size} bytes"))
                stream = archive.extractfile(item)
                assert stream is not None  # `isfile` above
                missing.remove(name)
                yield Content(name, source, stream.read())
    except _DAMAGE as error:
        raise ValueError(damaged(str(path), str(error))) from error
    if missing:
        lacking = ", ".join(sorted(missing))
        raise ValueError(damaged(str(path), f"the archive lacks {lacking}"))


def damaged(source: str, reason: str) -> str:
    """Message for a file that cannot be what its name says.

    Args:
        source: The file.
        reason: What is wrong with it.

    Returns:
        One sentence on the damage and one on the remedy.
    """
    return (
        f"{source} is damaged or not the official file: {reason}. Delete it and get it "
        "again, for instance with `tangentlab data fetch`."
    )
