"""The numbers of the rotation experiment, read from its run folder."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ...analysis import Rotation, rotation
from ...analysis.rotations import SPREAD
from ...store import Run
from ..stages.details import Record, by_seed_and_task
from .computing import PARTS, results


@dataclass(frozen=True)
class Turned:
    """How the kernel grew along one eigenfunction, a row per seed, a column per task.

    Attributes:
        score: Its growth over the median of all others.
        neighbor_score: Its growth over the median of its neighbors.
        rank: Its place among its neighbors, 1 for the largest.
        num_neighbors: How many there are.
        exceeded_by: Share of neighbors that grew as much; NaN without neighbors.
        neighbors: Growth of its neighbors over their median: the 5 % and 95 % quantiles
            and the largest.
    """

    score: Float[np.ndarray, "s t"]
    neighbor_score: Float[np.ndarray, "s t"]
    rank: Int[np.ndarray, "s t"]
    num_neighbors: Int[np.ndarray, "s t"]
    exceeded_by: Float[np.ndarray, "s t"]
    neighbors: Float[np.ndarray, "s t 3"]


@dataclass(frozen=True)
class Results:
    """Rotations of all tasks, a row per seed and a column per task.

    Attributes:
        data: Name of the data set.
        model: Name of the network.
        num_train: Training samples.
        num_test: Test samples.
        seeds: The seeds.
        index: Index of each task's eigenfunction, from 0.
        accuracy: Of the network on the test samples.
        loss: Its mean training loss in the last epoch.
        degenerate: One class has nearly all samples.
        diverged: Training diverged.
        turned: By the samples the kernel was measured on: all, train or test.
    """

    data: str
    model: str
    num_train: int
    num_test: int
    seeds: tuple[int, ...]
    index: Int[np.ndarray, " t"]
    accuracy: Float[np.ndarray, "s t"]
    loss: Float[np.ndarray, "s t"]
    degenerate: Bool[np.ndarray, "s t"]
    diverged: Bool[np.ndarray, "s t"]
    turned: dict[str, Turned]

    @property
    def usable(self) -> Bool[np.ndarray, "s t"]:
        """Tasks that say something: learned, not of one class, with neighbors."""
        neighbors = self.turned["all"].num_neighbors > 0
        return ~(self.degenerate | self.diverged) & neighbors

    @property
    def used(self) -> Bool[np.ndarray, " t"]:
        """Tasks that say something for every seed."""
        return np.logical_and.reduce(self.usable, axis=0)


@dataclass(frozen=True)
class Quotients:
    """Energy of the kernel along the modes of the beginning.

    Attributes:
        before: At initialization.
        after: At the end of training.
    """

    before: Float[np.ndarray, " k"]
    after: Float[np.ndarray, " k"]


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the rotation experiment.

    Returns:
        Its results.
    """
    facts = run.metrics()[0]
    seeds = tuple(facts["seeds"])
    made = [run.arrays(f"tasks-{seed}") for seed in seeds]
    learned = [run.arrays(f"network-{seed}") for seed in seeds]
    return Results(
        data=facts["data"],
        model=facts["model"],
        num_train=facts["num_train"],
        num_test=facts["num_test"],
        seeds=seeds,
        index=made[0]["index"],
        accuracy=np.stack([each["test_accuracy"][:, -1] for each in learned]),
        loss=np.stack([each["train_loss"][:, -1] for each in learned]),
        degenerate=np.stack([each["degenerate"] for each in made]),
        diverged=np.stack([each["diverged"] for each in learned]),
        turned={part: _turned(run, seeds, made[0]["index"], part) for part in PARTS},
    )


def read_quotients(run: Run, seed: int, index: int, part: str) -> Quotients:
    """Energies before and after one task was learned.

    Args:
        run: A finished run.
        seed: The seed.
        index: Of the eigenfunction that was learned.
        part: Samples: all, train or test.

    Returns:
        Energies along all modes whose eigenvalue is above the resolution.
    """
    found = run.arrays(f"spectrum-{seed}")
    resolved = found["eigenvalues"] > found["resolution"]
    before = run.arrays(f"before-{seed}")[part]
    # On a part of the samples rounding may leave a mode nothing.
    known = int(np.logical_and.accumulate(resolved & (before > 0)).sum())
    after = run.arrays(f"{results(index)}-{seed}")[part]
    return Quotients(before[:known], after[:known])


def details(results: Results) -> tuple[Record, ...]:
    """What each initialization and task gave.

    Args:
        results: Of a run.

    Returns:
        Records, with growth and rank on each part of the samples.
    """
    turned = {
        f"{name}_{part}": values
        for part, each in results.turned.items()
        for name, values in (
            ("growth", each.neighbor_score),
            ("growth_over_all_modes", each.score),
            ("rank", each.rank),
            ("num_neighbors", each.num_neighbors),
            ("exceeded_by", each.exceeded_by),
        )
    }
    columns = {
        "accuracy": results.accuracy,
        "loss": results.loss,
        "degenerate": results.degenerate,
        "diverged": results.diverged,
    }
    return by_seed_and_task(results.seeds, results.index, columns | turned)


def _turned(run: Run, seeds: tuple[int, ...], index: np.ndarray, part: str) -> Turned:
    table = [[_rotation(run, seed, int(j), part) for j in index] for seed in seeds]

    def of(name: str) -> np.ndarray:
        return np.array([[getattr(each, name) for each in row] for row in table])

    rows = [
        [_neighbors(each.gains, int(j)) for each, j in zip(row, index, strict=True)]
        for row in table
    ]
    return Turned(
        score=of("score"),
        neighbor_score=of("neighbor_score"),
        rank=of("rank"),
        num_neighbors=of("num_neighbors"),
        exceeded_by=of("exceeded_by"),
        neighbors=np.array(rows),
    )


def _rotation(run: Run, seed: int, index: int, part: str) -> Rotation:
    found = read_quotients(run, seed, index, part)
    if index < len(found.before):
        return rotation(found.after, found.before, index)
    nothing = float("nan")  # the mode itself is below the resolution
    return Rotation(np.empty(0), nothing, nothing, 0, 0, nothing)


def _neighbors(gains: np.ndarray, index: int) -> np.ndarray:
    modes = np.arange(len(gains))
    near = (modes >= index / SPREAD) & (modes <= index * SPREAD) & (modes != index)
    if not near.any():
        return np.full(3, np.nan)
    return np.quantile(gains[near], [0.05, 0.95, 1.0]) / np.median(gains[near])
