"""Features of panels of examples, kept while they serve again.

Where one pass computes the features of all parameters, those of a panel are the same
for every block of the Gram matrix that it takes part in. A group of panels along the
rows stays in memory while the panels along the columns go by, so that the network runs
once for each group on what is outside of it, and once in all where one group is all.
On an accelerator that is what the network leaves in its memory.
"""

from collections.abc import Callable, Sequence
from typing import Any

from .._types import AnyArray
from .host import Arrays

Make = Callable[[Any, Sequence[AnyArray]], Any]
"""Computes the features of a pass for some examples."""

Share = Callable[[int, slice, Callable[[], list[Arrays]]], list[Arrays]]
"""Features of a panel along the rows (0) or columns (1) that others have computed, or
else those that a function makes."""


class Panels:
    """Features along the rows and columns of blocks, computed or remembered."""

    def __init__(
        self,
        make: Make,
        x: tuple[Sequence[AnyArray], Sequence[AnyArray]],
        *,
        symmetric: bool,
        group: int,
        share: Callable[..., Any] | None = None,
    ):
        """Start with nothing.

        Args:
            make: Computes features.
            x: Examples along the rows, and along the columns.
            symmetric: Whether they are the same.
            group: Examples along the rows that are kept; 0 keeps nothing.
            share: Where others look for what `make` returns, too, as a `Share` does for
                features; of use where some are kept.
        """
        self._make = make
        self._x = x
        self._symmetric = symmetric
        self._group = group
        self._share = share if group else None
        self._rows: dict[int, Any] = {}
        self._column: dict[int, Any] = {}

    def pair(self, features: Any, rows: slice, columns: slice) -> tuple[Any, Any]:
        """Features along both sides of a block.

        Args:
            features: Those of a pass.
            rows: Examples along the rows.
            columns: Examples along the columns.

        Returns:
            Along the rows; along the columns, None if these are the same examples.
        """
        same = self._symmetric and rows == columns
        if not self._group:
            left = self._compute(features, 0, rows)
            return left, None if same else self._compute(features, 1, columns)
        first = rows.start - rows.start % self._group
        inside = range(first, first + self._group)
        self._rows = {at: kept for at, kept in self._rows.items() if at in inside}
        left = self._get(self._rows, features, 0, rows)
        if same:
            return left, None
        if self._symmetric and columns.start in inside:
            return left, self._get(self._rows, features, 0, columns)
        if columns.start not in self._column:
            self._column.clear()
        return left, self._get(self._column, features, 1, columns)

    def _get(self, kept: dict[int, Any], features: Any, side: int, panel: slice) -> Any:
        if panel.start not in kept:
            kept[panel.start] = self._compute(features, side, panel)
        return kept[panel.start]

    def _compute(self, features: Any, side: int, panel: slice) -> Any:
        def make() -> Any:
            return self._make(features, [a[panel] for a in self._x[side]])

        if self._share is None:
            return make()
        return self._share(0 if self._symmetric else side, panel, make)
