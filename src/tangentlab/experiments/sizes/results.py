"""The numbers of the size study, read from its run folder."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from ...store import Run
from .computing import LONG, kinds_of


@dataclass(frozen=True)
class Results:
    """Test accuracies, for each seed, size and task; CIFAR2 is the first task.

    Attributes:
        data: Name of the data set.
        model: Name of the network.
        seeds: The seeds, each a draw of initialization and training samples.
        sizes: Training samples.
        num_test: Test samples.
        tasks: Names of the tasks.
        network: Of the network in the end.
        linearized: Of its linearization in the end.
        best: Of its linearization in its best epoch.
        diverged: Training of one of both diverged, see `tl.History`.
        usable: Neither degenerate nor diverged.
        long: On CIFAR2 at the largest size, of the linearization after a longer run;
            None if that was not asked for.
        epochs: Of CIFAR2, and of the longer run.
    """

    data: str
    model: str
    seeds: tuple[int, ...]
    sizes: tuple[int, ...]
    num_test: int
    tasks: tuple[str, ...]
    network: Float[np.ndarray, "s z t"]
    linearized: Float[np.ndarray, "s z t"]
    best: Float[np.ndarray, "s z t"]
    diverged: Bool[np.ndarray, "s z t"]
    usable: Bool[np.ndarray, "s z t"]
    long: Float[np.ndarray, " s"] | None
    epochs: tuple[int, int]

    @property
    def gap(self) -> Float[np.ndarray, "s z t"]:
        """Network less linearization."""
        return self.network - self.linearized


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the size study.

    Returns:
        Its results.
    """
    facts, config = run.metrics()[0], run.config
    seeds, sizes = tuple(facts["seeds"]), tuple(facts["sizes"])
    halves = "CIFAR2" if facts["data"] == "cifar10" else "halved classes"
    kinds = kinds_of(config)
    models = {
        model: [[_ended(run, model, kinds, n, seed) for n in sizes] for seed in seeds]
        for model in ("network", "linearized")
    }
    arrays = {
        model: {
            name: np.array([[each[name] for each in row] for row in rows])
            for name in ("accuracy", "best", "diverged")
        }
        for model, rows in models.items()
    }
    degenerate = np.stack(
        [_degenerate(run, seed, bool(facts["indices"])) for seed in seeds]
    )
    diverged = arrays["network"]["diverged"] | arrays["linearized"]["diverged"]
    return Results(
        data=facts["data"],
        model=facts["model"],
        seeds=seeds,
        sizes=sizes,
        num_test=models["network"][0][0]["num_test"],
        tasks=(halves, *(f"eigenfunction {index + 1}" for index in facts["indices"])),
        network=arrays["network"]["accuracy"],
        linearized=arrays["linearized"]["accuracy"],
        best=arrays["linearized"]["best"],
        diverged=diverged,
        usable=~(diverged | degenerate[:, None]),
        long=_long(run, seeds) if config.long_epochs else None,
        epochs=(config.cifar2_epochs, config.long_epochs),
    )


def _ended(run: Run, model: str, kinds: tuple[str, ...], size: int, seed: int) -> dict:
    """Numbers of all tasks at one size, CIFAR2 first."""
    saved = [run.arrays(f"{model}-{kind}-{size}-{seed}") for kind in kinds]
    return {
        "accuracy": np.concatenate([e["test_accuracy"][:, -1] for e in saved]),
        "best": np.concatenate([e["test_accuracy"].max(axis=1) for e in saved]),
        "diverged": np.concatenate([e["diverged"] for e in saved]),
        "num_test": saved[0]["test_outputs"].shape[1],
    }


def _degenerate(run: Run, seed: int, eigenfunctions: bool) -> np.ndarray:
    """CIFAR2 is balanced."""
    if not eigenfunctions:
        return np.array([False])
    return np.concatenate([[False], run.arrays(f"tasks-{seed}")["degenerate"]])


def _long(run: Run, seeds: tuple[int, ...]) -> np.ndarray:
    saved = [run.arrays(f"linearized-{LONG}-{seed}") for seed in seeds]
    return np.array([each["test_accuracy"][0, -1] for each in saved])
