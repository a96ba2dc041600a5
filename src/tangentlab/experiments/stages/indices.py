"""Which eigenfunctions an experiment looks at."""

from collections.abc import Sequence

import numpy as np

GRID = (0, 1, 2, 4, 9, 19, 49, 99, 199, 499, 999)
"""Default indices, those below half the number of samples; the paper's are unknown."""
FINE_GRID = (
    *(0, 1, 2, 3, 4, 6, 9, 12, 15, 19, 24, 34),
    *(49, 69, 99, 139, 199, 279, 349, 499, 599, 699, 849, 999),
)
"""With others between these, enough of them to tell whether accuracy falls."""


def choose_indices(
    indices: Sequence[int] | None,
    num: int | None,
    n: int,
    *,
    grid: Sequence[int] = GRID,
) -> tuple[int, ...]:
    """Indices as they were asked for, or the default ones.

    Args:
        indices: These.
        num: Or this many, evenly spread on a log scale.
        n: Number of samples.
        grid: The default ones, of which those below half the samples are taken.

    Returns:
        The indices, ascending.

    Raises:
        ValueError: If an index is not there or there twice, or both are given.
    """
    usual = [i for i in grid if 2 * i < n]
    if indices is None:
        return tuple(usual) if num is None else spread_indices(num, max(usual))
    if num is not None:
        raise ValueError(
            f"Give indices or num_indices, not both: got {tuple(indices)} and {num}."
        )
    outside = [i for i in indices if not 0 <= i < n]
    if outside or not indices or len(set(indices)) < len(indices):
        raise ValueError(
            f"indices must be different numbers in 0..{n - 1} (there are {n} samples), "
            f"got {tuple(indices)}."
        )
    return tuple(sorted(indices))


def spread_indices(num: int, largest: int) -> tuple[int, ...]:
    """Indices evenly spread on a log scale, as far as they are whole numbers.

    Args:
        num: How many.
        largest: The last of them; the first is 0.

    Returns:
        The indices, ascending.

    Raises:
        ValueError: If there are not that many.

    Example:
        >>> spread_indices(6, 999)
        (0, 3, 15, 62, 250, 999)
    """
    if not 2 <= num <= largest + 1:
        raise ValueError(f"num_indices must lie in 2..{largest + 1}, got {num}.")
    wanted = np.geomspace(1, largest + 1, num).round().astype(int) - 1
    steps = np.arange(num)
    # Each at least one after the one before, and none so late that others lack room.
    apart = np.maximum.accumulate(wanted - steps) + steps
    return tuple(np.minimum(apart, largest - steps[::-1]).tolist())
