"""Verdicts on the paper's exact statements.

Errors are shown by their decimal logarithm: -10 is the threshold, and rounding of
float64 is about -15.7. There is no chance in them but for Theorem 1.
"""

import numpy as np
from numpy.typing import ArrayLike

from ...analysis import Claim, Estimate, Finding, Threshold, exactly
from ..stages.judging import with_verdict
from .activity import PUBLISHED
from .results import Active, Frozen, Lemma, Results, Theorem
from .theorem import DIRECTIONS

EXACT = 1e-10
"""The largest relative error of an identity in float64."""
_EXACT = Threshold(float(np.log10(EXACT)), above=False)
_HIDDEN = 1e-10  # share of a target's energy that eigenpairs may miss
_STANDARD_ERRORS, _LARGEST_ERROR = 3.0, 0.02
_LEAST_IMAGES = 64


def claims(results: Results) -> tuple[Claim, ...]:
    """Judge D15, D16, D17, D22 and D23.

    Args:
        results: Of a run.

    Returns:
        The claims with their verdicts.
    """
    return (
        _inequality(results.lemma),
        _alignment(results.lemma),
        _theorem(results.theorem),
        _frozen(results.frozen),
        _active(results.active, results.num_images),
    )


def in_standard_errors(theorem: Theorem) -> np.ndarray:
    """Difference of both sides of Theorem 1 over its standard error.

    Args:
        theorem: What was measured.

    Returns:
        One number a direction, for all seeds together: each counts relative to the
        value it has.
    """
    size = theorem.derivative
    shift = (theorem.difference / size).sum(axis=0)
    error = np.sqrt(((theorem.difference_error / size) ** 2).sum(axis=0))
    return np.abs(shift) / error


def _inequality(lemma: Lemma) -> Claim:
    equal = lemma.on_eigenvectors
    hidden = lemma.outside.max()
    doubt = ""
    if hidden > _HIDDEN:
        doubt = (
            f"up to {hidden:.1g} of a target's energy lies in modes that rounding hides"
        )
    slack = Finding(
        "smallest norm / bound − 1, other targets",
        exactly(float(lemma.slack[:, ~equal].min())),
        threshold=Threshold(-EXACT, above=True),
    )
    return with_verdict(
        Claim(
            "D15",
            "Lemma 1: the squared kernel norm is at least ‖f‖⁴ / α(f)",
            "never violated by more than 1e-10, and equal on eigenvectors to 1e-10, in "
            "float64",
            (_error("eigenvectors", lemma.slack[:, equal]), slack),
            "inconclusive",
            "",
            "log₁₀ of the error below −10",
        ),
        doubt,
    )


def _alignment(lemma: Lemma) -> Claim:
    return with_verdict(
        Claim(
            "D16",
            "Alignment is the squared norm of the averaged gradient",
            "averaged gradient and Gram matrix agree to 1e-10 in float64",
            (_error("both routes", lemma.disagreement),),
            "inconclusive",
            "",
            "log₁₀ of the error below −10",
        )
    )


def _theorem(theorem: Theorem) -> Claim:
    largest = theorem.relative_errors.max()
    doubt = ""
    if largest > _LARGEST_ERROR:
        doubt = (
            f"a standard error is {100 * largest:.1f} % of the value, at most "
            f"{100 * _LARGEST_ERROR:.0f} % may be: take more draws"
        )
    limit = Threshold(_STANDARD_ERRORS, above=False)
    distances = in_standard_errors(theorem)
    return with_verdict(
        Claim(
            "D17",
            "Theorem 1: alignment with a direction is a squared norm of a mean "
            "derivative",
            "both sides by Monte Carlo, without the bias of a squared mean, within 3 "
            "standard errors of each other, which are at most 2 % of the value",
            tuple(
                Finding(
                    f"{name}, standard errors", exactly(float(value)), threshold=limit
                )
                for name, value in zip(DIRECTIONS, distances, strict=True)
            ),
            "inconclusive",
            f"standard errors are at most {100 * largest:.1f} % of the values",
            "at most 3 standard errors",
        ),
        doubt,
    )


def _frozen(frozen: Frozen) -> Claim:
    return with_verdict(
        Claim(
            "D22",
            "Batch statistics are frozen in the linearization",
            "second difference of the linear model in its parameters, and effect of "
            "the images beside one, zero to 1e-10 in float64",
            (
                _error("second difference", frozen.linearized),
                _error("other images", frozen.linearized_beside),
            ),
            "inconclusive",
            f"of the network itself {frozen.network.min():.2g} and, in training, "
            f"{frozen.network_beside.min():.2g}",
            "log₁₀ of the error below −10",
        )
    )


def _active(active: Active, num_images: int) -> Claim:
    counts = active.gelu.sum(axis=1)
    worst = counts[np.abs(counts - PUBLISHED).argmax()]
    with_relu = active.relu.sum(axis=1).min()
    doubt = ""
    if num_images < _LEAST_IMAGES:
        doubt = f"{num_images} inputs, at least {_LEAST_IMAGES} are needed"
    return with_verdict(
        Claim(
            "D23",
            f"Only {PUBLISHED:,} parameters of ResNet18 are active at initialization",
            "number of parameters with a non-zero gradient on at least one of 64 or "
            f"more inputs is {PUBLISHED:,}, with a smooth activation",
            (
                Finding(
                    f"difference from {PUBLISHED:,}",
                    exactly(abs(int(worst) - PUBLISHED)),
                    threshold=Threshold(0.5, above=False),
                ),
            ),
            "inconclusive",
            f"{worst:,} of {active.total.sum():,} parameters with GELU; with ReLU "
            f"{with_relu:,}, since some channels are off on all {num_images} inputs",
            "difference 0",
        ),
        doubt,
    )


def _error(name: str, errors: ArrayLike) -> Finding:
    return Finding(name, _logarithm(errors), threshold=_EXACT)


def _logarithm(errors: ArrayLike) -> Estimate:
    """Of the largest error; no error is as small as rounding can tell."""
    largest = np.abs(np.asarray(errors, float)).max()
    return exactly(float(np.log10(max(largest, np.finfo(float).eps))))
