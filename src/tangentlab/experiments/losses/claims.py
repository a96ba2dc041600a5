"""What two losses with one kernel say about D48."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...analysis import Claim, Finding, Threshold, over_draws
from ...store import Run
from ..stages.judging import with_verdict
from ..stages.scaling import digits

_RATE = (0.8, 1.2)
_TURNED = 0.95
_SETTLED = -3.0
_LEAST_SEEDS = 5


@dataclass(frozen=True)
class Results:
    """How both flows went, a row for each seed.

    Attributes:
        times: Their times.
        norms: Of parameters under cross-entropy, from the start.
        margin_norm: Of the hard-margin classifier.
        to_margin: Cosine between cross-entropy's parameters and that classifier's.
        square_distance: Of square loss from its limit, relative.
        ends_cosine: Between the hard margin and the interpolant of least norm.
    """

    times: Float[np.ndarray, "s t"]
    norms: Float[np.ndarray, "s t"]
    margin_norm: Float[np.ndarray, " s"]
    to_margin: Float[np.ndarray, "s t"]
    square_distance: Float[np.ndarray, "s t"]
    ends_cosine: Float[np.ndarray, " s"]


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the experiment.

    Returns:
        How both flows went.
    """
    saved = [run.arrays(f"flows-{number}") for number in range(run.config.seeds)]

    def of(name: str) -> np.ndarray:
        return np.stack([each[name] for each in saved])

    return Results(
        times=of("times"),
        norms=of("entropy_norm"),
        margin_norm=of("margin_norm")[:, 0],
        to_margin=of("entropy_to_margin"),
        square_distance=of("square_distance"),
        ends_cosine=of("ends_cosine")[:, 0],
    )


def growth_rates(results: Results) -> Float[np.ndarray, " s"]:
    r"""How fast the norm grows with $\log t$ at the end, over the predicted rate.

    Args:
        results: Of a run.

    Returns:
        For each seed the slope over the last third of the times, in units of the
        hard-margin classifier's norm.
    """
    last = 2 * results.times.shape[1] // 3
    logs = np.log(results.times[:, last:])
    logs = logs - logs.mean(axis=1, keepdims=True)
    slopes = (logs * results.norms[:, last:]).sum(axis=1) / (logs**2).sum(axis=1)
    return slopes / results.margin_norm


def claims(results: Results) -> tuple[Claim, ...]:
    """Judge D48.

    Args:
        results: Of a run.

    Returns:
        The claim with its verdict.
    """
    rate = over_draws(growth_rates(results))
    turned = over_draws(results.to_margin[:, -1])
    settled = [digits(float(each)) for each in results.square_distance[:, -1]]
    low, high = _RATE
    claim = Claim(
        "D48",
        "The kernel does not depend on the loss; where descent ends does",
        "with one Gram matrix, under cross-entropy the norm grows with log t at the "
        "hard margin's norm, to within 20 %, and the cosine to that classifier exceeds "
        "0.95; square loss is within 1e-3 of its limit (decimal logarithm below −3)",
        (
            Finding("growth rate", rate, threshold=Threshold(low, above=True)),
            Finding("growth, below 1.2", rate, threshold=Threshold(high, above=False)),
            Finding("cosine", turned, threshold=Threshold(_TURNED, above=True)),
            Finding(
                "square loss, log₁₀ of the distance",
                over_draws(settled),
                threshold=Threshold(_SETTLED, above=False),
            ),
        ),
        "inconclusive",
        f"the two ends have a cosine of {results.ends_cosine.mean():.3f}",
        "rate 1 ± 0.2, cosine above 0.95",
    )
    seeds = len(results.times)
    doubt = f"{seeds} seeds, at least {_LEAST_SEEDS} are needed"
    return (with_verdict(claim, "" if seeds >= _LEAST_SEEDS else doubt),)
