"""The numbers of the eigenfunctions experiment, read from its run folder."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import expit

from ...store import Run
from ..stages.courses import MODELS
from ..stages.details import Record, by_seed_and_task
from ..stages.kernel import NUM_PAIRS

_BY_BATCH = "iterations_by_batch"


@dataclass(frozen=True)
class Ended:
    """How training of one model ended, a row per seed and a column per task.

    Attributes:
        accuracy: On the test samples.
        loss: Mean training loss of the last epoch.
        iterations: Steps to a mean training loss of 0.01 in an epoch; infinite where
            it was never reached.
        distance: From the initial parameters.
        cosine: Cosine distance from them.
        diverged: Training diverged, see `tl.History`.
        seconds: What training took, for each seed.
        iterations_by_batch: Steps to a mean training loss of 0.01 in a batch, likewise;
            None where a run did not save them.
    """

    accuracy: Float[np.ndarray, "s t"]
    loss: Float[np.ndarray, "s t"]
    iterations: Float[np.ndarray, "s t"]
    distance: Float[np.ndarray, "s t"]
    cosine: Float[np.ndarray, "s t"]
    diverged: Bool[np.ndarray, "s t"]
    seconds: Float[np.ndarray, " s"]
    iterations_by_batch: Float[np.ndarray, "s t"] | None = None


@dataclass(frozen=True)
class Results:
    """Both models on all tasks, a row per seed and a column per task.

    Attributes:
        data: Name of the data set.
        model: Name of the network.
        optimizer: Which both were trained by.
        num_train: Training samples.
        num_test: Test samples.
        seeds: The seeds.
        index: Index of each task's eigenfunction, from 0.
        eigenvalue: Its eigenvalue.
        complexity: Of its labels in the space of the kernel; a lower bound where not
            all eigenpairs were computed.
        balance: Share of samples labeled 1.
        chance: Test accuracy of the better constant answer.
        degenerate: One class has nearly all samples.
        unresolved: The next eigenvalue is within the resolution, or this one below it.
        overlaps: For each seed what signs keep of its eigenfunctions, from index 1 on,
            as far as rounding resolves them.
        probability_gap: Root mean square difference of both models' probabilities on
            the test samples.
        logit_gap: Likewise, of their outputs.
        disagreement: Share of test samples to which they give other labels.
        network: How the network ended.
        linearized: How its linearization ended.
        reference: Both on CIFAR2, in this order; None if that was not asked for.
    """

    data: str
    model: str
    optimizer: str
    num_train: int
    num_test: int
    seeds: tuple[int, ...]
    index: Int[np.ndarray, " t"]
    eigenvalue: Float[np.ndarray, "s t"]
    complexity: Float[np.ndarray, "s t"]
    balance: Float[np.ndarray, "s t"]
    chance: Float[np.ndarray, "s t"]
    degenerate: Bool[np.ndarray, "s t"]
    unresolved: Bool[np.ndarray, "s t"]
    overlaps: tuple[Float[np.ndarray, " k"], ...]
    probability_gap: Float[np.ndarray, "s t"]
    logit_gap: Float[np.ndarray, "s t"]
    disagreement: Float[np.ndarray, "s t"]
    network: Ended
    linearized: Ended
    reference: tuple[Ended, Ended] | None

    @property
    def usable(self) -> Bool[np.ndarray, "s t"]:
        """Tasks on which the models can be compared."""
        return ~(self.degenerate | self.network.diverged | self.linearized.diverged)

    @property
    def pair(self) -> tuple[Ended, Ended]:
        """Network and linearization."""
        return self.network, self.linearized


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the eigenfunctions experiment.

    Returns:
        Its results.
    """
    facts = run.metrics()[0]
    seeds = tuple(facts["seeds"])
    made = [run.arrays(f"tasks-{seed}") for seed in seeds]

    def of(name: str) -> np.ndarray:
        return np.stack([each[name] for each in made])

    reference = None
    if run.config.epochs_of_reference:
        network, linearized = (_ended(run, f"{m}-reference", seeds) for m in MODELS)
        reference = network, linearized
    return Results(
        data=facts["data"],
        model=facts["model"],
        optimizer=run.config.recipe.optimizer,
        num_train=facts["num_train"],
        num_test=facts["num_test"],
        seeds=seeds,
        index=made[0]["index"],
        eigenvalue=of("eigenvalue"),
        complexity=of("least_complexity"),
        balance=of("balance"),
        chance=of("chance"),
        degenerate=of("degenerate"),
        unresolved=of("unresolved") | of("below_resolution"),
        overlaps=tuple(_overlaps(run.arrays(f"spectrum-{seed}")) for seed in seeds),
        **_gaps(run, seeds),
        network=_ended(run, "network", seeds),
        linearized=_ended(run, "linearized", seeds),
        reference=reference,
    )


def details(results: Results) -> tuple[Record, ...]:
    """What each initialization and task gave beside what is logged of it.

    Args:
        results: Of a run.

    Returns:
        Records of how far both models are apart, and of what signs keep of the
        eigenfunctions of each initialization in the mean.
    """
    columns = {
        "chance": results.chance,
        "degenerate": results.degenerate,
        "unresolved": results.unresolved,
        "probability_gap": results.probability_gap,
        "logit_gap": results.logit_gap,
        "disagreement": results.disagreement,
    }
    kept = tuple(
        {"seed": seed, "num_eigenfunctions": len(each), "overlap": float(each.mean())}
        for seed, each in zip(results.seeds, results.overlaps, strict=True)
        if len(each)
    )
    return by_seed_and_task(results.seeds, results.index, columns) + kept


def _overlaps(spectrum: dict[str, np.ndarray]) -> np.ndarray:
    resolved = spectrum["eigenvalues"] >= spectrum["resolution"]
    later = (np.arange(len(resolved)) > 0) & (np.arange(len(resolved)) < NUM_PAIRS)
    return spectrum["overlap"][resolved & later].astype(float)


def _gaps(run: Run, seeds: tuple[int, ...]) -> dict[str, np.ndarray]:
    """How far both models are apart on the test samples."""
    network, linearized = (
        np.stack(
            [run.arrays(f"{m}-{seed}")["test_outputs"].astype(float) for seed in seeds]
        )
        for m in MODELS
    )
    probabilities = [expit(outputs) for outputs in (network, linearized)]
    with np.errstate(invalid="ignore", over="ignore"):  # a task may have diverged
        return {
            "probability_gap": _root_mean_square(np.subtract(*probabilities)),
            "logit_gap": _root_mean_square(network - linearized),
            "disagreement": ((network > 0) != (linearized > 0)).mean(axis=-1),
        }


def _root_mean_square(values: np.ndarray) -> np.ndarray:
    return np.sqrt(np.mean(values**2, axis=-1))


def _ended(run: Run, name: str, seeds: tuple[int, ...]) -> Ended:
    saved = [run.arrays(f"{name}-{seed}") for seed in seeds]

    def last(field: str) -> np.ndarray:
        return np.stack([each[field][:, -1] for each in saved])

    def of(field: str) -> np.ndarray:
        return np.stack([each[field] for each in saved])

    return Ended(
        accuracy=last("test_accuracy"),
        loss=last("train_loss"),
        iterations=of("iterations_by_epoch"),
        distance=of("distance"),
        cosine=of("cosine"),
        diverged=of("diverged"),
        seconds=of("seconds"),
        iterations_by_batch=of(_BY_BATCH) if _BY_BATCH in saved[0] else None,
    )
