"""Progress bars, drawn only where somebody asked for them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]
"""Call it with the number of units just finished."""

_WINDOW = 600.0  # seconds over which speed is estimated: one unit may take minutes
_NARROW = 110  # columns of a terminal that all of a line with a note takes, about


@contextmanager
def progress_bar(
    title: str,
    total: int,
    *,
    show: bool,
    done: int = 0,
    unit: str = "",
    note: Callable[[], str] = str,
) -> Iterator[Advance]:
    """A bar with count, rate, elapsed and remaining time, on standard error; it stays.

    Where a note would not fit the line, the bar itself and the elapsed time give way.

    Args:
        title: What is being done.
        total: Number of units.
        show: Draw it; otherwise nothing is imported and nothing printed.
        done: Units finished before, by an earlier run; they do not count for the rate.
        unit: What the units are, for the rate.
        note: Says what else is to be known, at the end of the line.

    Yields:
        The function that advances the bar.
    """
    if not show:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    narrow = console.width < _NARROW and note() != ""
    columns = [
        TextColumn("{task.description}" if narrow else "{task.description:<16}"),
        *([] if narrow else [BarColumn(bar_width=16)]),
        TextColumn("{task.fields[count]}"),
        TextColumn("{task.fields[rate]}"),
        *([] if narrow else [TimeElapsedColumn()]),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    ]
    with Progress(*columns, console=console, speed_estimate_period=_WINDOW) as bar:
        count = f"{_count(done)}/{_count(total)}"
        number = bar.add_task(
            title, total=total, completed=done, count=count, rate="", note=note()
        )
        task = bar.tasks[0]

        def advance(units: int) -> None:
            bar.advance(number, units)
            average = (task.completed - done) / (task.elapsed or 1.0)
            rate = f"{_short(task.speed or average)} {unit}".rstrip() + "/s"
            count = f"{_count(int(task.completed))}/{_count(total)}"
            bar.update(number, count=count, rate=rate, note=note())

        yield advance


def _count(number: int) -> str:
    return str(number) if number < 10**7 else _short(float(number))


def _short(number: float) -> str:
    """Three digits and a prefix, such as `1.23 M`."""
    prefixes = ["", "k", "M", "G", "T"]
    while number >= 999.5 and len(prefixes) > 1:
        number /= 1000
        prefixes.pop(0)
    return f"{number:.3g} {prefixes[0]}".rstrip()
