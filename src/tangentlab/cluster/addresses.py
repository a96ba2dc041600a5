"""Where a scheduler is, and its first answer."""

import json
import logging
import time
from pathlib import Path
from threading import Timer
from typing import Any

CONNECT = 30  # seconds that a scheduler has to answer a first time
_SILENCE = 3  # seconds of them after which it is said what is waited for
_log = logging.getLogger(__name__)


def connect(named: str) -> Any:
    """Connect to a scheduler; one that is just being started is waited for.

    Args:
        named: Its address, or the file where it writes that.

    Returns:
        A `dask.distributed.Client`.

    Raises:
        OSError: If it does not answer; says how to start one.
    """
    from distributed import Client

    said = "Waiting up to %d s for the scheduler at %s"
    soon = Timer(_SILENCE, _log.warning, (said, CONNECT, named))
    soon.daemon = True
    soon.start()
    try:
        address = address_of(named)
        try:
            return Client(address, timeout=CONNECT, set_as_default=False)
        except OSError as error:
            raise OSError(
                f"No scheduler answers at {address} ({error}). Start one with `dask "
                'scheduler --host 127.0.0.1`, or use `cluster="local:2"`.'
            ) from error
    finally:
        soon.cancel()


def address_of(named: str) -> str:
    """A scheduler's address, from the file where it writes that, if one is named.

    Args:
        named: The address, or a file `*.json`, which is waited for.

    Returns:
        The address.

    Raises:
        OSError: If the file does not tell.
    """
    if not named.endswith(".json"):
        return named
    end = time.monotonic() + CONNECT
    while True:
        try:
            return json.loads(Path(named).read_text())["address"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            if time.monotonic() > end:
                raise OSError(
                    f"{named} tells of no scheduler ({error!r}). Start one with `dask "
                    f"scheduler --scheduler-file {named}`."
                ) from error
        time.sleep(0.1)
