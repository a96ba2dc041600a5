"""The numbers of the self-reference experiment, read from its run folder."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ...store import Run
from ...tasks.record import DEGENERATE
from ..stages.naming import subject
from .sources import SOURCES, Source


@dataclass(frozen=True)
class Results:
    """Test accuracies, for each seed, source of labels and index.

    Attributes:
        data: Name of the data set.
        model: Name of the network.
        names: What each source is called, in the order of `SOURCES`.
        num_train: Training samples.
        num_test: Test samples.
        seeds: The seeds.
        index: Indices of the eigenfunctions, from 0.
        network: Of the network.
        linearized: Of its linearization.
        diverged: Training of one of both diverged, see `tl.History`.
        usable: Neither degenerate, nor below the resolution, nor diverged.
        agreement: Share of samples to which a source gives the label that the
            network's own kernel gives, up to the sign of the eigenfunction.
    """

    data: str
    model: str
    names: tuple[str, ...]
    num_train: int
    num_test: int
    seeds: tuple[int, ...]
    index: Int[np.ndarray, " t"]
    network: Float[np.ndarray, "s k t"]
    linearized: Float[np.ndarray, "s k t"]
    diverged: Bool[np.ndarray, "s k t"]
    usable: Bool[np.ndarray, "s k t"]
    agreement: Float[np.ndarray, "s k t"]

    @property
    def advantage(self) -> Float[np.ndarray, "s k t"]:
        """Linearization less network."""
        return self.linearized - self.network

    @property
    def shared(self) -> Bool[np.ndarray, "s t"]:
        """Indices that can be used with every source."""
        return np.asarray(self.usable.all(axis=1))


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the self-reference experiment.

    Returns:
        Its results.
    """
    facts = run.metrics()[0]
    seeds, index = tuple(facts["seeds"]), np.array(facts["indices"])
    shape = (len(seeds), len(SOURCES), len(index))
    saved = {
        model: [run.arrays(f"{model}-{seed}") for seed in seeds]
        for model in ("network", "linearized")
    }
    accuracy = {
        model: np.stack([each["test_accuracy"][:, -1] for each in rows]).reshape(shape)
        for model, rows in saved.items()
    }
    diverged = np.any(
        [[each["diverged"] for each in rows] for rows in saved.values()], axis=0
    ).reshape(shape)
    labels = [
        [run.arrays(f"labels-{source}-{seed}") for source in SOURCES] for seed in seeds
    ]
    y = np.stack([[each["y"] for each in row] for row in labels])
    missing = np.stack([[each["missing"] for each in row] for row in labels])
    splits = np.split(y, [facts["num_train"]], axis=-1)
    balance = np.stack([part.mean(axis=-1) for part in splits])
    degenerate = (np.maximum(balance, 1 - balance) > DEGENERATE).any(axis=0)
    same = (y == y[:, :1]).mean(axis=-1)
    return Results(
        data=facts["data"],
        model=facts["model"],
        names=tuple(_name(source, facts) for source in SOURCES),
        num_train=facts["num_train"],
        num_test=facts["num_test"],
        seeds=seeds,
        index=index,
        network=accuracy["network"],
        linearized=accuracy["linearized"],
        diverged=diverged,
        usable=~(diverged | degenerate | missing),
        agreement=np.maximum(same, 1 - same),
    )


def _name(source: Source, facts: dict) -> str:
    other, _, _ = subject(facts["other_model"], "").partition(" on")
    return {
        "own": "its own kernel",
        "seed": "another initialization's kernel",
        "architecture": f"another architecture's kernel ({other})",
        "training": "its own kernel, training samples alone",
    }[source]
