"""The numbers of the experiment on anisotropy directions, read from its run folder."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ...store import Run


@dataclass(frozen=True)
class Found:
    """The directions of all initializations, a row per seed.

    Attributes:
        energies: Of all directions at the origin, descending.
        resolution: Energies below are rounding.
        num_resolved: How many lie above.
        mean_energies: Of the derivative averaged over samples.
        squared_cosines: Between the leading subspaces at the origin and on average.
        overlap: Their mean.
        directions: Of the first seed, of the shape of a sample.
    """

    energies: Float[np.ndarray, "s d"]
    resolution: Float[np.ndarray, " s"]
    num_resolved: Int[np.ndarray, " s"]
    mean_energies: Float[np.ndarray, "s d"]
    squared_cosines: Float[np.ndarray, "s k"]
    overlap: Float[np.ndarray, " s"]
    directions: Float[np.ndarray, "d h w c"]


@dataclass(frozen=True)
class Learned:
    """How both models ended on each direction, a row per seed.

    Attributes:
        index: Of the directions, from 0.
        energy: Of each direction.
        resolved: Its energy is above rounding.
        network: Test accuracy of the network.
        linearized: Test accuracy of its linearization.
        diverged: Training of one of them diverged, see `tl.History`.
    """

    index: Int[np.ndarray, " t"]
    energy: Float[np.ndarray, "s t"]
    resolved: Bool[np.ndarray, "s t"]
    network: Float[np.ndarray, "s t"]
    linearized: Float[np.ndarray, "s t"]
    diverged: Bool[np.ndarray, "s t"]


@dataclass(frozen=True)
class Results:
    """All of a run.

    Attributes:
        data: What the derivative was averaged over.
        model: Name of the network.
        num_average: Over how many samples.
        num_test: Test samples along each direction.
        seeds: The seeds.
        found: The directions.
        learned: How they were learned; None for pictures alone.
    """

    data: str
    model: str
    num_average: int
    num_test: int
    seeds: tuple[int, ...]
    found: Found
    learned: Learned | None


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the experiment.

    Returns:
        Its results.
    """
    facts = run.metrics()[0]
    seeds = tuple(facts["seeds"])
    saved = [run.arrays(f"nads-{seed}") for seed in seeds]

    def of(name: str) -> np.ndarray:
        return np.stack([each[name] for each in saved])

    found = Found(
        energies=of("energies"),
        resolution=of("resolution"),
        num_resolved=of("num_resolved"),
        mean_energies=of("mean_energies"),
        squared_cosines=of("squared_cosines"),
        overlap=of("overlap"),
        directions=saved[0]["directions"],
    )
    return Results(
        data=facts["data"],
        model=facts["model"],
        num_average=facts["num_average"],
        num_test=facts["num_test"],
        seeds=seeds,
        found=found,
        learned=_learned(run, seeds, found) if facts["learned"] else None,
    )


def _learned(run: Run, seeds: tuple[int, ...], found: Found) -> Learned:
    index = run.arrays(f"along-{seeds[0]}")["index"]
    ended = {
        name: [run.arrays(f"{name}-{seed}") for seed in seeds]
        for name in ("network", "linearized")
    }

    def last(name: str) -> np.ndarray:
        return np.stack([each["test_accuracy"][:, -1] for each in ended[name]])

    diverged = [np.stack([e["diverged"] for e in each]) for each in ended.values()]
    return Learned(
        index=index,
        energy=found.energies[:, index],
        resolved=index[None] < found.num_resolved[:, None],
        network=last("network").astype(float),
        linearized=last("linearized").astype(float),
        diverged=np.logical_or(*diverged),
    )
