"""What was found about the paper's exact statements, read from a run folder."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ...store import Run
from .lemma import EIGENVECTOR


@dataclass(frozen=True)
class Lemma:
    """Lemma 1, a row per seed and a column per target.

    Attributes:
        kind: What each target is.
        squared: Squared kernel norm.
        bound: Its bound, without a Gram matrix.
        outside: Share of a target's energy that rounding hides.
        by_gradients: Alignment as squared norm of the averaged gradient.
        by_gram: Alignment from the Gram matrix.
        overlap: Of each eigenvector with its signs.
    """

    kind: np.ndarray
    squared: Float[np.ndarray, "s k"]
    bound: Float[np.ndarray, "s k"]
    outside: Float[np.ndarray, "s k"]
    by_gradients: Float[np.ndarray, "s k"]
    by_gram: Float[np.ndarray, "s k"]
    overlap: Float[np.ndarray, "s n"]

    @property
    def on_eigenvectors(self) -> Bool[np.ndarray, " k"]:
        """Where the inequality is an equality."""
        return self.kind == EIGENVECTOR

    @property
    def slack(self) -> Float[np.ndarray, "s k"]:
        """How far the norm lies above its bound, over the bound."""
        return self.squared / self.bound - 1

    @property
    def disagreement(self) -> Float[np.ndarray, "s k"]:
        """Relative difference of the two routes to the alignment."""
        return np.abs(self.by_gradients / self.by_gram - 1)


@dataclass(frozen=True)
class Theorem:
    """Theorem 1, a row per seed and a column per direction; see `SteinSides`."""

    alignment: Float[np.ndarray, "s k"]
    alignment_error: Float[np.ndarray, "s k"]
    derivative: Float[np.ndarray, "s k"]
    derivative_error: Float[np.ndarray, "s k"]
    difference: Float[np.ndarray, "s k"]
    difference_error: Float[np.ndarray, "s k"]

    @property
    def relative_errors(self) -> Float[np.ndarray, "2 s k"]:
        """Standard error of either side over its value."""
        return np.abs(
            np.stack(
                [
                    self.alignment_error / self.alignment,
                    self.derivative_error / self.derivative,
                ]
            )
        )


@dataclass(frozen=True)
class Frozen:
    """Batch statistics, a number per seed; see `batch_norm.py`.

    Attributes:
        linearized: Second difference of the linearization.
        network: That of the network.
        linearized_beside: How far an output of the linearization depends on the images
            beside it.
        network_beside: Likewise, of the network in training.
    """

    linearized: Float[np.ndarray, " s"]
    network: Float[np.ndarray, " s"]
    linearized_beside: Float[np.ndarray, " s"]
    network_beside: Float[np.ndarray, " s"]


@dataclass(frozen=True)
class Active:
    """Parameters with a gradient, by layer.

    Attributes:
        layer: Names of the layers.
        gelu: How many of a layer's parameters have one, a row per seed.
        relu: Likewise, with ReLU, of which some are off on all inputs.
        total: How many there are.
    """

    layer: np.ndarray
    gelu: Int[np.ndarray, "s l"]
    relu: Int[np.ndarray, "s l"]
    total: Int[np.ndarray, " l"]


@dataclass(frozen=True)
class Results:
    """All of a run.

    Attributes:
        data: Name of the data set.
        model: Name of the network of Lemma 1 and Theorem 1.
        num_samples: Samples of the Gram matrix.
        num_draws: Gaussian samples for Theorem 1.
        num_images: Inputs on which active parameters were looked for.
        seeds: The seeds.
        lemma: Lemma 1.
        theorem: Theorem 1.
        frozen: Batch statistics.
        active: Active parameters.
    """

    data: str
    model: str
    num_samples: int
    num_draws: int
    num_images: int
    seeds: tuple[int, ...]
    lemma: Lemma
    theorem: Theorem
    frozen: Frozen
    active: Active


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the experiment.

    Returns:
        Its results.
    """
    facts = run.metrics()[0]
    seeds = tuple(facts["seeds"])

    def stacked(name: str) -> dict[str, np.ndarray]:
        saved = [run.arrays(f"{name}-{seed}") for seed in seeds]
        return {key: np.stack([each[key] for each in saved]) for key in saved[0]}

    lemma, active = stacked("lemma"), stacked("active")
    del lemma["condition"]
    return Results(
        data=facts["data"],
        model=facts["model"],
        num_samples=facts["num_samples"],
        num_draws=facts["num_draws"],
        num_images=facts["num_images"],
        seeds=seeds,
        lemma=Lemma(**{**lemma, "kind": lemma["kind"][0]}),
        theorem=Theorem(**stacked("theorem")),
        frozen=Frozen(**stacked("frozen")),
        active=Active(
            active["layer"][0], active["gelu"], active["relu"], active["total"][0]
        ),
    )
