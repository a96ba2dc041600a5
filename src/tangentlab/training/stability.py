r"""How large the learning rate of a linear model may be.

On a quadratic of curvature $\lambda$ the heavy ball is stable if and only if
$\eta \lambda < 2 (1 + \mu)$, and Nesterov's momentum if $\eta \lambda < 2 (1 + \mu) /
(1 + 2 \mu)$. The largest curvature of the mean training loss is $h \mu_1 / n$ with the
largest eigenvalue $\mu_1$ of the Gram matrix of the $n$ training samples, and $h$ that
of the loss: 1 for the square loss, at most 1/4 for cross-entropy. Decay adds to it.

Mini-batches of $B$ samples add noise. A rule of thumb, exact for samples that do not
see each other: a sample's own output must not overshoot, $\eta h \operatorname{tr}(K) /
((1 - \mu)\, n B) < 2$. In simulations the smaller of both limits is right within a
factor of two where all $K_{ii}$ are about equal; a sample whose $K_{ii}$ is far above
their mean overshoots before.
"""

import warnings
from typing import NamedTuple

from .losses import LOSSES
from .recipe import Recipe


class RateLimits(NamedTuple):
    """Learning rates from which on a linear model diverges.

    Attributes:
        full_batch: By the largest eigenvalue.
        mini_batch: By the trace, a rule of thumb.
    """

    full_batch: float
    mini_batch: float


def rate_limits(
    largest: float, trace: float, num_train: int, recipe: Recipe
) -> RateLimits:
    """The largest learning rates for a Gram matrix.

    Args:
        largest: Its largest eigenvalue, on the training samples.
        trace: Its trace, on the training samples.
        num_train: Number of training samples.
        recipe: Loss, momentum, decays and batch size.

    Returns:
        Both limits.
    """
    h, mu = LOSSES[recipe.loss].curvature, recipe.momentum
    curvature = h * largest / num_train + recipe.weight_decay + recipe.start_decay
    ahead = 1 + 2 * mu if recipe.nesterov else 1
    noise = h * trace / (num_train * recipe.batch_size)
    if recipe.batch_size == num_train:
        noise = 0.0  # one batch: every step sees the mean
    return RateLimits(
        2 * (1 + mu) / (ahead * curvature) if curvature else float("inf"),
        2 * (1 - mu) / noise if noise else float("inf"),
    )


def warn_if_unstable(limits: RateLimits, rate: float, batch_size: int) -> None:
    """Warn if the learning rate is beyond a limit.

    Args:
        limits: The limits.
        rate: The largest learning rate.
        batch_size: Samples in a step.
    """
    if rate < min(limits):
        return
    warnings.warn(
        f"A learning rate of {rate:g} is likely to diverge on the "
        f"linearized model: it is stable below {limits.full_batch:.3g} in full "
        f"batches, and by rule of thumb below {limits.mini_batch:.3g} in batches of "
        f"{batch_size}. Lower the rate or the momentum.",
        stacklevel=3,
    )
