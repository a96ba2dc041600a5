"""What training says about the lecture's claim D39."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...analysis import Claim, exactly, kendall, over_draws
from ...store import Run
from ..stages.findings import few_draws, held_against
from ..stages.judging import with_verdict
from .computing import SPOILED


@dataclass(frozen=True)
class Measured:
    """The numbers of a run, seeds first.

    Attributes:
        shares: Of random labels.
        names: Of the tasks with spoiled images, all with true labels.
        train_error: At the end, shares then spoiled images.
        fitted: Epochs until all training samples are right throughout an epoch;
            infinite where that never happened.
        test_error: At the end, on true labels.
    """

    shares: tuple[float, ...]
    names: tuple[str, ...]
    train_error: Float[np.ndarray, "s t"]
    fitted: Float[np.ndarray, "s t"]
    test_error: Float[np.ndarray, "s t"]

    @property
    def slowdown(self) -> Float[np.ndarray, "s k"]:
        """Epochs to fit over those for true labels, by share; NaN if never fitted."""
        known = np.where(np.isfinite(self.fitted), self.fitted, np.nan)
        return known[:, : len(self.shares)] / known[:, :1]


def read_measured(run: Run) -> Measured:
    """Read a run.

    Args:
        run: A finished run of the random-labels experiment.

    Returns:
        Its numbers.
    """
    parts = [run.arrays(name) for name in ("labels", "images")]

    def of(name: str) -> np.ndarray:
        return np.concatenate([part[name] for part in parts], axis=1)

    return Measured(
        tuple(run.config.corruptions),
        SPOILED,
        of("train_error"),
        epochs_to_fit(of("train_accuracy")),
        1 - of("test_accuracy")[..., -1],
    )


def epochs_to_fit(accuracy: Float[np.ndarray, "*s e"]) -> Float[np.ndarray, "*s"]:
    """The first epoch in which every batch was right before its step.

    Args:
        accuracy: Training accuracy of each epoch.

    Returns:
        Its number, from 1; infinite where there is none.
    """
    right = accuracy >= 1 - 1e-6
    return np.where(right.any(axis=-1), right.argmax(axis=-1) + 1.0, np.inf)


def claims(measured: Measured) -> tuple[Claim, ...]:
    """Judge all claims.

    Args:
        measured: Of a run.

    Returns:
        D39.
    """
    return (_fits(measured),)


def _fits(measured: Measured) -> Claim:
    num, seeds = len(measured.shares), len(measured.fitted)
    errors = measured.train_error
    findings = [
        held_against("largest training error", exactly(errors.max()), 1e-9, above=False)
    ]
    by_share = measured.fitted[:, :num]
    late = int(np.isinf(by_share).sum())
    if not late:
        ratio = over_draws(measured.slowdown[:, -1])
        shares = np.array(measured.shares)
        rise = [float(kendall(shares, row)) for row in by_share]
        findings += [
            held_against("time, random over true", ratio, 1.0, above=True),
            held_against("τ of share and time", over_draws(rise), 0.0, above=True),
        ]
    claim = Claim(
        "D39",
        "Random labels are fitted too, only later",
        "training error 0 for all labels and images; epochs to fit random labels over "
        "those for true ones above 1, and Kendall's τ of share and epochs above 0, "
        "with all of their intervals over seeds",
        tuple(findings),
        "inconclusive",
        limit="error 0, time ratio above 1",
    )
    doubt = (
        f"{late} {'run' if late == 1 else 'runs'} did not fit in time" if late else ""
    )
    return with_verdict(claim, doubt, few=few_draws(seeds))
