"""What flows and their closed forms say about D30, D31, D32 and D45."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...analysis import Claim, Estimate, Finding, Threshold, exactly, over_draws
from ...store import Run
from ..stages.judging import with_verdict
from ..stages.scaling import digits

_EXACT = Threshold(-10.0, above=False)
_SOLVED = Threshold(-6.0, above=False)
_WRONG = Threshold(0.1, above=True)
_LEAST_SEEDS = 5


@dataclass(frozen=True)
class Results:
    """Relative differences, a number for each seed.

    Attributes:
        interpolation: Of gradient descent's outputs from the targets.
        weights: Of its weights from the interpolant's of least norm.
        prediction: Of its predictions from regression with the kernel.
        norm: Of its squared distance from the start from the closed form.
        bare: Of predictions without the initial outputs, as one slide has them.
        growth: Of the residual at a rate above the largest stable one, over its start.
        flow: Of the flow from the closed form with the mean's exponent, at worst.
        summed: Likewise with the sum's exponent, at worst.
        ridge: Of ridge regression with the smallest ridge from descent's end.
        gaussian: Of a Gaussian process's mean from descent's end.
    """

    interpolation: Float[np.ndarray, " s"]
    weights: Float[np.ndarray, " s"]
    prediction: Float[np.ndarray, " s"]
    norm: Float[np.ndarray, " s"]
    bare: Float[np.ndarray, " s"]
    growth: Float[np.ndarray, " s"]
    flow: Float[np.ndarray, " s"]
    summed: Float[np.ndarray, " s"]
    ridge: Float[np.ndarray, " s"]
    gaussian: Float[np.ndarray, " s"]


_SAVED = {
    "interpolation": "interpolation_error",
    "weights": "weights_error",
    "prediction": "prediction_error",
    "norm": "norm_error",
    "bare": "bare_prediction",
    "growth": "growth",
    "flow": "flow_error",
    "summed": "summed_gap",
    "gaussian": "gaussian_error",
}


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the experiment.

    Returns:
        The differences.
    """
    saved = [run.arrays(f"closed-{number}") for number in range(run.config.seeds)]
    worst = {
        name: np.array([float(np.max(each[key])) for each in saved])
        for name, key in _SAVED.items()
    }
    last = np.array([float(each["ridge_error"][-1]) for each in saved])
    return Results(**worst, ridge=last)


def claims(results: Results) -> tuple[Claim, ...]:
    """Judge D30, D31, D32 and D45.

    Args:
        results: Of a run.

    Returns:
        The claims with their verdicts.
    """
    made = (_limit(results), _flow(results), _ridgeless(results), _exponent(results))
    seeds = len(results.flow)
    doubt = f"{seeds} seeds, at least {_LEAST_SEEDS} are needed"
    return tuple(
        with_verdict(each, "" if seeds >= _LEAST_SEEDS else doubt) for each in made
    )


def _limit(results: Results) -> Claim:
    names = {
        "interpolation": results.interpolation,
        "weights": results.weights,
        "predictions": results.prediction,
        "squared norm": results.norm,
    }
    return Claim(
        "D30",
        "Gradient descent ends at the interpolant of least norm",
        "targets, weights, predictions and squared norm equal to 1e-10: decimal "
        "logarithm of the largest relative difference below −10",
        tuple(
            Finding(f"{name}, log₁₀ of the error", _worst(errors), threshold=_EXACT)
            for name, errors in names.items()
        ),
        "inconclusive",
        "at 5 % above the largest stable rate the residual grows by "
        f"{results.growth.min():.0e} or more; without the initial outputs predictions "
        f"are off by {100 * results.bare.min():.0f} % or more",
        "log₁₀ error below −10",
    )


def _flow(results: Results) -> Claim:
    return Claim(
        "D31",
        "Gradient flow of the mean loss decays with exp(−tK/n)",
        "equal to an ODE solve in weight space to 1e-6 at all times: decimal logarithm "
        "of the largest difference over the initial residual below −6",
        (
            Finding(
                "exp(−tK/n), log₁₀ of the error",
                _worst(results.flow),
                threshold=_SOLVED,
            ),
        ),
        "inconclusive",
        limit="log₁₀ error below −6",
    )


def _ridgeless(results: Results) -> Claim:
    return Claim(
        "D32",
        "The ridgeless limit is the mean of a Gaussian process",
        "where gradient descent ended, ridge regression with the smallest ridge and "
        "the mean of a Gaussian process with prior mean f₀ agree to 1e-6: decimal "
        "logarithms of the largest relative differences below −6",
        (
            Finding(
                "ridge, log₁₀ of the error", _worst(results.ridge), threshold=_SOLVED
            ),
            Finding(
                "process, log₁₀ of the error",
                _worst(results.gaussian),
                threshold=_SOLVED,
            ),
        ),
        "inconclusive",
        limit="log₁₀ error below −6",
    )


def _exponent(results: Results) -> Claim:
    return Claim(
        "D45",
        "Jacot's formula needs K/n under the mean loss",
        "exp(−tK/n) equals an ODE solve to 1e-6 (decimal logarithm of the error below "
        "−6), exp(−tK) is off by more than 0.1 of the initial residual",
        (
            Finding(
                "exp(−tK/n), log₁₀ of the error",
                _worst(results.flow),
                threshold=_SOLVED,
            ),
            Finding("exp(−tK), error", over_draws(results.summed), threshold=_WRONG),
        ),
        "inconclusive",
        limit="log₁₀ error below −6, error above 0.1",
    )


def _worst(errors: np.ndarray) -> Estimate:
    return exactly(digits(float(errors.max())))
