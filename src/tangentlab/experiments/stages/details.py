"""What every initialization and task gave, as records: claims can be judged again."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Int, Shaped

Record = dict[str, Any]


def by_seed_and_task(
    seeds: Sequence[int],
    index: Int[np.ndarray, " t"],
    columns: Mapping[str, Shaped[np.ndarray, "s t"]],
) -> tuple[Record, ...]:
    """A record for each initialization and task.

    Args:
        seeds: Of the rows of each column.
        index: Eigenfunctions of its columns.
        columns: Numbers or flags, by name.

    Returns:
        The records: seed, index, and one entry for each column.

    Example:
        >>> by_seed_and_task([42], np.array([9]), {"loss": np.array([[0.5]])})
        ({'seed': 42, 'index': 9, 'loss': 0.5},)
    """
    return tuple(
        {"seed": int(seed), "index": int(j)}
        | {name: values[s, t].item() for name, values in columns.items()}
        for s, seed in enumerate(seeds)
        for t, j in enumerate(index)
    )
