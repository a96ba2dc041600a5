"""What the bounds say about the lecture's claims: D36, D37 and D38."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ...analysis import Claim, exactly, over_draws
from ...store import Run
from ..stages.findings import few_draws, held_against
from ..stages.judging import with_verdict

_USEFUL = 0.5
_KHINTCHINE = 2**-0.5


@dataclass(frozen=True)
class Measured:
    """The numbers of one case, draws first.

    Attributes:
        name: Of the case.
        bound: For each size, then for each share above 0 of random labels.
        error: Of the same predictors on samples left out.
        true_labels: $y^T H^{-1} y$ at two jitters.
        shuffled_labels: Of shuffled labels, at two jitters.
        rademacher: Monte Carlo complexity over its bound.
    """

    name: str
    bound: Float[np.ndarray, "r k"]
    error: Float[np.ndarray, "r k"]
    true_labels: Float[np.ndarray, "r 2"]
    shuffled_labels: Float[np.ndarray, "r 2 s"]
    rademacher: Float[np.ndarray, " r"]


def read_measured(run: Run) -> tuple[Measured, ...]:
    """Read a run.

    Args:
        run: A finished run of the bounds experiment.

    Returns:
        Its cases.
    """
    made = []
    for number, name in enumerate(run.config.cases):
        saved = run.arrays(f"case-{number}")
        spoiled = np.array(run.config.corruptions) > 0  # true labels are in by_size
        rows = [saved["by_size"], saved["by_share"][:, spoiled]]
        rows = np.concatenate(rows, axis=1)
        ratio = saved["rademacher"][:, 0] / saved["rademacher"][:, 1]
        labels = saved["true_labels"], saved["shuffled_labels"]
        made.append(Measured(name, rows[..., 0], rows[..., 2], *labels, ratio))
    return tuple(made)


def claims(cases: tuple[Measured, ...], failure: float) -> tuple[Claim, ...]:
    """Judge all claims.

    Args:
        cases: Of a run.
        failure: Probability with which the bound may fail.

    Returns:
        D36, D37 and D38.
    """
    return _rademacher(cases), _separates(cases), _holds(cases, failure)


def _rademacher(cases: tuple[Measured, ...]) -> Claim:
    findings, draws = [], min(len(case.rademacher) for case in cases)
    for case in cases:
        ratio = over_draws(case.rademacher)
        findings += [
            held_against(f"{case.name}, ratio up to 1", ratio, 1.0, above=False),
            held_against(f"{case.name}, from 0.71 on", ratio, _KHINTCHINE, above=True),
        ]
    claim = Claim(
        "D36",
        "The Rademacher complexity of the tangent ball is at most W √tr H / n, and "
        "that is sharp up to √2",
        "Monte Carlo mean over bound in [1/√2, 1], with all of its interval over draws",
        tuple(findings),
        "inconclusive",
        limit="ratio in [0.71, 1]",
    )
    return with_verdict(claim, few=few_draws(draws))


def _separates(cases: tuple[Measured, ...]) -> Claim:
    findings, draws = [], min(len(case.true_labels) for case in cases)
    for case in cases:
        least = case.shuffled_labels.min(axis=-1)
        for column, jitter in enumerate(("", ", ten times the jitter")):
            ratio = case.true_labels[:, column] / least[:, column]
            name = f"{case.name}, true over smallest shuffled{jitter}"
            findings.append(held_against(name, over_draws(ratio), 1.0, above=False))
    claim = Claim(
        "D37",
        "Yᵀ H⁻¹ Y tells true labels from random ones",
        "true labels cost less than every one of the shuffled label vectors, also with "
        "ten times the jitter: ratio to the smallest of them below 1, with all of its "
        "interval over draws",
        tuple(findings),
        "inconclusive",
        limit="ratio below 1",
    )
    return with_verdict(claim, few=few_draws(draws))


def _holds(cases: tuple[Measured, ...], failure: float) -> Claim:
    bound = np.concatenate([case.bound for case in cases], axis=1)
    error = np.concatenate([case.error for case in cases], axis=1)
    useful = bound < _USEFUL
    violations = float((error > bound).mean())
    findings = [
        held_against("share of violations", exactly(violations), failure, above=False)
    ]
    if useful.any():
        rows = [(b - e)[use] for b, e, use in zip(bound, error, useful, strict=True)]
        gap = over_draws([float(row.mean()) for row in rows if len(row)])
        name = "bound − error where the bound is below ½"
        findings.append(held_against(name, gap, 0.0, above=True, percent=True))
    remark = (
        f"{useful.sum()} of {useful.size} bounds are below ½, the smallest is "
        f"{bound.min():.2f}"
    )
    claim = Claim(
        "D38",
        "The bound holds against the test error",
        "the error is above the bound in at most a share δ of all draws; where the "
        "bound is below ½ (at least one case, else it is vacuous) the mean of bound − "
        "error is above 0, with all of its interval over draws",
        tuple(findings),
        "inconclusive",
        remark,
        "error below the bound",
    )
    claim = with_verdict(claim, few=few_draws(len(bound)))
    if not useful.any() and claim.verdict == "confirmed":
        return claim._replace(verdict="inconclusive", remark=f"vacuous: {remark}")
    return claim
