"""What scaled flows say about D35."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...analysis import Claim, Estimate, Finding, Threshold
from ...store import Run
from ..stages.judging import with_verdict
from ..stages.scaling import slope

MEASURES = ("weight_distance", "weight_gap", "output_gap")
"""What is measured of a flow: names of its arrays."""
LIMITS = {"weight_distance": -1.0, "weight_gap": -2.0, "output_gap": -1.0}
"""Exponents of the theorem."""

_NAMES = {
    "weight_distance": "weights moved",
    "weight_gap": "weights apart",
    "output_gap": "outputs apart",
}
_TOLERANCE = 0.1
_LEAST_SEEDS, _LEAST_SCALES = 5, 3


@dataclass(frozen=True)
class Flows:
    """Distances of flows that start in one way, a row per seed, a column per scale.

    Attributes:
        start: How the output starts at 0.
        scales: Factors of the output.
        weight_distance: How far weights moved.
        weight_gap: How far they are from those of the linearization.
        output_gap: How far outputs are from the linearization's, over the targets.
        kappa: The laziness criterion at initialization, of the first few seeds.
    """

    start: str
    scales: Float[np.ndarray, " k"]
    weight_distance: Float[np.ndarray, "s k"]
    weight_gap: Float[np.ndarray, "s k"]
    output_gap: Float[np.ndarray, "s k"]
    kappa: Float[np.ndarray, "c k"]


def read_results(run: Run) -> tuple[Flows, ...]:
    """Read a run.

    Args:
        run: A finished run of the experiment.

    Returns:
        The flows of each start.
    """
    scales = np.array(run.config.scales, float)
    return tuple(
        Flows(
            start,
            scales,
            **run.arrays(f"flows-{start}"),
            **run.arrays(f"criterion-{start}"),
        )
        for start in run.config.starts
    )


def exponent(flows: Flows, measure: str) -> Estimate:
    """Exponent of the scale in a distance.

    Args:
        flows: Of one start.
        measure: Which distance.

    Returns:
        The exponent with its interval over seeds.
    """
    return slope(flows.scales, getattr(flows, measure))


def claims(results: tuple[Flows, ...]) -> tuple[Claim, ...]:
    """Judge D35.

    Args:
        results: The flows of each start.

    Returns:
        The claim with its verdict.
    """
    findings = []
    for flows in results:
        for measure in MEASURES:
            found = exponent(flows, measure)
            name = f"{flows.start}, {_NAMES[measure]}"
            high = Threshold(LIMITS[measure] + _TOLERANCE, above=False)
            findings.append(Finding(name, found, threshold=high))
        low = Threshold(LIMITS["weight_distance"] - _TOLERANCE, above=True)
        found = exponent(flows, "weight_distance")
        findings.append(Finding(f"{flows.start}, above −1.1", found, threshold=low))
    claim = Claim(
        "D35",
        "Lazy scaling: slopes of at most −1, −2 and −1 in the output scale",
        "slopes in log α of the distance that weights move: −1 to within 0.1; of the "
        "distance to the linearization's weights: below −1.9; of that of outputs: "
        "below −0.9; with all of their intervals",
        tuple(findings),
        "inconclusive",
        limit="slopes −1, below −1.9, below −0.9",
    )
    return (with_verdict(claim, _doubt(results)),)


def _doubt(results: tuple[Flows, ...]) -> str:
    seeds = min((len(flows.weight_gap) for flows in results), default=0)
    scales = min((len(flows.scales) for flows in results), default=0)
    if seeds < _LEAST_SEEDS:
        return f"{seeds} seeds, at least {_LEAST_SEEDS} are needed"
    if scales < _LEAST_SCALES:
        return f"{scales} scales, at least {_LEAST_SCALES} are needed"
    return ""
