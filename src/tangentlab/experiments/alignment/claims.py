"""What the alignment experiment says about the paper's claims.

Table 1 of the supplement leaves two things open: whether the energy concentration is a
ratio of norms or its square, and on how many samples the networks were trained. The
former is read off the row at initialization, which no training has touched, the latter
off the accuracies; the row at the end of training is then a test of both. A run looks
at one network; that all networks are read alike is asked for where runs are joined.
"""

from typing import NamedTuple

import numpy as np
import scipy.stats
from jaxtyping import Float

from ...analysis import Claim, Estimate, Finding, Threshold, distance, over_draws
from ...data.catalog import EMBEDDED
from ..stages.judging import too_few_seeds, with_verdict
from .computing import Reading
from .results import Measured, Published, Results

_CONCENTRATION = 0.05
_ACCURACY = 0.03
_ABOVE = Threshold(0.0, above=True)


class Choice(NamedTuple):
    """How Table 1 is read.

    Attributes:
        squared: The energy concentration is a share of energy, not of the norm.
        trained_on: What the networks were trained on.
    """

    squared: bool
    trained_on: Reading


def claims(results: Results) -> tuple[Claim, ...]:
    """Measure D11, and D7 and D8 where the measurement is that of the paper.

    Args:
        results: Of a run.

    Returns:
        The claims with their verdicts.
    """
    made = [_rises(results)]
    published = results.published
    if published is not None:
        choice = choose_reading(results, published)
        made.insert(0, _concentrates(results, published, choice))
        made.insert(1, _answers(results, published, choice))
    small = results.data == EMBEDDED
    few = too_few_seeds(results.model, len(results.seeds), small=small)
    return tuple(with_verdict(claim, few=few) for claim in made)


def choose_reading(results: Results, published: Published) -> Choice:
    """The reading of Table 1 that is closest where nothing is tested.

    Args:
        results: Of a run.
        published: The numbers of the paper.

    Returns:
        The choice, from the row at initialization and from the accuracies.
    """
    begin = next(iter(results.measured.values())).concentration[:, 0]
    plain, squared = (
        abs(float(np.mean(begin**power)) - published.begin) for power in (1, 2)
    )

    def off(reading: Reading) -> float:
        end = results.measured[reading].accuracy[:, -1]
        return abs(float(end.mean()) - published.accuracy)

    return Choice(squared < plain, min(results.measured, key=off))


def _concentrates(results: Results, published: Published, choice: Choice) -> Claim:
    power = 2 if choice.squared else 1
    chosen = results.measured[choice.trained_on].concentration ** power
    findings = [
        _deviation(
            "end, off the published", chosen[:, -1], published.end, _CONCENTRATION
        ),
        Finding("initialization", over_draws(chosen[:, 0]), percent="share"),
    ]
    for reading, found in results.measured.items():
        for name, exponent in (("norm", 1), ("energy", 2)):
            values = found.concentration[:, -1] ** exponent
            title = f"end, {_trained(found)}, share of {name}"
            number = Finding(title, over_draws(values), percent="share")
            chosen_one = (exponent == 2, reading) == choice
            findings.append(number._replace(kind="reading") if chosen_one else number)
    return Claim(
        "D7",
        f"Labels concentrate in {results.num_modes} eigenvectors: "
        f"{100 * published.begin:.1f} % at first, {100 * published.end:.1f} % at last",
        "the reading chosen by the row at initialization and by the accuracies is "
        "within 5 points of the published end, or half the prediction interval over "
        "seeds where that is more, with all of its interval; all networks read alike",
        tuple(findings),
        "inconclusive",
        _reading(results, choice),
        "within 5 points",
    )


def _answers(results: Results, published: Published, choice: Choice) -> Claim:
    chosen = results.measured[choice.trained_on].accuracy[:, -1]
    findings = [_deviation("off the published", chosen, published.accuracy, _ACCURACY)]
    for reading, found in results.measured.items():
        values = found.accuracy[:, -1]
        number = Finding(_trained(found), over_draws(values), percent="share")
        chosen_one = reading == choice.trained_on
        findings.append(number._replace(kind="reading") if chosen_one else number)
    return Claim(
        "D8",
        f"It answers {100 * published.accuracy:.1f} % of CIFAR2's test samples right",
        "the accuracy of the closer reading, of 12,000 and of 50,000 training samples, "
        "is within 3 points of the published one, or half the prediction interval "
        "over seeds where that is more, with all of its interval; all networks read "
        "alike",
        tuple(findings),
        "inconclusive",
        _reading(results, choice),
        "within 3 points",
    )


def _rises(results: Results) -> Claim:
    findings: list[Finding] = []
    for found in results.measured.values():
        findings.append(
            Finding(
                f"{_trained(found)}, log rise beyond that of permuted labels",
                _beyond(found),
                threshold=_ABOVE,
            )
        )
        for name, values in {
            "rise": found.centered,
            "raw": found.alignment,
            "over the trace": found.normalized,
        }.items():
            ratio = over_draws(values[:, -1] / values[:, 0])
            findings.append(Finding(f"{_trained(found)}, {name}", ratio))
    num = next(iter(results.measured.values())).permuted.shape[-1]
    return Claim(
        "D11",
        "The kernel aligns with the labels in training",
        "the centered, Frobenius-normalized alignment rises more than that of "
        f"{num} permuted label vectors: than the largest of these in the mean over "
        "seeds, with all of its interval; for one seed by a permutation test",
        tuple(findings),
        "inconclusive",
        "",
        "log rise beyond the permuted above 0",
    )


def _beyond(found: Measured) -> Estimate:
    """How far the rise exceeds that of permuted labels, on a log scale."""
    rise, permuted = found.log_rise, found.permuted_log_rises
    if len(rise) > 1:
        return over_draws(rise - permuted.max(axis=1))
    gaps = rise[0] - permuted[0]
    low, high = np.quantile(gaps, [0.025, 0.975])
    return Estimate(float(np.median(gaps)), float(low), float(high), gaps)


def _deviation(
    name: str, values: Float[np.ndarray, " s"], published: float, points: float
) -> Finding:
    """Distance from a published number, which may lie in a prediction interval."""
    s, half = len(values), 0.0
    if s > 1:
        spread = values.std(ddof=1) * np.sqrt(1 + 1 / s)
        half = float(scipy.stats.t.ppf(0.975, s - 1) * spread)
    limit = Threshold(max(points, half), above=False)
    return Finding(name, distance(over_draws(values), published), None, True, limit)


def _trained(found: Measured) -> str:
    return f"trained on {found.num_train:,}"


def _reading(results: Results, choice: Choice) -> str:
    kind = "its square, the share of energy" if choice.squared else "a ratio of norms"
    size = results.measured[choice.trained_on].num_train
    chosen = "closest" if len(results.measured) > 1 else "the only one looked at"
    return (
        f"read as {kind}, by the row at initialization, and as trained on {size:,} "
        f"samples, by the accuracies ({chosen})"
    )
