"""What kernels at initialization say about D27, D28 and D29."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...analysis import Claim, Finding, Threshold, exactly
from ...store import Run
from ..stages.judging import with_verdict
from ..stages.scaling import digits, slope
from .computing import stem

_EXACT = Threshold(-10.0, above=False)
_BAND = (-0.6, -0.4)
_LEAST_DRAWS, _LEAST_WIDTHS = 20, 5


@dataclass(frozen=True)
class Results:
    """What was measured.

    Attributes:
        formulas: Curves and largest errors of the closed forms.
        widths: The widths.
        errors: Of each network, a row per draw and a column per width.
    """

    formulas: dict[str, np.ndarray]
    widths: Float[np.ndarray, " w"]
    errors: dict[str, Float[np.ndarray, "s w"]]


def read_results(run: Run) -> Results:
    """Read a run.

    Args:
        run: A finished run of the experiment.

    Returns:
        What was measured.
    """
    config = run.config
    errors = {
        name: np.stack(
            [run.arrays(stem(name, width))["errors"] for width in config.widths], axis=1
        )
        for name in config.networks
    }
    return Results(run.arrays("formulas"), np.array(config.widths, float), errors)


def claims(results: Results) -> tuple[Claim, ...]:
    """Judge D27, D28 and D29.

    Args:
        results: Of a run.

    Returns:
        The claims with their verdicts.
    """
    return (_arccosine(results), _converges(results), _twice(results))


def _arccosine(results: Results) -> Claim:
    claim = Claim(
        "D27",
        "The arc-cosine formula of the ReLU kernel",
        "equal to quadrature to 1e-10 at all angles: decimal logarithm of the largest "
        "difference below −10",
        (
            Finding("E[σ′σ′], log₁₀ of the error", _exact(results, "derivative_error")),
            Finding("E[σσ], log₁₀ of the error", _exact(results, "value_error")),
        ),
        "inconclusive",
        limit="log₁₀ error below −10",
    )
    return with_verdict(_limited(claim))


def _twice(results: Results) -> Claim:
    gap = float(results.formulas["lecture_gap"])
    claim = Claim(
        "D29",
        "The lecture's κ is twice the kernel of its own network",
        "half of it, and κ as corrected, equal to quadrature to 1e-10: decimal "
        "logarithm of the largest difference below −10",
        (
            Finding("half of it, log₁₀ of the error", _exact(results, "lecture_error")),
            Finding("corrected, log₁₀ of the error", _exact(results, "kappa_error")),
        ),
        "inconclusive",
        f"as printed it is off by up to {gap:.3f}",
        "log₁₀ error below −10",
    )
    return with_verdict(_limited(claim))


def _converges(results: Results) -> Claim:
    low, high = _BAND
    findings: list[Finding] = []
    for name, errors in results.errors.items():
        found = slope(results.widths, errors)
        findings += [
            Finding(f"{name}, slope", found, threshold=Threshold(high, above=False)),
            Finding(f"{name}, above −0.6", found, threshold=Threshold(low, above=True)),
        ]
    claim = Claim(
        "D28",
        "The kernel of a finite network converges to that of infinite width",
        "slope of log error against log width inside [−0.6, −0.4], with all of its "
        f"interval; at least {_LEAST_DRAWS} draws and {_LEAST_WIDTHS} widths",
        tuple(findings),
        "inconclusive",
        limit="slope in [−0.6, −0.4]",
    )
    return with_verdict(claim, _doubt(results))


def _doubt(results: Results) -> str:
    draws = min((len(errors) for errors in results.errors.values()), default=0)
    if draws < _LEAST_DRAWS:
        return f"{draws} draws, at least {_LEAST_DRAWS} are needed"
    if len(results.widths) < _LEAST_WIDTHS:
        return f"{len(results.widths)} widths, at least {_LEAST_WIDTHS} are needed"
    return ""


def _exact(results: Results, name: str):
    return exactly(digits(float(results.formulas[name])))


def _limited(claim: Claim) -> Claim:
    findings = tuple(each._replace(threshold=_EXACT) for each in claim.findings)
    return claim._replace(findings=findings)
