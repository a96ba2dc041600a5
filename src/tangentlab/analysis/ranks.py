r"""Rank correlations, of one series or of many at once.

Each takes arrays `(..., t)`, one value per task along the last axis, and reduces that
axis, so that thousands of resampled series cost one call. Ties share their mean rank.
Fewer than 3 tasks, or a side that is constant, give NaN.

>>> float(spearman([1, 2, 3], [10.0, 40.0, 90.0]))
1.0
>>> round(float(kendall([1, 2, 3, 4], [1.0, 3.0, 2.0, 4.0])), 3)
0.667
"""

import numpy as np
import scipy
from jaxtyping import Float
from numpy.typing import ArrayLike

from .._linalg import blocks

_LEAST = 3  # tasks
_AT_ONCE = 2**22  # pairs of tasks that are looked at at once


def spearman(a: ArrayLike, b: ArrayLike) -> Float[np.ndarray, "*s"]:
    """Spearman's correlation: Pearson's of the ranks.

    Args:
        a: Values per task, `(..., t)`.
        b: Likewise.

    Returns:
        Numbers in [-1, 1].
    """
    return _correlation(*_ranks(a, b))


def partial_spearman(
    a: ArrayLike, b: ArrayLike, given: ArrayLike
) -> Float[np.ndarray, "*s"]:
    r"""Spearman's correlation of what a third quantity does not explain.

    $$\rho_{ab \cdot c} = \frac{\rho_{ab} - \rho_{ac}\,\rho_{bc}}
      {\sqrt{(1 - \rho_{ac}^2)(1 - \rho_{bc}^2)}}$$

    Two quantities that both follow a third one are correlated by that alone; here that
    share is taken out. Ranks know no scale: given an index or its logarithm is the
    same.

    Args:
        a: Values per task, `(..., t)`.
        b: Likewise.
        given: The third quantity, likewise.

    Returns:
        Numbers in [-1, 1]; NaN also where the third quantity fixes the ranks of one.
    """
    a, b, given = _ranks(a, b, given)
    ab, ac, bc = _correlation(a, b), _correlation(a, given), _correlation(b, given)
    left = (1 - ac**2) * (1 - bc**2)
    known = left > 8 * np.finfo(float).eps  # else all that is left is rounding
    return np.where(
        known,
        np.clip((ab - ac * bc) / np.sqrt(np.where(known, left, 1)), -1, 1),
        np.nan,
    )


def kendall(a: ArrayLike, b: ArrayLike) -> Float[np.ndarray, "*s"]:
    r"""Kendall's $\tau_b$: pairs of tasks in the same order less those in the opposite.

    Pairs that are tied on one side count for neither, and the normalization allows for
    them. Infinite values tie with each other. Cost `O(t^2)`.

    Args:
        a: Values per task, `(..., t)`.
        b: Likewise.

    Returns:
        Numbers in [-1, 1].
    """
    a, b = _ranks(a, b)
    t, series = a.shape[-1], a.shape[:-1]
    a, b = a.reshape(-1, t), b.reshape(-1, t)
    size = max(1, _AT_ONCE // max(1, t * t))
    parts = [_tau(a[some], b[some]) for some in blocks(len(a), size)]
    return np.concatenate(parts).reshape(series)


def largest_kendall(a: ArrayLike, b: ArrayLike) -> Float[np.ndarray, "*s"]:
    r"""The largest $\tau_b$ that the ties of two series allow, in whatever order.

    A series half of whose values are tied cannot follow one without ties as closely as
    $\tau_b = 1$ says.

    Args:
        a: Values per task, `(..., t)`.
        b: Likewise.

    Returns:
        Numbers in [0, 1]; reached where one of both has no ties.
    """
    untied = [_untied(ranks) for ranks in _ranks(a, b)]
    least, most = np.minimum(*untied), np.maximum(*untied)
    known = (least > 0) & (np.shape(a)[-1] >= _LEAST)
    return np.where(known, np.sqrt(least / np.where(known, most, 1)), np.nan)


def _untied(ranks: np.ndarray) -> np.ndarray:
    """Pairs of tasks that are not tied, each counted twice."""
    return np.asarray((ranks[..., :, None] != ranks[..., None, :]).sum(axis=(-2, -1)))


def _tau(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    signs = [np.sign(v[:, :, None] - v[:, None, :]) for v in (a, b)]
    agreed, untied_a, untied_b = (
        np.einsum("sij,sij->s", u, v)
        for u, v in (signs, (signs[0], signs[0]), (signs[1], signs[1]))
    )
    size = np.sqrt(untied_a * untied_b)
    known = (size > 0) & (a.shape[-1] >= _LEAST)
    return np.where(known, agreed / np.where(size > 0, size, 1), np.nan)


def _correlation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Pearson's correlation along the last axis."""
    a, b = (v - v.mean(axis=-1, keepdims=True) for v in (a, b))
    size = np.sqrt((a * a).sum(-1) * (b * b).sum(-1))
    known = (size > 0) & (a.shape[-1] >= _LEAST)
    ratio = (a * b).sum(-1) / np.where(size > 0, size, 1)
    return np.where(known, np.clip(ratio, -1, 1), np.nan)


def _ranks(*given: ArrayLike) -> list[np.ndarray]:
    values = [np.asarray(each, float) for each in given]
    shapes = [each.shape for each in values]
    if len(set(shapes)) > 1 or not shapes[0]:
        raise ValueError(
            "Need one value per task on each side, got shapes "
            f"{', '.join(map(str, shapes))}."
        )
    if values[0].size == 0:
        raise ValueError(f"There are no tasks to compare, got shape {shapes[0]}.")
    return [scipy.stats.rankdata(each, axis=-1) for each in values]
