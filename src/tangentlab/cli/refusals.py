"""What is printed for a command line that cannot be read."""

import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

PROGRAM = "tangentlab"

Read = Callable[[Sequence[str]], Any]
"""Reads a command line, or prints why it cannot and raises `SystemExit`."""

_WIDE = "1000"
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_INNER = re.compile(r"(?:__tyro.dummy.inner__\.)?\bchoice\.(?=\w)(?:config\b\.?)?")
_OPTION = re.compile(r"--[a-z][\w.-]*")


@contextmanager
def explained_refusals(
    words: Sequence[str], commands: Sequence[tuple[str, ...]], read: Read
) -> Iterator[None]:
    """Add the known options to the parser's messages, and take its inner names out.

    Args:
        words: The command line that is read in the block.
        commands: The words of every command that has options.
        read: How it is read.

    Yields:
        Nothing.

    Raises:
        SystemExit: The parser's own.
    """
    errors = io.StringIO()
    try:
        with redirect_stderr(errors):
            yield
    except SystemExit as end:
        if end.code:
            command = next((c for c in commands if tuple(words[: len(c)]) == c), ())
            unwrapped = _printed(words, read)
            sys.stderr.write(_explained(errors.getvalue(), unwrapped, command, read))
        raise


def _explained(text: str, unwrapped: str, command: tuple[str, ...], read: Read) -> str:
    line = " ".join([PROGRAM, *command])
    leak = next(filter(_INNER.search, unwrapped.splitlines()), "").strip(" │")
    if leak:
        message = _INNER.sub("", leak).removeprefix("Error parsing : ")
        return f"{PROGRAM}: error: {message}\nSee `{line} --help`.\n"
    if command and "Unrecognized" in text:
        options = dict.fromkeys(_OPTION.findall(_printed([*command, "--help"], read)))
        listed = ", ".join(options)
        return f"{text}`{line}` has the options {listed}.\nSee `{line} --help`.\n"
    return text


def _printed(words: Sequence[str], read: Read) -> str:
    # What the parser has to say, without colors and breaking no line.
    text, before = io.StringIO(), os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _WIDE
    try:
        with redirect_stdout(text), redirect_stderr(text):
            read(words)
    except SystemExit:
        pass
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
    return _COLORS.sub("", text.getvalue())
