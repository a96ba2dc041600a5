"""Progress bars, drawn only where somebody asked for them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], None]
"""Call it with the number of units just finished."""


@contextmanager
def progress_bar(title: str, total: int, *, show: bool) -> Iterator[Advance]:
    """A bar with count, elapsed and remaining time, on standard error; it stays.

    Args:
        title: What is being done.
        total: Number of units.
        show: Draw it; otherwise nothing is imported and nothing printed.

    Yields:
        The function that advances the bar.
    """
    if not show:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = [
        TextColumn("{task.description:<28}"),
        BarColumn(bar_width=32),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda units: bar.advance(task, units)
