"""The numbers of the comparison with the pretrained kernel, from its run folder."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ...store import Run
from ..stages.details import Record, by_seed_and_task
from .computing import INITIAL, results

OTHER_LOSSES = (0.1, 0.3)
"""To which steps are counted too: does it hang on the loss?"""


@dataclass(frozen=True)
class Learned:
    """How training of one model went, a row per seed and a column per task.

    Attributes:
        loss: Mean training loss of each epoch.
        accuracy: On the test samples at the end.
        train_accuracy: On the training samples in the last epoch.
        diverged: Training diverged, see `tl.History`.
        outputs: On the test samples at the end.
        unstable: The learning rate was beyond what a linear model with this kernel
            bears in theory; False where that was not looked at.
    """

    loss: Float[np.ndarray, "s t e"]
    accuracy: Float[np.ndarray, "s t"]
    train_accuracy: Float[np.ndarray, "s t"]
    diverged: Bool[np.ndarray, "s t"]
    outputs: Float[np.ndarray, "s t m"]
    unstable: Bool[np.ndarray, "s t"]


@dataclass(frozen=True)
class Results:
    """Three models on all tasks, a row per seed and a column per task.

    Attributes:
        data: Name of the data set.
        model: Name of the network.
        num_train: Training samples.
        num_test: Test samples.
        seeds: The seeds.
        steps_per_epoch: Steps in an epoch.
        target_loss: To which steps are counted.
        index: Index of each task's eigenfunction, from 0.
        chance: Test accuracy of the better constant answer.
        degenerate: One class has nearly all samples.
        network: The network.
        initial: The linear model with the kernel at initialization.
        pretrained: The linear model with the kernel at the end of training.
    """

    data: str
    model: str
    num_train: int
    num_test: int
    seeds: tuple[int, ...]
    steps_per_epoch: int
    target_loss: float
    index: Int[np.ndarray, " t"]
    chance: Float[np.ndarray, "s t"]
    degenerate: Bool[np.ndarray, "s t"]
    network: Learned
    initial: Learned
    pretrained: Learned

    @property
    def num_steps(self) -> int:
        """Steps of the whole training."""
        return self.steps_per_epoch * self.network.loss.shape[-1]

    def steps(
        self, model: Learned, target: float | None = None
    ) -> Float[np.ndarray, "s t"]:
        """Steps of a model to a training loss.

        Args:
            model: One of the three.
            target: The loss; the target loss of the run by default.

        Returns:
            For each seed and task as `steps_to`.
        """
        loss = self.target_loss if target is None else target
        rows = [
            [steps_to(curve, loss, self.steps_per_epoch) for curve in row]
            for row in model.loss
        ]
        return np.array(rows, float)

    @property
    def models(self) -> tuple[Learned, Learned, Learned]:
        """All three."""
        return self.network, self.initial, self.pretrained

    @property
    def usable(self) -> Bool[np.ndarray, "s t"]:
        """Tasks on which the models can be compared."""
        diverged = np.any([each.diverged for each in self.models], axis=0)
        return ~(self.degenerate | diverged)

    @property
    def used(self) -> Bool[np.ndarray, " t"]:
        """Those that can be for every seed."""
        return np.logical_and.reduce(self.usable, axis=0)


def steps_to(
    loss: Float[np.ndarray, " e"], target: float, per_epoch: int
) -> float | int:
    """Steps until the training loss falls to a target.

    The mean loss of an epoch is taken for that in its middle, with a straight line in
    between.

    Args:
        loss: Mean training loss of each epoch.
        target: The loss to be reached.
        per_epoch: Steps in an epoch.

    Returns:
        The number of steps; at most half an epoch if the first one is there already,
        infinite if no epoch is.
    """
    below = loss <= target
    if not below.any():
        return np.inf
    first = int(below.argmax())
    if first == 0:
        return per_epoch / 2
    share = (loss[first - 1] - target) / (loss[first - 1] - loss[first])
    return float(per_epoch * (first - 0.5 + share))


def agreement(
    model: Learned, network: Learned
) -> tuple[Float[np.ndarray, "s t"], Float[np.ndarray, "s t"]]:
    """How close a model's answers on the test samples are to the network's.

    Args:
        model: The model.
        network: The network.

    Returns:
        The share of samples with the same answer, and the correlation of outputs.
    """
    same = ((model.outputs > 0) == (network.outputs > 0)).mean(axis=-1)
    pair = [each.outputs.astype(np.float64) for each in (model, network)]
    a, b = (each - each.mean(axis=-1, keepdims=True) for each in pair)
    with np.errstate(invalid="ignore", divide="ignore"):
        norms = np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
        return same, (a * b).sum(axis=-1) / norms


def details(results: Results) -> tuple[Record, ...]:
    """What each initialization and task gave.

    Args:
        results: Of a run.

    Returns:
        Records of all three models.
    """
    columns = {"degenerate": results.degenerate, "chance": results.chance}
    names = ("network", "initial", "trained")
    for name, model in zip(names, results.models, strict=True):
        same, correlation = agreement(model, results.network)
        columns |= {
            f"{name}_accuracy": model.accuracy,
            f"{name}_loss": model.loss[..., -1],
            f"{name}_largest_loss": model.loss.max(axis=-1),
            f"{name}_diverged": model.diverged,
            f"{name}_unstable": model.unstable,
            f"{name}_as_network": same,
            f"{name}_correlation": correlation,
        }
        for loss in (results.target_loss, *OTHER_LOSSES):
            columns[f"{name}_steps_to_{loss:g}"] = results.steps(model, loss)
    return by_seed_and_task(results.seeds, results.index, columns)


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the comparison.

    Returns:
        Its results.
    """
    facts = run.metrics()[0]
    seeds = tuple(facts["seeds"])
    made = [run.arrays(f"tasks-{seed}") for seed in seeds]
    index = made[0]["index"]
    return Results(
        data=facts["data"],
        model=facts["model"],
        num_train=facts["num_train"],
        num_test=facts["num_test"],
        seeds=seeds,
        steps_per_epoch=facts["steps_per_epoch"],
        target_loss=facts["target_loss"],
        index=index,
        chance=np.stack([each["chance"] for each in made]),
        degenerate=np.stack([each["degenerate"] for each in made]),
        network=_learned([run.arrays(f"network-{seed}") for seed in seeds]),
        initial=_learned([run.arrays(f"{INITIAL}-{seed}") for seed in seeds]),
        pretrained=_learned([_pretrained(run, seed, index) for seed in seeds]),
    )


def _pretrained(run: Run, seed: int, index: np.ndarray) -> dict[str, np.ndarray]:
    """One task a file, put together."""
    parts = [run.arrays(f"{results(int(j))}-{seed}") for j in index]
    return {
        name: np.concatenate([np.atleast_1d(part[name]) for part in parts])
        for name in parts[0]
    }


def _learned(saved: list[dict[str, np.ndarray]]) -> Learned:
    def of(name: str) -> np.ndarray:
        return np.stack([each[name] for each in saved])

    diverged, known = of("diverged"), "unstable" in saved[0]
    return Learned(
        loss=of("train_loss"),
        accuracy=of("test_accuracy")[..., -1],
        train_accuracy=of("train_accuracy")[..., -1],
        diverged=diverged,
        outputs=of("test_outputs"),
        unstable=of("unstable") if known else np.zeros_like(diverged),
    )
