r"""Stochastic gradient descent on a loss of which everything is known.

$F(x) = \sum_i x_i^2 / (1 + x_i^2)$ is smooth with $\beta = 2$, not convex, and 0 at its
minimum; gradients carry Gaussian noise of variance $C$ in all.
"""

import math

import numpy as np
from jaxtyping import Float

from ... import theory

_DIM, _START = 10, 1.5
_SMOOTHNESS = 2.0


def best_gradients(
    step_counts: tuple[int, ...],
    num_runs: int,
    variance: float,
    rng: np.random.Generator,
) -> tuple[Float[np.ndarray, "k r"], Float[np.ndarray, " k"]]:
    r"""The smallest squared gradient met on the way, and the theorem's bound.

    The rate is the best for the bound, $\min(1 / \beta, \sqrt{2 \Delta / (\beta C
    K)})$ for $K$ steps.

    Args:
        step_counts: Numbers of steps $K$.
        num_runs: Independent runs for each.
        variance: $C$.
        rng: Draws the noise.

    Returns:
        For each $K$ the squared gradient norms of all runs at the step where their mean
        is smallest, and the bound on that mean.
    """
    gap = _DIM * _START**2 / (1 + _START**2)
    measured, bounds = [], []
    for num in step_counts:
        rate = min(1 / _SMOOTHNESS, math.sqrt(2 * gap / (_SMOOTHNESS * variance * num)))
        measured.append(_descend(num, rate, num_runs, variance, rng))
        options = {"smoothness": _SMOOTHNESS, "gap": gap, "C": variance}
        bounds.append(theory.sgd_gradient_bound(num, rate, **options))
    return np.stack(measured), np.array(bounds)


def _descend(
    num: int, rate: float, num_runs: int, variance: float, rng: np.random.Generator
) -> Float[np.ndarray, " r"]:
    x = np.full((num_runs, _DIM), _START)
    best = np.full(num_runs, np.inf)
    scale = math.sqrt(variance / _DIM)
    for _ in range(num):
        gradient = 2 * x / (1 + x**2) ** 2
        squares = (gradient**2).sum(axis=1)
        if squares.mean() < best.mean():
            best = squares
        x = x - rate * (gradient + scale * rng.normal(size=x.shape))
    return best
