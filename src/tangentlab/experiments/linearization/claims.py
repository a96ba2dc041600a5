"""What linearizations say about D24, D25 and D26."""

from dataclasses import dataclass

import numpy as np
import scipy.stats
from jaxtyping import Float

from ... import theory
from ...analysis import Claim, Estimate, Finding, Threshold, Verdict, exactly
from ...analysis.resampling import NUM
from ...store import Run
from ..stages.judging import with_verdict
from ..stages.scaling import digits, slope
from .adversaries import SMOOTH
from .identities import DEPTHS

_EXACT = Threshold(-6.0, above=False)
_SLOPE, _CORRECTION, _NARROW = -1 / 6, 1 / 3, 0.1
_LEAST_SEEDS, _LEAST_WIDTHS = 5, 4
_LEVEL = 0.975


@dataclass(frozen=True)
class Results:
    """What was measured.

    Attributes:
        first: Relative error of the identity, first layer trained.
        whole: Likewise with all layers trained, for each depth.
        without: What that is without Euler's term.
        smooth: Error over bound, (seeds, widths, radii) for each activation.
        relu_widths: Widths of the ReLU bound.
        relu_gaps: Largest errors, a row per draw and a column per width.
        relu_bounds: The bound for each width.
        failure: Probability with which it may fail.
    """

    first: float
    whole: Float[np.ndarray, " l"]
    without: Float[np.ndarray, " l"]
    smooth: dict[str, Float[np.ndarray, "s v r"]]
    relu_widths: Float[np.ndarray, " w"]
    relu_gaps: Float[np.ndarray, "d w"]
    relu_bounds: Float[np.ndarray, " w"]
    failure: float


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the experiment.

    Returns:
        What was measured.
    """
    config = run.config
    identities = run.arrays("identities")
    widths = config.relu_widths
    gaps = [run.arrays(f"relu-{width}")["gaps"] for width in widths]
    bound = theory.relu_linearization_bound
    bounds = [bound(config.radius, width, config.failure) for width in widths]
    return Results(
        first=float(identities["first"]),
        whole=identities["all"],
        without=identities["without"],
        smooth={name: _ratios(run, name) for name in config.smooth},
        relu_widths=np.array(widths, float),
        relu_gaps=np.stack(gaps, axis=1),
        relu_bounds=np.array(bounds),
        failure=config.failure,
    )


def claims(results: Results) -> tuple[Claim, ...]:
    """Judge D24, D25 and D26.

    Args:
        results: Of a run.

    Returns:
        The claims with their verdicts.
    """
    return (_identity(results), _smooth(results), _relu(results))


def relu_slope(results: Results) -> Estimate:
    """Exponent of the width in the worst error of a ReLU network.

    Args:
        results: Of a run.

    Returns:
        The exponent, fitted together with the first correction: the number of units
        that the worst weights move grows as the power 2/3 of the width, and its
        fluctuation, of relative order one over its root, favors the better sign.
    """
    return slope(results.relu_widths, results.relu_gaps, correction=_CORRECTION)


def violation_rate(violations: int, draws: int) -> Estimate:
    """A rate with its 95 % interval, by Clopper and Pearson.

    Args:
        violations: How many there were.
        draws: Of how many.

    Returns:
        The rate; replicates follow the distribution that gives the upper limit.
    """
    rest = draws - violations
    beta = scipy.stats.beta
    low = beta.ppf(1 - _LEVEL, violations, rest + 1) if violations else 0.0
    high = beta.ppf(_LEVEL, violations + 1, rest) if rest else 1.0
    middles = (np.arange(NUM) + 0.5) / NUM
    replicates = beta.ppf(middles, violations + 1, rest) if rest else np.ones(NUM)
    return Estimate(violations / draws, float(low), float(high), replicates)


def _identity(results: Results) -> Claim:
    names = ["first layer", *(f"{depth + 1} layers" for depth in DEPTHS)]
    errors = [results.first, *results.whole]
    findings = tuple(
        Finding(f"{name}, log₁₀ of the error", exactly(digits(error)), threshold=_EXACT)
        for name, error in zip(names, errors, strict=True)
    )
    claim = Claim(
        "D24",
        "A ReLU network linearized in its first layer is ⟨∇f(W₀), W⟩",
        "equal to 1e-6; with all L layers trained, ⟨∇f, θ⟩ − (L − 1) f₀ (Euler): "
        "decimal logarithm of the relative error below −6",
        findings,
        "inconclusive",
        "without Euler's term the error of whole networks is at least "
        f"{100 * results.without.min():.0f} %",
        "log₁₀ error below −6",
    )
    return with_verdict(claim)


def _smooth(results: Results) -> Claim:
    limit = Threshold(1.0, above=False)
    findings = tuple(
        Finding(f"{name}, largest error over bound", exactly(r.max()), threshold=limit)
        for name, r in results.smooth.items()
    )
    claim = Claim(
        "D25",
        "Linearization error of a smooth network is at most β‖W − W₀‖² / (2√m)",
        "the largest error that an adversary finds is below the bound",
        findings,
        "inconclusive",
        f"the largest ratio is {_largest(results):.5f}; near 1 it says that the bound "
        "cannot be improved",
        "error over bound below 1",
    )
    seeds = min((len(ratios) for ratios in results.smooth.values()), default=0)
    return with_verdict(claim, _too_few("seeds", seeds, _LEAST_SEEDS))


def _relu(results: Results) -> Claim:
    draws = len(results.relu_gaps)
    violations = (results.relu_gaps > results.relu_bounds[None]).sum(axis=0).max()
    rate = violation_rate(int(violations), draws)
    found = relu_slope(results)
    limit = Threshold(results.failure, above=False)
    claim = Claim(
        "D26",
        "Linearization error of a ReLU network falls like m^(−1/6) at worst",
        "violation rate below δ, with all of its interval, at the width that has most; "
        "the interval of the slope of the worst error in m, fitted with its first "
        f"correction, contains −1/6 and is shorter than {2 * _NARROW:g}",
        (
            Finding("violation rate", rate, threshold=limit),
            Finding("slope", found, _contains(found, _SLOPE)),
            Finding(
                "plain slope, uncorrected",
                slope(results.relu_widths, results.relu_gaps),
            ),
        ),
        "inconclusive",
        f"the worst error is {_share(results):.0f} % of the bound",
        "rate below δ, slope −1/6",
    )
    return with_verdict(
        claim, _too_few("widths", len(results.relu_widths), _LEAST_WIDTHS)
    )


def _contains(estimate: Estimate, value: float) -> Verdict:
    if np.isnan(estimate.value):
        return "inconclusive"
    if not estimate.low <= value <= estimate.high:
        return "refuted"
    short = estimate.high - estimate.low < 2 * _NARROW
    return "confirmed" if short else "inconclusive"


def _share(results: Results) -> float:
    return 100 * float((results.relu_gaps / results.relu_bounds[None]).max())


def _largest(results: Results) -> float:
    return max((float(r.max()) for r in results.smooth.values()), default=np.nan)


def _too_few(what: str, number: int, least: int) -> str:
    return "" if number >= least else f"{number} {what}, at least {least} are needed"


def _ratios(run: Run, name: str) -> np.ndarray:
    config = run.config
    made = []
    for width in config.smooth_widths:
        gaps = run.arrays(f"{name}-{width}")["gaps"]
        bounds = [
            theory.smooth_linearization_bound(radius, width, SMOOTH[name].curvature)
            for radius in config.smooth_radii
        ]
        made.append(gaps / np.array(bounds)[None])
    return np.stack(made, axis=1)
