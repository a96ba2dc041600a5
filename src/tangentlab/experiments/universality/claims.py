"""What the kernels say about the lectures' claims: D42, D43 and D44."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...analysis import Claim, over_draws
from ...store import Run
from ...theory import polynomial_complexity_limit
from ..stages.findings import few_draws, held_against
from ..stages.judging import with_verdict

_NOT_LEARNED, _LEARNED = 0.9, 0.1
_RANK = 1e-12
_GROWTH = 0.05


@dataclass(frozen=True)
class Measured:
    r"""The numbers of a run, draws first.

    Attributes:
        powers: Of the polynomial targets.
        errors: Relative root mean squared error of the odd cubic: without and with the
            constant coordinate, in training and in the test.
        line: Singular values on the line over the first, without and with the constant.
        costs: $\sqrt{Y^T H^{-1} Y}$ for each size and target, polynomials first.
    """

    powers: tuple[int, ...]
    errors: Float[np.ndarray, "r 2 2"]
    line: Float[np.ndarray, "r 2 n"]
    costs: Float[np.ndarray, "r s t"]


def read_measured(run: Run) -> Measured:
    """Read a run.

    Args:
        run: A finished run of the universality experiment.

    Returns:
        Its numbers.
    """
    draws = [run.arrays(f"draw-{draw}") for draw in range(run.config.draws)]
    stacked = (np.stack([d[name] for d in draws]) for name in _NAMES)
    return Measured(tuple(run.config.powers), *stacked)


_NAMES = ("errors", "line", "costs")


def claims(measured: Measured) -> tuple[Claim, ...]:
    """Judge all claims.

    Args:
        measured: Of a run.

    Returns:
        D42, D43 and D44.
    """
    return _bias(measured), _rank(measured), _polynomials(measured)


def _bias(measured: Measured) -> Claim:
    without, with_it = (measured.errors[:, i, 1] for i in (0, 1))
    findings = (
        held_against("error without", over_draws(without), _NOT_LEARNED, above=True),
        held_against("error with", over_draws(with_it), _LEARNED, above=False),
    )
    claim = Claim(
        "D42",
        "The first-layer ReLU kernel is universal with a constant coordinate, and not "
        "without",
        "an odd cubic on the sphere, interpolated: relative test error above 0.9 "
        "without the constant coordinate, below 0.1 with it, with all of their "
        "intervals over draws",
        findings,
        "inconclusive",
        limit="above 0.9 without, below 0.1 with",
    )
    return with_verdict(claim, few=few_draws(len(without)))


def _rank(measured: Measured) -> Claim:
    second, third = (measured.line[:, 0, i] for i in (1, 2))
    findings = (
        held_against("third singular value", over_draws(third), _RANK, above=False),
        held_against("second", over_draws(second), _RANK, above=True),
    )
    claim = Claim(
        "D43",
        "On the line, without a bias, the kernel of both layers has rank 2",
        "over the first singular value, the third is below 1e-12 and the second is not",
        findings,
        "inconclusive",
        f"the third is {third.max():.0e} of the first at most",
        "third below 1e-12",
    )
    return with_verdict(claim, few=few_draws(len(third)))


def _polynomials(measured: Measured) -> Claim:
    findings = []
    for column, power in enumerate(measured.powers):
        half, whole = (measured.costs[:, row, column] ** 2 for row in (-2, -1))
        growth = over_draws(whole / half - 1)
        cost = over_draws(measured.costs[:, -1, column])
        limit = polynomial_complexity_limit(power)
        name = f"degree {power}, growth"
        findings += [
            held_against(name, growth, _GROWTH, above=False, percent=True),
            held_against(f"degree {power}, root", cost, limit, above=False),
        ]
    claim = Claim(
        "D44",
        "Polynomial targets cost a bounded norm, however many samples there are",
        "Yᵀ H⁻¹ Y grows by less than 5 % from half of the samples to all of them, and "
        "its root stays below 3 p for degree p, with all of their intervals",
        tuple(findings),
        "inconclusive",
        limit="growth below 5 %, root below 3 p",
    )
    return with_verdict(claim, few=few_draws(len(measured.costs)))
