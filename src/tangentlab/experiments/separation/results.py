"""Samples needed, read off accuracies against numbers of samples."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...store import Run

MODELS = ("network", "kernel")


@dataclass(frozen=True)
class Needs:
    """Samples that each model needs, by dimension.

    Attributes:
        dims: The dimensions.
        samples: Network and kernel, by dimension; infinite where the level was not
            reached with the samples tried.
    """

    dims: tuple[int, ...]
    samples: Float[np.ndarray, "2 d"]

    @property
    def exponents(self) -> tuple[float | None, float | None]:
        """Slopes of log samples against log dimension; None for less than 2 points."""
        network, kernel = (_slope(self.dims, row) for row in self.samples)
        return network, kernel


def read_needs(run: Run) -> Needs:
    """Read a run.

    Args:
        run: A finished run of the separation experiment.

    Returns:
        Samples needed for the level of accuracy asked for.
    """
    rows = []
    for dim in run.config.dims:
        saved = run.arrays(f"dim-{dim}")
        means = saved["accuracies"].mean(axis=0)
        level = run.config.level
        rows.append([needed(saved["sizes"], means[:, i], level) for i in (0, 1)])
    return Needs(tuple(run.config.dims), np.array(rows).T)


def needed(
    sizes: np.ndarray, accuracies: Float[np.ndarray, " k"], level: float
) -> float:
    """Where an accuracy first reaches a level, interpolated in the log of the samples.

    Args:
        sizes: Numbers of samples, rising.
        accuracies: For each.
        level: The level.

    Returns:
        The number of samples; infinite if it is never reached.
    """
    reached = np.flatnonzero(accuracies >= level)
    if not len(reached):
        return float("inf")
    at = int(reached[0])
    if at == 0:
        return float(sizes[0])
    before, after = accuracies[at - 1], accuracies[at]
    share = (level - before) / (after - before)
    ends = np.log(np.asarray(sizes[at - 1 : at + 1], float))
    return float(np.exp(ends[0] + share * (ends[1] - ends[0])))


def _slope(dims: tuple[int, ...], samples: Float[np.ndarray, " d"]) -> float | None:
    known = np.isfinite(samples)
    if known.sum() < 2:
        return None
    x, y = np.log(np.array(dims, float)[known]), np.log(samples[known])
    return float(np.polyfit(x, y, 1)[0])
