"""Looking at workers, before it is decided what they are told."""

import logging
import time
from collections.abc import Callable
from typing import Any

from .failures import is_lost_work
from .links import PATIENCE, Link
from .worker import survey

_log = logging.getLogger(__name__)
_TICK = 0.25  # seconds between looks
_SOON = 0.02  # seconds between looks for what will come soon
_SURVEY = 15.0  # seconds that a worker has to say what it has


def survey_workers(
    link: Link, look: Callable[[], dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Look at what the workers have that are there now; waits for those expected.

    Args:
        link: The connection.
        look: Looks, on a worker.

    Returns:
        What was seen, by address.

    Raises:
        OSError: If no worker comes.
    """
    end, late = time.monotonic() + PATIENCE, time.monotonic() + _SURVEY
    seen: dict[str, Any] = {}
    while time.monotonic() < end and not seen:
        if link.is_lost:
            link.reconnect()
        there = link.workers()
        if len(there) < link.expected and time.monotonic() < late:
            time.sleep(_SOON)
            continue
        asked = {
            address: link.client.submit(survey, look, workers=[address], pure=False)
            for address in there
        }
        soon = time.monotonic() + _SURVEY
        while any(not f.done() for f in asked.values()) and time.monotonic() < soon:
            time.sleep(_SOON)
        for address, future in asked.items():
            if future.status == "finished":
                seen[address] = future.result(timeout=_SURVEY).value
            elif future.status == "error" and not is_lost_work(future.exception()):
                _log.warning("Worker %s: %r", address, future.exception())
        time.sleep(0 if seen else _TICK)
    if not seen:
        raise OSError(link.nobody())
    return seen
