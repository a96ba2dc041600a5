"""What the size study says about the paper's claims: D6 and D14.

D14 asks whether the gap is the same at every size. Within one draw the sizes share
initialization and samples, so that under this hypothesis its gaps may be exchanged:
they are permuted within draws, and the variance of their means over sizes compared with
that of the gaps as they are. With all training samples there are, draws differ in the
initialization alone and gaps vary less, so that the p-value is approximate there.
"""

import numpy as np
from jaxtyping import Float

from ...analysis import (
    Claim,
    Estimate,
    Finding,
    Threshold,
    bootstrap,
    exactly,
    over_draws,
)
from ...data.catalog import EMBEDDED
from ..stages.judging import (
    telling_diverged,
    too_few_seeds,
    verdict_of,
    with_verdict,
)
from .results import Results

_AHEAD = Threshold(0.0, above=True)
_LEVEL = -2.0  # log10 of the p-value below which the gap depends on the size
_SAME = 0.01  # a spread below this is no dependence worth the name
_PERMUTATIONS = 10_000
_LEAST_DRAWS = 5


def claims(results: Results) -> tuple[Claim, ...]:
    """Judge a run.

    Args:
        results: Of a run.

    Returns:
        D6 and D14.
    """
    made = _ahead(results), _depends(results)
    return telling_diverged(made, results.diverged)


def _ahead(results: Results) -> Claim:
    network, usable = results.network[:, -1, 0], results.usable[:, -1, 0]
    rivals = {
        "lead": results.linearized[:, -1, 0],
        "over its best epoch": results.best[:, -1, 0],
    }
    if results.long is not None:
        rivals[f"over {results.epochs[1]:,} epochs"] = results.long
    doubt, num_draws = "", int(usable.sum())
    if num_draws < 2:
        doubt = f"{num_draws} draw of use, an interval needs several"
    elif results.long is None:
        doubt = "there is no longer run of the linearization"
    limit = None if doubt else _AHEAD
    findings = tuple(
        Finding(name, _lead((network - rival)[usable]), None, True, limit)
        for name, rival in rivals.items()
    )
    told = f"{results.sizes[-1]:,} training samples, {results.epochs[0]} epochs"
    claim = Claim(
        "D6",
        f"The network is ahead on {results.tasks[0]} at the largest size",
        "mean paired gap in accuracy above 0 with all of its interval, against the "
        "linearization, its best epoch on the test samples, and a longer run of it",
        findings,
        "inconclusive",
        "" if doubt else told,
        "each gap above 0",
    )
    small = results.data == EMBEDDED
    few = too_few_seeds(results.model, num_draws, small=small)
    return with_verdict(claim, doubt, few=few)


def _depends(results: Results) -> Claim:
    doubt = _doubt_of_draws(results)
    findings = []
    for place, task in enumerate(results.tasks):
        usable = results.usable[:, :, place].all(axis=1)
        if usable.sum() > 1 and len(results.sizes) > 1:
            judged = place == 0 and not doubt
            findings += _heterogeneity(
                task, results.gap[usable, :, place], judged=judged
            )
    return Claim(
        "D14",
        "The gap depends on the training-set size",
        f"on {results.tasks[0]}, a permutation test of gaps within draws gives p below "
        "0.01, log₁₀ p below −2, by Holm's procedure where there are several runs; at "
        f"least {_LEAST_DRAWS} draws of samples and initialization. Refuted where p is "
        "larger and all of the interval of the spread of mean gaps over sizes lies "
        "below 1 point",
        tuple(findings),
        verdict_of(findings),
        doubt or _signs(results),
        "p below 0.01",
    )


def _doubt_of_draws(results: Results) -> str:
    usable = int(results.usable[:, :, 0].all(axis=1).sum())
    if len(results.sizes) < 2:
        return f"{len(results.sizes)} size, at least 2 are needed"
    if usable < _LEAST_DRAWS:
        return f"{usable} draws of use, at least {_LEAST_DRAWS} are needed"
    return ""


def _heterogeneity(
    task: str, gap: Float[np.ndarray, "s z"], *, judged: bool
) -> list[Finding]:
    """Whether a gap depends on the size, and by how much."""
    p = np.log10(heterogeneity(gap))
    spread = _spread(gap)
    depends = "confirmed" if p < _LEVEL else "inconclusive"
    same = "refuted" if judged and p >= _LEVEL and spread.high < _SAME else None
    return [
        Finding(
            f"{task}, log₁₀ p",
            exactly(p),
            depends if judged else None,
            threshold=Threshold(_LEVEL, above=False) if judged else None,
            kind="log p",
        ),
        Finding(
            f"{task}, spread over sizes",
            spread,
            same,
            percent=True,
            threshold=Threshold(_SAME, above=True) if same else None,
        ),
    ]


def heterogeneity(gap: Float[np.ndarray, "s z"], seed: int = 0) -> float:
    """p-value of a gap that is the same at every size.

    Args:
        gap: A row for each draw, a column for each size.
        seed: Decides the permutations.

    Returns:
        The share of permutations within draws that vary as much over sizes, never 0.
    """
    rng = np.random.default_rng(seed)
    tiled = np.broadcast_to(gap, (_PERMUTATIONS, *gap.shape))
    drawn = rng.permuted(tiled, axis=-1).mean(axis=1).var(axis=-1)
    seen = gap.mean(axis=0).var()
    # Sums in another order differ by rounding; a tie counts as one.
    return float((1 + (drawn >= seen * (1 - 1e-9)).sum()) / (1 + _PERMUTATIONS))


def _spread(gap: Float[np.ndarray, "s z"]) -> Estimate:
    """Largest less smallest mean gap over sizes."""

    def spread(rows: np.ndarray) -> np.ndarray:
        means = gap[rows.astype(int)].mean(axis=-2)
        return np.asarray(means.max(axis=-1) - means.min(axis=-1))

    return bootstrap(spread, np.arange(len(gap)))


def _signs(results: Results) -> str:
    gap = 100 * results.gap[..., 0].mean(axis=0)
    shown = [
        f"{value:+.1f} points at {size:,}".replace("-", "−")
        for value, size in zip(gap, results.sizes, strict=True)
    ]
    return f"lead of the network on {results.tasks[0]}: {', '.join(shown)}"


def _lead(values: np.ndarray) -> Estimate:
    if not len(values):
        return Estimate(np.nan, np.nan, np.nan, np.empty(0))
    return over_draws(values)
