"""Two classes of unit vectors: real images, or clusters that are easy to tell."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from ... import data
from ..._types import PRNGKey

CLUSTERS = "clusters"
"""Name of the synthetic case."""

_DIM, _GAP = 5, 6.0


class Case(NamedTuple):
    """Labeled samples without a split: every draw makes its own.

    Attributes:
        x: Unit vectors, the last coordinate constant.
        y: -1.0 or 1.0.
    """

    x: Float[np.ndarray, "n d"]
    y: Float[np.ndarray, " n"]


def load_case(
    name: str, directory: Path | None, num: int, key: PRNGKey, seed: int
) -> Case:
    """The samples of a case.

    Args:
        name: `clusters`; a data set, whose first half of classes is told from the
            other; or a data set and two of its classes, as in `mnist:0,1`.
        directory: Where to look for data first.
        num: How many samples at most.
        key: Chooses them.
        seed: Draws clusters.

    Returns:
        The case. Of a data set the samples are of its training split.
    """
    if name == CLUSTERS:
        return _clusters(num, seed)
    loaded, pair = _select(name, directory)
    n = min(num, loaded.num_train)
    if n < loaded.num_train:
        loaded = data.subset(loaded, n, num_test=0, key=key)
    y, half = np.asarray(loaded.y)[:n], len(loaded.names) // 2
    positive = y == 0 if pair else y < half
    x = np.asarray(loaded.x[:n], np.float64).reshape(n, -1)
    return Case(_on_sphere(x), np.where(positive, 1.0, -1.0))


def _select(name: str, directory: Path | None) -> tuple[data.Dataset, bool]:
    source, _, classes = name.partition(":")
    loaded = data.load(source, directory=directory)
    if not classes:
        return loaded, False
    chosen = [int(c) if c.isdigit() else c for c in classes.split(",")]
    if len(chosen) != 2:
        raise ValueError(
            f"A case is a data set, or a data set and two of its classes, as in "
            f"mnist:0,1; got {name!r}."
        )
    return data.select_classes(loaded, chosen), True


def _clusters(num: int, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], num)
    x = rng.normal(size=(num, _DIM))
    x[:, 0] += _GAP * y
    return Case(_on_sphere(x), y)


def _on_sphere(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n e"]:
    """Unit vectors with a constant coordinate; each depends on its own sample alone."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.concatenate([x, np.ones((len(x), 1))], axis=1) / 2**0.5
