"""The numbers of the spectrum experiment, read from its run folder."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ...analysis import resolved_modes
from ...spectra import PowerLaw
from ...store import Run


@dataclass(frozen=True)
class Found:
    """The spectrum of one seed.

    Attributes:
        eigenvalues: Descending.
        resolution: Eigenvalues below are rounding.
        overlap: What signs keep of each eigenvector.
        largest_residual: Over the pairs, relative to the largest eigenvalue.
        captured: Share of the trace in the computed pairs.
        trace: Of the Gram matrix.
        effective_rank: Exponential of the entropy of the eigenvalues.
        participation_ratio: The other effective rank.
        law: The power law; None where too few eigenvalues are there for it.
        num_negative: Eigenvalues below zero.
        num_below_resolution: Eigenvalues below the resolution.
        num_unconverged: Pairs that did not converge.
        method: How they were computed.
        orthogonality_error: How far eigenvectors are from orthonormal.
    """

    eigenvalues: Float[np.ndarray, " k"]
    resolution: float
    overlap: Float[np.ndarray, " k"]
    largest_residual: float
    captured: float
    trace: float
    effective_rank: float
    participation_ratio: float
    law: PowerLaw | None
    num_negative: int
    num_below_resolution: int
    num_unconverged: int
    method: str
    orthogonality_error: float

    @property
    def resolved(self) -> Bool[np.ndarray, " k"]:
        """Modes that complexities are sums over."""
        return resolved_modes(self.eigenvalues, self.resolution)

    @property
    def mean_overlap(self) -> float:
        """Over resolved modes past the leading one; NaN without any."""
        known = self.overlap[1:][self.resolved[1:]]
        return float(known.mean()) if len(known) else float("nan")


@dataclass(frozen=True)
class Measured:
    """Label vectors along the modes of one seed.

    Attributes:
        energy: Share of the squared norm in each mode.
        complexity: Over the resolved modes.
        held: Share of the squared norm in these.
        least: Lower bound of the complexity over all modes.
    """

    energy: Float[np.ndarray, "k t"]
    complexity: Float[np.ndarray, " t"]
    held: Float[np.ndarray, " t"]
    least: Float[np.ndarray, " t"]

    def within(self, num: int) -> Float[np.ndarray, " t"]:
        """Share of the squared norm in leading modes.

        Args:
            num: How many of them.

        Returns:
            One share a label vector; NaN if fewer were computed.
        """
        if num > len(self.energy):
            return np.full(self.energy.shape[1], np.nan)
        return self.energy[:num].sum(axis=0, dtype=np.float64)


@dataclass(frozen=True)
class Modes:
    """Some eigenfunctions and their signs, a row per seed.

    Attributes:
        index: Of each, from 0.
        eigenvalue: Of the Gram matrix; NaN where not resolved, as all below.
        overlap: What signs keep of the eigenvector.
        balance: Share of samples labeled 1.
        unresolved: The vector is an arbitrary one of a cluster.
        real: Complexity of the real-valued eigenfunction, n over its eigenvalue.
        signs: Complexity of its signs, over the resolved modes.
        held: Share of the signs in these.
        least: Lower bound of their complexity over all modes.
    """

    index: Int[np.ndarray, " t"]
    eigenvalue: Float[np.ndarray, "s t"]
    overlap: Float[np.ndarray, "s t"]
    balance: Float[np.ndarray, "s t"]
    unresolved: Bool[np.ndarray, "s t"]
    real: Float[np.ndarray, "s t"]
    signs: Float[np.ndarray, "s t"]
    held: Float[np.ndarray, "s t"]
    least: Float[np.ndarray, "s t"]


@dataclass(frozen=True)
class Results:
    """What a run found.

    Attributes:
        data: Name of the data set.
        model: Name of the network.
        num_samples: Train and test together.
        seeds: The seeds.
        found: The spectrum of each.
        names: Of the labels that classes make.
        halved: The first of these are five of ten classes against the others.
        balance: Share of samples labeled 1, for each of these.
        classes: These labels, for each seed.
        random: Random labels, for each seed.
        modes: Some eigenfunctions, resolved for every seed.
    """

    data: str
    model: str
    num_samples: int
    seeds: tuple[int, ...]
    found: tuple[Found, ...]
    names: tuple[str, ...]
    halved: bool
    balance: Float[np.ndarray, " t"]
    classes: tuple[Measured, ...]
    random: tuple[Measured, ...]
    modes: Modes

    def over_random(self, column: int) -> float:
        """Complexity of labels relative to that of random ones, a mean over seeds.

        Where it is not whole, both are their lower bounds.

        Args:
            column: Which of the labels that classes make.

        Returns:
            The ratio.
        """
        pairs = zip(self.classes, self.random, strict=True)
        return float(np.mean([a.least[column] / b.least.mean() for a, b in pairs]))

    @property
    def is_whole(self) -> bool:
        """Whether complexities are over all modes, and no lower bounds."""
        counts = [int(each.resolved.sum()) for each in self.found]
        return not self.is_approximate and min(counts) == self.num_samples

    @property
    def is_approximate(self) -> bool:
        """Whether pairs come from landmarks."""
        return self.found[0].method == "nystrom"


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the spectrum experiment.

    Returns:
        Its results.
    """
    facts = run.metrics()[0]
    seeds = tuple(facts["seeds"])
    spectra = [run.arrays(f"spectrum-{seed}") for seed in seeds]
    labels = [run.arrays(f"labels-{seed}") for seed in seeds]
    return Results(
        data=facts["data"],
        model=facts["model"],
        num_samples=facts["num_train"] + facts["num_test"],
        seeds=seeds,
        found=tuple(_found(*pair) for pair in zip(spectra, labels, strict=True)),
        names=tuple(map(str, labels[0]["names"])),
        halved=bool(labels[0]["halved"]),
        balance=labels[0]["balance"],
        classes=tuple(_measured(each, "") for each in labels),
        random=tuple(_measured(each, "random_") for each in labels),
        modes=_modes([run.arrays(f"modes-{seed}") for seed in seeds]),
    )


def _found(arrays: dict[str, np.ndarray], labels: dict[str, np.ndarray]) -> Found:
    exponent, error, prefactor, start, stop = arrays["power_law"]
    law = None
    if np.isfinite(exponent):
        numbers = (float(exponent), float(error), float(prefactor))
        law = PowerLaw(*numbers, int(start), int(stop))
    lam, residuals = arrays["eigenvalues"], arrays["residuals"]
    same = ("resolution", "captured", "trace", "effective_rank", "participation_ratio")
    counts = ("num_negative", "num_below_resolution", "num_unconverged")
    return Found(
        eigenvalues=lam,
        overlap=arrays["overlap"],
        largest_residual=float(residuals.max() / np.abs(lam).max()),
        law=law,
        method=str(arrays["method"]),
        orthogonality_error=float(labels["orthogonality_error"]),
        **{name: float(arrays[name]) for name in same},
        **{name: int(arrays[name]) for name in counts},
    )


def _measured(arrays: dict[str, np.ndarray], prefix: str) -> Measured:
    names = ("energy", "complexity", "held", "least")
    return Measured(*(arrays[f"{prefix}{name}"] for name in names))


def _modes(saved: list[dict[str, np.ndarray]]) -> Modes:
    names = ("eigenvalue", "overlap", "balance", "unresolved", "real", "signs", "held")
    names += ("least",)
    rows = {name: np.stack([each[name] for each in saved]) for name in names}
    known = np.isfinite(rows["eigenvalue"]).all(axis=0)
    kept = {name: values[:, known] for name, values in rows.items()}
    return Modes(index=saved[0]["index"][known], **kept)
