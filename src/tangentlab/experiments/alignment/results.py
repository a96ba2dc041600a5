"""The numbers of the alignment experiment, read from its run folder."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ...store import Run
from .computing import PUBLISHED_SAMPLES, Reading


class Published(NamedTuple):
    """A column of Table 1 of the paper's supplement.

    Attributes:
        begin: Energy concentration at initialization.
        end: In the last epoch.
        accuracy: On the test samples of CIFAR2.
    """

    begin: float
    end: float
    accuracy: float


TABLE_1 = {
    "mlp": Published(0.260, 0.636, 0.676),
    "lenet": Published(0.258, 0.830, 0.750),
    "resnet18": Published(0.227, 0.967, 0.814),
}
"""By the name of the network; 50 eigenvectors, 12,000 samples of CIFAR-10."""
_NUM_MODES = 50


@dataclass(frozen=True)
class Measured:
    """A network trained on some samples, and its kernel; a row per seed.

    Attributes:
        num_train: Training samples.
        kernel_samples: Samples on which the kernel was measured.
        accuracy: On the test samples after each epoch of training.
        trace: Of the kernel at the epochs at which it was measured, as all that
            follows.
        participation_ratio: An effective rank.
        alignment: Of the labels with the kernel, raw.
        centered: Alignment with the centered kernel, over Frobenius norms.
        permuted: The same for permuted labels.
        concentration: Share of the labels' norm in the leading eigenvectors.
        distance: Of the kernel from that at the start.
        velocity: Distance from the kernel before, per epoch; NaN at the start.
    """

    num_train: int
    kernel_samples: int
    accuracy: Float[np.ndarray, "s epochs"]
    trace: Float[np.ndarray, "s e"]
    participation_ratio: Float[np.ndarray, "s e"]
    alignment: Float[np.ndarray, "s e"]
    centered: Float[np.ndarray, "s e"]
    permuted: Float[np.ndarray, "s e k"]
    concentration: Float[np.ndarray, "s e"]
    distance: Float[np.ndarray, "s e"]
    velocity: Float[np.ndarray, "s e"]

    @property
    def normalized(self) -> Float[np.ndarray, "s e"]:
        """The alignment over the mean of the kernel's diagonal, at most 1."""
        return self.alignment * self.kernel_samples / self.trace

    @property
    def log_rise(self) -> Float[np.ndarray, " s"]:
        """Logarithm of how the centered alignment rose in training."""
        return np.log(self.centered[:, -1] / self.centered[:, 0])

    @property
    def permuted_log_rises(self) -> Float[np.ndarray, "s k"]:
        """The same for permuted labels."""
        return np.log(self.permuted[:, -1] / self.permuted[:, 0])


@dataclass(frozen=True)
class Results:
    """Everything that was measured.

    Attributes:
        data: Name of the data set.
        model: Name of the network.
        num_test: Test samples.
        kernel_samples: Samples on which the kernel was measured.
        num_modes: Leading eigenvectors of the energy concentration.
        seeds: The seeds.
        epoch: Epochs at which the kernel was measured.
        measured: By what the network was trained on.
    """

    data: str
    model: str
    num_test: int
    kernel_samples: int
    num_modes: int
    seeds: tuple[int, ...]
    epoch: Int[np.ndarray, " e"]
    measured: dict[Reading, Measured]

    @property
    def published(self) -> Published | None:
        """What the paper tells of the same measurement; None where it tells nothing."""
        same = (self.data, self.kernel_samples, self.num_modes)
        if same != ("cifar10", PUBLISHED_SAMPLES, _NUM_MODES):
            return None
        return TABLE_1.get(self.model)

    @property
    def chance(self) -> float:
        """Energy concentration of labels that have nothing to do with the kernel."""
        return float(np.sqrt(self.num_modes / self.kernel_samples))


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the alignment experiment.

    Returns:
        Its results.
    """
    facts = run.metrics()[0]
    seeds = tuple(facts["seeds"])
    readings: list[Reading] = facts["readings"]
    first = run.arrays(f"kernel-{readings[0]}-{seeds[0]}")
    sizes: dict[Reading, int] = {
        "all": facts["num_train"],
        "subset": facts["kernel_samples"],
    }
    return Results(
        data=facts["data"],
        model=facts["model"],
        num_test=facts["num_test"],
        kernel_samples=facts["kernel_samples"],
        num_modes=facts["num_modes"],
        seeds=seeds,
        epoch=first["step"].astype(int),
        measured={name: _measured(run, seeds, name, sizes) for name in readings},
    )


def _measured(
    run: Run, seeds: tuple[int, ...], reading: Reading, sizes: dict[Reading, int]
) -> Measured:
    kernels = [run.arrays(f"kernel-{reading}-{seed}") for seed in seeds]
    networks = [run.arrays(f"network-{reading}-{seed}") for seed in seeds]

    def of(name: str) -> np.ndarray:
        return np.stack([each[name] for each in kernels])

    return Measured(
        num_train=sizes[reading],
        kernel_samples=sizes["subset"],
        accuracy=np.stack([each["test_accuracy"][0] for each in networks]),
        trace=of("trace"),
        participation_ratio=of("participation_ratio"),
        alignment=of("alignment")[..., 0],
        centered=of("centered_alignment")[..., 0],
        permuted=of("centered_alignment")[..., 1:],
        concentration=of("energy_concentration")[..., 0],
        distance=of("distance"),
        velocity=of("velocity"),
    )
