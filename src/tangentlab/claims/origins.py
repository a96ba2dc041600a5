"""Where and when the numbers of runs were measured."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..report.tables import Column, Row, Table


class Origin(NamedTuple):
    """The machine and the day of a run.

    Attributes:
        started: When, as text; None where nobody knows.
        devices: The kind of each device.
        versions: Of libraries, by name; None for one that was not installed.
    """

    started: str | None
    devices: tuple[str, ...]
    versions: Mapping[str, str | None]

    @property
    def day(self) -> str:
        """The day, in UTC."""
        return self.started[:10] if self.started else "an unknown day"

    @property
    def hardware(self) -> str:
        """The devices, each kind once."""
        kinds = Counter(self.devices).items()
        texts = [f"{num} × {kind}" if num > 1 else kind for kind, num in kinds]
        return " and ".join(texts) or "unknown devices"

    @property
    def jax(self) -> str:
        """The version of JAX."""
        return self.versions.get("jax") or "unknown"


def origin_of(facts: Mapping[str, Any]) -> Origin:
    """Read where a run was performed.

    Args:
        facts: Its manifest, or what was kept of it.

    Returns:
        The origin.
    """
    return Origin(
        facts.get("started"),
        tuple(facts.get("devices") or ()),
        dict(facts.get("versions") or {}),
    )


def origins_text(origins: Sequence[Origin]) -> str:
    """Where runs were performed, and when.

    Args:
        origins: Of the runs.

    Returns:
        Such as `2 runs on cpu with jax 0.11.2, 2026-11-18 to 2026-11-19`; empty for no
        runs.
    """
    days: dict[tuple[str, str], list[str]] = {}
    for each in origins:
        days.setdefault((each.hardware, each.jax), []).append(each.day)
    return "; ".join(
        f"{len(some)} run{'s' if len(some) > 1 else ''} on {hardware} with jax {jax}, "
        + " to ".join(dict.fromkeys([min(some), max(some)]))
        for (hardware, jax), some in days.items()
    )


def origins_table(origins: Sequence[tuple[str, Origin]]) -> Table:
    """Where each run was performed, and when.

    Args:
        origins: What the runs are called, and of each its origin.

    Returns:
        A row for each run.
    """
    titles = ("run", "day", "devices", "jax")
    columns = tuple(Column(title, align="left") for title in titles)
    rows = [Row((name, each.day, each.hardware, each.jax)) for name, each in origins]
    return Table(columns, tuple(rows), "Where the numbers are from")
