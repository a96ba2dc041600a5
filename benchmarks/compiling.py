"""How long JAX traced and compiled."""

import time

import jax

_SPANS: list[tuple[float, float]] = []


def _watch(event: str, duration_secs: float, **kwargs: str | int) -> None:
    del kwargs
    if event.startswith("/jax/core/compile/"):
        now = time.perf_counter()
        _SPANS.append((now - duration_secs, now))


jax.monitoring.register_event_duration_secs_listener(_watch)


class Compiling:
    """What was compiled since it was made."""

    def __init__(self):
        self._begin = time.perf_counter()

    @property
    def seconds(self) -> float:
        """In which something was compiled, often several programs at once."""
        total, until = 0.0, self._begin
        for begin, end in sorted(_SPANS):
            total += max(0.0, end - max(begin, until))
            until = max(until, end)
        return total
