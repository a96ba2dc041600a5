"""What anisotropy directions say about the paper's claims."""

import numpy as np

from ...analysis import (
    Claim,
    Finding,
    Threshold,
    kendall,
    over_draws,
)
from ...data.catalog import EMBEDDED
from ..stages.judging import (
    estimate,
    largest_tau,
    telling_diverged,
    too_few_seeds,
    too_few_tasks,
    with_verdict,
)
from .computing import GAUSSIAN
from .finding import LEADING
from .results import Learned, Results

_OVERLAP = Threshold(0.5, above=True)
_FALL = Threshold(-0.8, above=False)
_LEAST_INDICES = 16
_PAPER_PIXELS = 32 * 32
_MODELS = ("network", "linearization")


def claims(results: Results) -> tuple[Claim, ...]:
    """Measure D18, and D19 where directions were learned.

    Args:
        results: Of a run.

    Returns:
        The claims with their verdicts.
    """
    made = [_similar(results)]
    if results.learned is not None:
        falls = _falls(results, results.learned)
        made += telling_diverged((falls,), results.learned.diverged)
    return tuple(made)


def rank_of(results: Results, learned: Learned) -> np.ndarray:
    """The rank of each direction that was learned; the last of a seed share theirs.

    Directions whose energy is below rounding are an arbitrary basis of what the network
    does not see: none of them is before another.

    Args:
        results: Of a run.
        learned: Its part about learning.

    Returns:
        A row per seed.
    """
    return np.minimum(learned.index[None], results.found.num_resolved[:, None]) * 1.0


def _similar(results: Results) -> Claim:
    overlap, d = results.found.overlap, results.found.energies.shape[1]
    doubt = too_few_tasks(d, LEADING + 1)
    if len(overlap) == 1:
        doubt = doubt or "one seed gives no interval over initializations"
    num = results.found.squared_cosines.shape[1]
    return with_verdict(
        Claim(
            "D18",
            "NADs at the origin and averaged over data are similar",
            f"mean squared cosine of the principal angles between the {num} leading "
            "directions at the origin and on average above 0.5, with all of its "
            "interval over seeds",
            (Finding("overlap", over_draws(overlap), threshold=_OVERLAP),),
            "inconclusive",
            f"random subspaces have {num / d:.2g}",
            "overlap above 0.5",
        ),
        doubt,
        few=_few_seeds(results),
    )


def _falls(results: Results, learned: Learned) -> Claim:
    use, rank = ~learned.diverged, rank_of(results, learned)
    pair = (learned.network, learned.linearized)
    findings = tuple(
        Finding(model, estimate(kendall, use, rank, accuracy), threshold=_FALL)
        for model, accuracy in zip(_MODELS, pair, strict=True)
    )
    doubt = too_few_tasks(int(use.sum(axis=1).min()), _LEAST_INDICES)
    unseen = int((~learned.resolved).sum())
    most = [-largest_tau(use, rank, accuracy) for accuracy in pair]
    told = [
        f"{tau:.2f} for the {name}" for tau, name in zip(most, _MODELS, strict=True)
    ]
    remark = f"ties leave τ_b at least {' and '.join(told)}".replace("-", "−")
    if unseen:
        remark += (
            f"; {unseen} of {learned.resolved.size} directions have an energy below "
            "rounding and share the last rank"
        )
    return with_verdict(
        Claim(
            "D19",
            "Accuracy along a NAD falls with its index, for both models",
            "Kendall's τ_b of index and test accuracy below −0.8, with all of its "
            f"interval; at least {_LEAST_INDICES} directions",
            findings,
            "inconclusive",
            remark,
            "τ_b below −0.8",
        ),
        doubt,
        few=_few_seeds(results),
    )


def _few_seeds(results: Results) -> str:
    made_up = results.data == GAUSSIAN
    smaller = results.found.energies.shape[1] < _PAPER_PIXELS
    small = results.data == EMBEDDED or (made_up and smaller)
    return too_few_seeds(results.model, len(results.seeds), small=small)
