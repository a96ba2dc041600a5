"""Download one file: resumed where it broke off, checked, then renamed into place."""

import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

from .._progress import Advance, progress_bar
from .catalog import RemoteFile
from .checksums import md5_of

_BLOCK = 2**16
_MAX_IDLE = 4
"""How often one address may break off without getting further than before."""


class _Broken(Exception):
    """A transfer that broke off; asking again may continue it."""


class _Refused(Exception):
    """An address that cannot be reached or has no such file; asking again is idle."""


class _Answer(NamedTuple):
    """What a server is about to send: bytes from `start` on, `num` if it said so."""

    stream: http.client.HTTPResponse
    start: int
    num: int | None


def download(
    file: RemoteFile, folder: Path, *, progress: bool = True, timeout: float = 30.0
) -> Path:
    """Download a file unless it is there and intact.

    The bytes go to `PATH.part`, from which a later call continues. Only a complete file
    with the right checksum gets the final name, by an atomic rename. An address that
    fails or sends wrong bytes is followed by the next.

    Args:
        file: What to download.
        folder: The data folder.
        progress: Draw a progress bar on standard error.
        timeout: Seconds without an answer or a byte after which an address has failed.

    Returns:
        Path of the file.

    Raises:
        ConnectionError: If no address gave the file; says why for each of them.
    """
    target = folder / file.path
    if target.is_file() and md5_of(target) == file.md5:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    problems = []
    with progress_bar(target.name, file.size, show=progress) as advance:
        advance(_size(part))
        for url in file.urls:
            problem = _try_address(url, part, file, advance, timeout)
            if problem is None:
                part.replace(target)
                return target
            problems.append(f"  {url}: {problem}")
    raise ConnectionError(f"{target} could not be downloaded:\n" + "\n".join(problems))


def _try_address(
    url: str, part: Path, file: RemoteFile, advance: Advance, timeout: float
) -> str | None:
    # Complete the part file from one address; the problem if that failed.
    inherited = part.exists()
    if inherited and md5_of(part) == file.md5:
        return None  # an earlier call ended just before the rename
    try:
        _complete(url, part, file.size, advance, timeout)
        got = md5_of(part)
        if got != file.md5 and inherited:
            # Perhaps only the older bytes, from another address, were wrong.
            _discard(part, advance)
            _complete(url, part, file.size, advance, timeout)
            got = md5_of(part)
    except (_Broken, _Refused) as error:
        return str(error)
    if got == file.md5:
        return None
    _discard(part, advance)
    return f"wrong checksum, expected md5 {file.md5}, got {got}"


def _complete(
    url: str, part: Path, size: int, advance: Advance, timeout: float
) -> None:
    # Ask for the rest of the file until the server has sent all of it.
    furthest, idle = _size(part), 0
    while True:
        try:
            return _append(url, part, size, advance, timeout)
        except _Broken:
            idle = 0 if _size(part) > furthest else idle + 1
            furthest = max(furthest, _size(part))
            if idle > _MAX_IDLE:
                raise


def _append(url: str, part: Path, size: int, advance: Advance, timeout: float) -> None:
    # Write what the server sends behind what is there, up to the size expected.
    answer = _ask(url, _size(part), timeout)
    received = 0
    with answer.stream:
        if answer.start == 0:
            _discard(part, advance)
        with part.open("ab") as output:
            for block in _blocks(answer.stream):
                received += len(block)
                if answer.start + received > size:
                    break
                output.write(block)
                advance(len(block))
            output.flush()
            os.fsync(output.fileno())
    if answer.start + received > size:
        _discard(part, advance)
        raise _Refused(f"sent more than the {size} bytes of the official file")
    if answer.num is not None and received < answer.num:
        raise _Broken(f"broke off, {answer.num - received} bytes short")


def _ask(url: str, start: int, timeout: float) -> _Answer:
    # Open an address, asking for the bytes from `start` on.
    headers = {"User-Agent": "tangentlab", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        request = urllib.request.Request(url, headers=headers)
        stream = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE and start:
            return _ask(url, 0, timeout)  # the part is no beginning of this file
        raise _Refused(f"HTTP status {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        raise _Refused(_reason(error)) from error
    length = stream.headers.get("Content-Length", "")
    num = int(length) if length.isdigit() else None
    if stream.status != HTTPStatus.PARTIAL_CONTENT:
        return _Answer(stream, 0, num)  # all of it, asked for or not
    if stream.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
        return _Answer(stream, start, num)
    stream.close()
    if start:
        return _ask(url, 0, timeout)
    raise _Refused("sent a part of the file, unasked")


def _blocks(stream: http.client.HTTPResponse) -> Iterator[bytes]:
    try:
        while block := stream.read(_BLOCK):
            yield block
    except (OSError, http.client.HTTPException) as error:
        raise _Broken(_reason(error)) from error


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _discard(part: Path, advance: Advance) -> None:
    advance(-_size(part))
    part.unlink(missing_ok=True)


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return str(reason) or type(error).__name__
